"""A list of streaming convolutions as one kernel, where it knows them all.

Refuses to know what the sound is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from torch import Tensor, nn

from model.compact.convolutions import Convolution, Transposed
from model.compact.kernels import sound as kernel
from model.compact.kernels.kernel import Sheet
from model.compact.kernels.tiles import LANES
from model.compact.products import plain
from model.compact.rooms import room
from model.compact.seanet import Pointwise, Residual

BUFFERS = 3
"""One that is read, one that is written, one that waits to be added."""


class _Unknown(Exception):
    """A step that the kernel does not know."""


@dataclass(frozen=True, slots=True)
class _Operation:
    """numbers: what it makes a row. room: float32 that it needs a row. The others as the kernel has them."""

    kind: int
    weight: Sheet | Tensor
    bias: Tensor | None
    shape: tuple[int, int, int, int, int]  # kernel, stride, in, out, time
    past: tuple[int, int, int]  # first, time, replicated
    numbers: int
    room: int
    elu: bool = False
    places: tuple[int, int, int] = (kernel.INPUT, kernel.OUTPUT, kernel.NOTHING)  # buffers' numbers

    def sheet(self, room: int, buffer: int) -> Sheet:
        """room, buffer: how many numbers a row each takes."""
        places = [place if place < 0 else room + place * buffer for place in self.places]
        bias = 0 if self.bias is None else self.bias.contiguous()
        what = self.kind, *places, int(self.elu), self.weight, bias
        return Sheet(*what, *self.shape, *self.past, self.numbers)


@dataclass(slots=True)
class _Reader:
    """Turns steps into operations. time: of what the next one reads. at: the buffer where that lies."""

    time: int
    at: int = kernel.INPUT
    operations: list[_Operation] = field(default_factory=list)

    def read(self, steps: Sequence[Any], kept: int | None = None) -> None:
        """kept: in a residual's block, what waits to be added: there is no place for another's."""
        elu = False
        for step in steps:
            if isinstance(step, Pointwise) and _is_elu(step.module) and not elu:
                elu = True
            elif isinstance(step, Residual) and kept is None and not elu and _is_identity(step.shortcut):
                before = self.at
                self.read(step.block.steps, before)
                last = self.operations[-1]
                self.operations[-1] = replace(last, places=(*last.places[:2], before))
            elif isinstance(step, Convolution | Transposed):
                operation = _operation(step, self.time)
                target = next(n for n in range(BUFFERS) if n not in (self.at, kept))
                self.operations.append(replace(operation, elu=elu, places=(self.at, target, kernel.NOTHING)))
                self.time, self.at, elu = operation.numbers // step.outputs, target, False
            else:
                raise _Unknown
        if elu:
            raise _Unknown


class SoundKernel:
    """steps: of a SEANet, or one convolution. time: of what it is given. state: of all slots."""

    def __init__(self, steps: Sequence[Any], time: int, state: Tensor) -> None:
        self._run: Sheet | None = None
        reader = _Reader(time)
        reader.read(steps)
        if not reader.operations:
            return
        *before, last = reader.operations
        operations = [*before, replace(last, places=(last.places[0], kernel.OUTPUT, last.places[2]))]
        spare, buffer = max(op.room for op in operations), max(op.numbers for op in operations)
        sheets = [op.sheet(spare, buffer) for op in operations]
        self._run = Sheet(state, state.shape[1], len(sheets), *sheets)
        self._memory = spare + BUFFERS * buffer
        self._out = reader.time, last.numbers // reader.time

    def __call__(self, x: Tensor, rows: Tensor, position: Tensor) -> Tensor:
        """x [n, time, in] -> [n, time, out]. rows, position: int64 [n]: slots, and 0 at a first frame."""
        if self._run is None:
            return x
        n = len(x)
        y = room(n, *self._out)
        kernel.run_sound(self._run, rows, position, n, x.contiguous(), y, room(n * self._memory))
        return y


def sound_kernels(parts: Sequence[tuple[Sequence[Any], int]], state: Tensor) -> list[SoundKernel]:
    """One for each part's steps and time; none at all where a step is not known, or this kind of memory."""
    if not plain(state):
        return []
    try:
        return [SoundKernel(*part, state) for part in parts]
    except _Unknown:
        return []


def _is_elu(module: Any) -> bool:
    return isinstance(module, nn.ELU) and module.alpha == 1.0


def _is_identity(shortcut: Any) -> bool:
    return all(
        isinstance(step, Pointwise) and isinstance(step.module, nn.Identity) for step in shortcut.steps
    )


def _operation(step: Convolution | Transposed, time: int) -> _Operation:
    return _transposed(step, time) if isinstance(step, Transposed) else _convolution(step, time)


def _convolution(step: Convolution, time: int) -> _Operation:
    packed, width = step.matrix.packed, step.kernel * step.inputs
    if step.dilation != 1 or packed is None:
        raise _Unknown
    line = step.outputs == 1 and width % LANES == 0
    steps = (time + step.past_time - step.kernel) // step.stride + 1
    first = 0 if step.past is None else step.past.first
    room = (step.past_time + time) * step.inputs + (steps * width if steps <= kernel.FEW else 0)
    return _Operation(
        kernel.LINE if line else kernel.CONVOLUTION,
        step.matrix.weight.contiguous() if line else packed.sheet,
        step.bias,
        (step.kernel, step.stride, step.inputs, step.outputs, time),
        (first, step.past_time, int(step.replicate)),
        steps * step.outputs,
        room,
    )


def _transposed(step: Transposed, time: int) -> _Operation:
    weight: Sheet | Tensor
    if step.gains is not None:
        kind, weight = kernel.SPREAD, step.gains
    elif step.matrix.packed is not None:
        kind, weight = kernel.TRANSPOSED, step.matrix.packed.sheet
    else:
        raise _Unknown
    stride = step.block // step.outputs
    return _Operation(
        kind,
        weight,
        step.bias,
        (2 * stride, stride, step.inputs, step.outputs, time),
        (step.past.first, 1, 0),
        time * step.block,
        time * (step.inputs + 2 * step.block),
    )
