"""moshi's streaming convolutions over many rows, as matrix products on sound laid [row, time, channel].

What a convolution keeps between frames is a slice of one flat state per slot: gathered, used and put
back in one piece. Refuses to know what the layers are for; what they cannot do is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from model.compact.layers import refuse_if
from model.compact.products import FEW, Matrix


class StateLayout:
    """Hands out slices of the flat state. size: floats a slot takes in all."""

    def __init__(self) -> None:
        self.size = 0

    def take(self, time: int, channels: int) -> StateSlice:
        first, self.size = self.size, self.size + time * channels
        return StateSlice(first, time, channels)


NARROW = 16
"""So few output channels make a matrix product slow on a CPU; measured."""


@dataclass(frozen=True, slots=True)
class StateSlice:
    """One layer's part of the state."""

    first: int
    time: int
    channels: int


class Flow:
    """What passes through the layers beside the sound, for one number of rows.

    state: [n, size], updated in place. first: which rows are at their first frame, bool [n, 1, 1].
    """

    def __init__(self, state: Tensor) -> None:
        self.state = state
        self.first = torch.empty(len(state), 1, 1, dtype=torch.bool, device=state.device)
        self._views: dict[StateSlice, Tensor] = {}

    def past(self, part: StateSlice) -> Tensor:
        """One layer's part, a view [n, time, channels]."""
        if part not in self._views:
            flat = self.state[:, part.first : part.first + part.time * part.channels]
            self._views[part] = flat.view(-1, part.time, part.channels)
        return self._views[part]


class Convolution:
    """A causal Conv1d with a past (moshi StreamingConv1d)."""

    def __init__(self, module: Any, layout: StateLayout, what: str) -> None:
        conv = module.conv.conv
        refuse_if(type(conv) is not nn.Conv1d, f"{what}: {type(conv).__name__}")
        refuse_if(conv.groups != 1, f"{what}: grouped convolution")
        refuse_if(hasattr(conv, "weight_g"), f"{what}: weight_norm")
        (self._kernel,), (self._stride,), (self._dilation,) = conv.kernel_size, conv.stride, conv.dilation
        self._in, self._out = conv.in_channels, conv.out_channels
        past = (self._kernel - 1) * self._dilation + 1 - self._stride
        self._past = layout.take(past, self._in) if past else None
        self._past_time = past
        self._replicate = module.pad_mode == "replicate"
        weight = conv.weight.detach()  # [out, in, kernel]
        self._matrix = Matrix(weight.transpose(1, 2).reshape(self._out, -1))
        self._bias = None if conv.bias is None else conv.bias.detach()
        self._taps = torch.split(self._matrix.turned, self._stride * self._in)
        self._product = self._choose(weight)

    def __call__(self, x: Tensor, flow: Flow) -> Tensor:
        """[n, time, in] -> [n, time / stride, out]."""
        if self._past is not None:
            x = self._with_past(x, flow.past(self._past), flow.first)
        return self._product(x)

    def _with_past(self, x: Tensor, past: Tensor, first: Tensor) -> Tensor:
        before = torch.where(first, x[:, :1], past) if self._replicate else past
        x = torch.cat([before, x], dim=1)
        past.copy_(x[:, -self._past_time :])
        return x

    def _choose(self, weight: Tensor) -> Callable[[Tensor], Tensor]:
        """The quickest way for the shape, measured on a CPU; the numbers are the same."""
        if self._kernel == 1 and self._stride == 1:
            return self._pointwise
        if self._stride == 1 and self._in == 1:
            return self._lines
        if self._stride == 1 and self._out < NARROW:
            self._beside = weight.permute(1, 2, 0).reshape(self._in, -1).contiguous()
            return self._narrow if self._out > 1 else self._single
        if self._stride > 1 and self._dilation == 1 and self._kernel % self._stride == 0:
            return self._blocks
        return self._windows

    def _pointwise(self, x: Tensor) -> Tensor:
        return self._with_bias(x.reshape(-1, self._in)).view(*x.shape[:2], self._out)

    def _lines(self, x: Tensor) -> Tensor:
        """One input channel: the kernel's shifts of all rows' sound as long lines, then one product."""
        line, reach = x.reshape(-1), (self._kernel - 1) * self._dilation
        shifts = line.as_strided((self._kernel, len(line) - reach), (self._dilation, 1)).contiguous()
        return self._cut(self._with_bias(shifts.t()), x.shape[:2], reach)

    def _narrow(self, x: Tensor) -> Tensor:
        """Few output channels: one product for all of the kernel side by side, then shifted sums."""
        line, reach = x.reshape(-1, self._in), (self._kernel - 1) * self._dilation
        count = len(line) - reach
        beside = torch.mm(line, self._beside).view(-1, self._kernel, self._out)
        y = beside[:count, 0] + beside[self._dilation : self._dilation + count, 1]
        for tap in range(2, self._kernel):
            y += beside[tap * self._dilation : tap * self._dilation + count, tap]
        if self._bias is not None:
            y += self._bias
        return self._cut(y, x.shape[:2], reach)

    def _single(self, x: Tensor) -> Tensor:
        """One output channel: the same, with each tap's products in a line of their own."""
        line, reach = x.reshape(-1, self._in), (self._kernel - 1) * self._dilation
        count = len(line) - reach
        taps = torch.mm(self._beside.t(), line.t())
        y = taps[0, :count] + taps[1, self._dilation : self._dilation + count]
        for tap in range(2, self._kernel):
            y += taps[tap, tap * self._dilation : tap * self._dilation + count]
        if self._bias is not None:
            y += self._bias
        return self._cut(y, x.shape[:2], reach)

    def _blocks(self, x: Tensor) -> Tensor:
        """A kernel of whole strides: one product for each of its blocks, on views, added up.

        Of few blocks all at once: there it is the reading of the weight that takes the time.
        """
        n, blocks = x.shape[0], x.shape[1] // self._stride
        if n * blocks <= FEW:
            return self._windows(x)
        line, reach = x.reshape(n * blocks, -1), len(self._taps) - 1
        count = n * blocks - reach
        first = line[:count], self._taps[0]
        y = torch.mm(*first) if self._bias is None else torch.addmm(self._bias, *first)
        for i, tap in enumerate(self._taps[1:], start=1):
            y.addmm_(line[i : i + count], tap)
        return self._cut(y, (n, blocks), reach)

    def _cut(self, y: Tensor, shape: Sequence[int], reach: int) -> Tensor:
        """y holds all rows' outputs in one line; the `reach` last of each row straddle two rows."""
        n, time = shape
        return y.as_strided((n, time - reach, self._out), (time * self._out, self._out, 1))

    def _windows(self, x: Tensor) -> Tensor:
        """One product, of every output's inputs copied side by side: [n * steps, kernel * in]."""
        n, steps = x.shape[0], (x.shape[1] - (self._kernel - 1) * self._dilation - 1) // self._stride + 1
        x = x.contiguous()
        size = (n, steps, self._kernel, self._in)
        stride = (x.stride(0), self._stride * self._in, self._dilation * self._in, 1)
        windows = x.as_strided(size, stride).reshape(n * steps, -1).contiguous()
        return self._with_bias(windows).view(n, steps, -1)

    def _with_bias(self, x: Tensor) -> Tensor:
        return self._matrix.times(x) if self._bias is None else self._matrix.added(self._bias, x)


