"""Streaming convolutions over some rows' sound, [row, time, channel], one after the other, as one kernel.

What a convolution keeps between frames lies in the rows' own states. Refuses to know what the sound is.

An operation's sheet, int64 [16]: kind; what it reads, writes, and adds at the end: INPUT, OUTPUT, NOTHING,
or where a buffer begins, float32 a row; whether ELU comes first; weight; bias or 0; kernel, stride, channels
in and out, time in; where in the state its past begins and how long that is; whether a first frame's past is
its first sample; numbers out. A run's: int64 [3 + operations]: states, float32 [slots, size], size,
operations, then their sheets. Memory begins with the room that an operation needs for itself.
"""

from __future__ import annotations

from model.compact.kernels.arithmetic import elu
from model.compact.kernels.compiler import helper
from model.compact.kernels.kernel import Kernel
from model.compact.kernels.memory import at, floats
from model.compact.kernels.products import add_rows, multiply
from model.compact.kernels.tiles import dots

HEADER = 3
"""Numbers before the operations' sheets."""
INPUT, OUTPUT, NOTHING = -1, -2, -3
CONVOLUTION, LINE, TRANSPOSED, SPREAD = range(4)
"""Kinds. LINE: a convolution with one output, its weight as it is. SPREAD: TRANSPOSED, channel by channel."""
FEW = 16
"""So few outputs of a row are made for all rows at once: it is the reading of the weight that takes time."""

_dots_4, _dots_1 = dots(4), dots(1)


@helper
def _copy(source: int, target: int, count: int, with_elu: int) -> None:
    line, made = floats(source, count), floats(target, count)
    if with_elu:
        for i in range(count):
            made[i] = elu(line[i])
    else:
        for i in range(count):
            made[i] = line[i]


@helper
def _lengthen(op: int, x: int, past: int, first: int, line: int) -> None:
    """line [past + time, in]: a row's x with its past before it; what stays is the row's new past."""
    inputs, time, kept = at(op, 9), at(op, 11), at(op, 13)
    _copy(x, line + 4 * kept * inputs, time * inputs, at(op, 4))
    if first and at(op, 14):
        for i in range(kept):
            _copy(line + 4 * kept * inputs, line + 4 * i * inputs, inputs, 0)
    else:
        _copy(past, line, kept * inputs, 0)
    _copy(line + 4 * time * inputs, past, kept * inputs, 0)


@helper
def _dots(weight: int, x: int, step: int, count: int, width: int, y: int) -> None:
    """y [count]: the weight's products with rows of x, `step` bytes apart."""
    i = 0
    while i < count - 3:
        _dots_4(x + step * i, step, weight, width // 8, y + 4 * i)
        i += 4
    while i < count:
        _dots_1(x + step * i, step, weight, width // 8, y + 4 * i)
        i += 1


@helper
def _convolve(op: int, run: int, slots: int, position: int, rows: int, x: int, y: int, room: int) -> None:
    kernel, stride, inputs, outputs, time = at(op, 7), at(op, 8), at(op, 9), at(op, 10), at(op, 11)
    kept, width, step = at(op, 13), at(op, 7) * at(op, 9), 4 * at(op, 8) * at(op, 9)
    steps = (time + kept - kernel) // stride + 1
    together = steps <= FEW
    line, windows = room, room + 4 * (kept + time) * inputs
    for row in range(rows):
        past = at(run, 0) + 4 * (at(run, 1) * at(slots, row) + at(op, 12))
        _lengthen(op, x + 4 * time * inputs * row, past, at(position, row) == 0, line)
        made = y + 4 * steps * outputs * row
        if at(op, 0) == LINE:
            _dots(at(op, 5), line, step, steps, width, made)
        elif together:
            for i in range(steps):
                _copy(line + step * i, windows + 4 * width * (steps * row + i), width, 0)
        else:
            multiply(at(op, 5), line, step, steps, made, 4 * outputs)
    if together and at(op, 0) == CONVOLUTION:
        multiply(at(op, 5), windows, 4 * width, rows * steps, y, 4 * outputs)
    if at(op, 6):
        add_rows(y, rows * steps, outputs, at(op, 6), 0)


@helper
def _spread(gains: int, x: int, lines: int, channels: int, kernel: int, blocks: int) -> None:
    """blocks [lines, kernel, channels] = x [lines, channels] * gains [kernel, channels]."""
    for i in range(lines):
        line = floats(x + 4 * channels * i, channels)
        for tap in range(kernel):
            gain = floats(gains + 4 * channels * tap, channels)
            made = floats(blocks + 4 * channels * (kernel * i + tap), channels)
            for j in range(channels):
                made[j] = line[j] * gain[j]


@helper
def _transpose(op: int, run: int, slots: int, rows: int, x: int, y: int, room: int) -> None:
    """Each input makes two blocks of outputs; the second is added to the next input's first."""
    stride, inputs, outputs, time = at(op, 8), at(op, 9), at(op, 10), at(op, 11)
    block, lines = stride * outputs, rows * time
    blocks = room + 4 * lines * inputs
    _copy(x, room, lines * inputs, at(op, 4))
    if at(op, 0) == SPREAD:
        _spread(at(op, 5), room, lines, inputs, 2 * stride, blocks)
    else:
        multiply(at(op, 5), room, 4 * inputs, lines, blocks, 8 * block)
    for row in range(rows):
        past = at(run, 0) + 4 * (at(run, 1) * at(slots, row) + at(op, 12))
        for i in range(time):
            here = blocks + 8 * block * (time * row + i)
            second = floats(past, block) if i == 0 else floats(here - 4 * block, block)
            made, first = floats(y + 4 * block * (time * row + i), block), floats(here, block)
            for j in range(block):
                made[j] = first[j] + second[j]
        _copy(blocks + 8 * block * (time * (row + 1) - 1) + 4 * block, past, block, 0)
    if at(op, 6):
        add_rows(y, lines, block, at(op, 6), 0)


@helper
def _at(where: int, rows: int, x: int, y: int, memory: int) -> int:
    if where == INPUT:
        return x
    return y if where == OUTPUT else memory + 4 * rows * where


def _sound(address: int) -> None:
    """(run's sheet, rows' slots, frames each has been through, rows, x, y, memory)"""
    run, slots, position, rows = at(address, 0), at(address, 1), at(address, 2), at(address, 3)
    x, y, memory = at(address, 4), at(address, 5), at(address, 6)
    for number in range(at(run, 2)):
        op = at(run + 8 * HEADER, number)
        source, target = _at(at(op, 1), rows, x, y, memory), _at(at(op, 2), rows, x, y, memory)
        if at(op, 0) == CONVOLUTION or at(op, 0) == LINE:
            _convolve(op, run, slots, position, rows, source, target, memory)
        else:
            _transpose(op, run, slots, rows, source, target, memory)
        if at(op, 3) != NOTHING:
            more = _at(at(op, 3), rows, x, y, memory)
            add_rows(target, rows, at(op, 15), more, 4 * at(op, 15))


run_sound = Kernel(_sound)
