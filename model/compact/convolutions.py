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

from model.compact.products import Matrix
from model.compact.refusals import refuse_if


class StateLayout:
    """Hands out slices of the flat state. size: floats a slot takes in all."""

    def __init__(self) -> None:
        self.size = 0

    def take(self, time: int, channels: int) -> StateSlice:
        first, self.size = self.size, self.size + time * channels
        return StateSlice(first, time, channels)


FEW = 5
"""So few outputs are quicker as one product, with their inputs copied; measured on a CPU."""
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
        (self.kernel,), (self.stride,), (self.dilation,) = conv.kernel_size, conv.stride, conv.dilation
        self.inputs, self.outputs = conv.in_channels, conv.out_channels
        past = (self.kernel - 1) * self.dilation + 1 - self.stride
        self.past = layout.take(past, self.inputs) if past else None
        self.past_time = past
        self.replicate = module.pad_mode == "replicate"
        weight = conv.weight.detach()  # [out, in, kernel]
        self.matrix = Matrix(weight.transpose(1, 2).reshape(self.outputs, -1))
        self.bias = None if conv.bias is None else conv.bias.detach()
        self._taps = torch.split(self.matrix.weight.t(), self.stride * self.inputs)
        self._product = self._choose(weight)

    def __call__(self, x: Tensor, flow: Flow) -> Tensor:
        """[n, time, in] -> [n, time / stride, out]."""
        if self.past is not None:
            x = self._with_past(x, flow.past(self.past), flow.first)
        return self._product(x)

    def _with_past(self, x: Tensor, past: Tensor, first: Tensor) -> Tensor:
        before = torch.where(first, x[:, :1], past) if self.replicate else past
        x = torch.cat([before, x], dim=1)
        past.copy_(x[:, -self.past_time :])
        return x

    def _choose(self, weight: Tensor) -> Callable[[Tensor], Tensor]:
        """The quickest way for the shape, measured on a CPU; the numbers are the same."""
        if self.kernel == 1 and self.stride == 1:
            return self._pointwise
        if self.stride == 1 and self.inputs == 1:
            return self._lines
        if self.stride == 1 and self.outputs < NARROW:
            self._beside = weight.permute(1, 2, 0).reshape(self.inputs, -1).contiguous()
            return self._narrow if self.outputs > 1 else self._single
        if self.stride > 1 and self.dilation == 1 and self.kernel % self.stride == 0:
            return self._blocks
        return self._windows

    def _pointwise(self, x: Tensor) -> Tensor:
        return self._with_bias(x.reshape(-1, self.inputs)).view(*x.shape[:2], self.outputs)

    def _lines(self, x: Tensor) -> Tensor:
        """One input channel: the kernel's shifts of all rows' sound as long lines, then one product."""
        line, reach = x.reshape(-1), (self.kernel - 1) * self.dilation
        shifts = line.as_strided((self.kernel, len(line) - reach), (self.dilation, 1)).contiguous()
        return self._cut(self._with_bias(shifts.t()), x.shape[:2], reach)

    def _narrow(self, x: Tensor) -> Tensor:
        """Few output channels: one product for all of the kernel side by side, then shifted sums."""
        line, reach = x.reshape(-1, self.inputs), (self.kernel - 1) * self.dilation
        count = len(line) - reach
        beside = torch.mm(line, self._beside).view(-1, self.kernel, self.outputs)
        y = beside[:count, 0] + beside[self.dilation : self.dilation + count, 1]
        for tap in range(2, self.kernel):
            y += beside[tap * self.dilation : tap * self.dilation + count, tap]
        if self.bias is not None:
            y += self.bias
        return self._cut(y, x.shape[:2], reach)

    def _single(self, x: Tensor) -> Tensor:
        """One output channel: the same, with each tap's products in a line of their own."""
        line, reach = x.reshape(-1, self.inputs), (self.kernel - 1) * self.dilation
        count = len(line) - reach
        taps = torch.mm(self._beside.t(), line.t())
        y = taps[0, :count] + taps[1, self.dilation : self.dilation + count]
        for tap in range(2, self.kernel):
            y += taps[tap, tap * self.dilation : tap * self.dilation + count]
        if self.bias is not None:
            y += self.bias
        return self._cut(y, x.shape[:2], reach)

    def _blocks(self, x: Tensor) -> Tensor:
        """A kernel of whole strides: one product for each of its blocks, on views, added up.

        Of few blocks all at once: there it is the reading of the weight that takes the time.
        """
        n, blocks = x.shape[0], x.shape[1] // self.stride
        if n * blocks <= FEW:
            return self._windows(x)
        line, reach = x.reshape(n * blocks, -1), len(self._taps) - 1
        count = n * blocks - reach
        first = line[:count], self._taps[0]
        y = torch.mm(*first) if self.bias is None else torch.addmm(self.bias, *first)
        for i, tap in enumerate(self._taps[1:], start=1):
            y.addmm_(line[i : i + count], tap)
        return self._cut(y, (n, blocks), reach)

    def _cut(self, y: Tensor, shape: Sequence[int], reach: int) -> Tensor:
        """y holds all rows' outputs in one line; the `reach` last of each row straddle two rows."""
        n, time = shape
        return y.as_strided((n, time - reach, self.outputs), (time * self.outputs, self.outputs, 1))

    def _windows(self, x: Tensor) -> Tensor:
        """One product, of every output's inputs copied side by side: [n * steps, kernel * in]."""
        n, steps = x.shape[0], (x.shape[1] - (self.kernel - 1) * self.dilation - 1) // self.stride + 1
        x = x.contiguous()
        size = (n, steps, self.kernel, self.inputs)
        stride = (x.stride(0), self.stride * self.inputs, self.dilation * self.inputs, 1)
        windows = x.as_strided(size, stride).reshape(n * steps, -1).contiguous()
        return self._with_bias(windows).view(n, steps, -1)

    def _with_bias(self, x: Tensor) -> Tensor:
        return self.matrix.times(x) if self.bias is None else self.matrix.added(self.bias, x)


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
        self.inputs, self.outputs = conv.in_channels, conv.out_channels
        self.block = conv.stride[0] * self.outputs
        self.past = layout.take(1, self.block)
        weight = conv.weight.detach()  # [in, out / groups, kernel]
        self._depthwise = conv.groups > 1
        refuse_if(self._depthwise and weight.shape[1] != 1, f"{what}: groups")
        self.gains = weight[:, 0].t().contiguous() if self._depthwise else None
        if not self._depthwise:
            self.matrix = Matrix(weight.permute(2, 1, 0).reshape(-1, conv.in_channels))
        self.bias = None if conv.bias is None else conv.bias.detach().repeat(conv.stride[0])

    def __call__(self, x: Tensor, flow: Flow) -> Tensor:
        """[n, time, in] -> [n, time * stride, out]."""
        n, time = x.shape[0], x.shape[1]
        if self.gains is not None:
            blocks = (x[:, :, None] * self.gains).view(n, time, 2, self.block)
        else:
            blocks = self.matrix.times(x.reshape(n * time, -1)).view(n, time, 2, self.block)
        past = flow.past(self.past)
        before = past if time == 1 else torch.cat([past, blocks[:, :-1, 1]], dim=1)
        y = blocks[:, :, 0] + before
        past.copy_(blocks[:, -1:, 1])
        if self.bias is not None:
            y += self.bias
        sound: Tensor = y.view(n, time * (self.block // self.outputs), self.outputs)
        return sound