class Transposed:
    """A causal ConvTranspose1d, kernel twice the stride (moshi StreamingConvTranspose1d).

    Each input gives two blocks of outputs; the second one is added to the next input's first.
    """

    def __init__(self, module: Any, layout: StateLayout, what: str) -> None:
        conv = module.convtr.convtr
        refuse_if(type(conv) is not nn.ConvTranspose1d, f"{what}: {type(conv).__name__}")
        refuse_if(hasattr(conv, "weight_g"), f"{what}: weight_norm")
        refuse_if(conv.kernel_size[0] != 2 * conv.stride[0], f"{what}: a kernel that is not twice its stride")
        refuse_if(conv.groups not in (1, conv.in_channels), f"{what}: groups")
        self._out = conv.out_channels
        self._block = conv.stride[0] * self._out
        self._past = layout.take(1, self._block)
        weight = conv.weight.detach()  # [in, out / groups, kernel]
        self._depthwise = conv.groups > 1
        refuse_if(self._depthwise and weight.shape[1] != 1, f"{what}: groups")
        self._gains = weight[:, 0].t().contiguous() if self._depthwise else None
        if not self._depthwise:
            self._matrix = Matrix(weight.permute(2, 1, 0).reshape(-1, conv.in_channels))
        self._bias = None if conv.bias is None else conv.bias.detach().repeat(conv.stride[0])

    def __call__(self, x: Tensor, flow: Flow) -> Tensor:
        """[n, time, in] -> [n, time * stride, out]."""
        n, time = x.shape[0], x.shape[1]
        if self._gains is not None:
            blocks = (x[:, :, None] * self._gains).view(n, time, 2, self._block)
        else:
            blocks = self._matrix.times(x.reshape(n * time, -1)).view(n, time, 2, self._block)
        past = flow.past(self._past)
        before = past if time == 1 else torch.cat([past, blocks[:, :-1, 1]], dim=1)
        y = blocks[:, :, 0] + before
        past.copy_(blocks[:, -1:, 1])
        if self._bias is not None:
            y += self._bias
        sound: Tensor = y.view(n, time * (self._block // self._out), self._out)
        return sound
