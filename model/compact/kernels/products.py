"""Rows times a packed weight. What a row gets is the same to the last bit whatever rows are beside it.

Refuses to know what the numbers mean.
"""

from __future__ import annotations

from typing import Any

from model.compact.kernels.compiler import helper, shared
from model.compact.kernels.kernel import Kernel
from model.compact.kernels.memory import at, floats, small_room
from model.compact.kernels.tiles import AHEAD, tile
from model.compact.kernels.weights import BLOCK, GROUP


def _block_of(halved: bool) -> Any:
    """A function that multiplies rows with one block of a weight: 16 * groups outputs.

    Many rows go by fours, so that a weight once in a register is used four times; a lone one takes as
    many outputs at once as there are sums under way in a processor.
    """
    tile_1_4, tile_1_1 = tile(1, 4, halved, AHEAD), tile(1, 1, halved)
    tile_2_2, tile_2_1, tile_4_1 = tile(2, 2, halved), tile(2, 1, halved), tile(4, 1, halved)
    size = 2 * GROUP if halved else 4 * GROUP

    @helper
    def block(w: int, groups: int, x: int, x_step: int, rows: int, count: int, y: int, y_step: int) -> None:
        step, row = size * groups, 0
        while row < rows:
            xs, ys = x + row * x_step, y + row * y_step
            if rows - row >= 4:
                for g in range(groups):
                    tile_4_1(w + size * g, step, xs, x_step, count, ys + 64 * g, y_step)
                row += 4
            elif rows - row >= 2:
                for g in range(0, groups - 1, 2):
                    tile_2_2(w + size * g, step, xs, x_step, count, ys + 64 * g, y_step)
                if groups & 1:
                    g = groups - 1
                    tile_2_1(w + size * g, step, xs, x_step, count, ys + 64 * g, y_step)
                row += 2
            elif groups == 4:
                tile_1_4(w, step, xs, x_step, count, ys, y_step)
                row += 1
            else:
                for g in range(groups):
                    tile_1_1(w + size * g, step, xs, x_step, count, ys + 64 * g, y_step)
                row += 1

    return block


_halved_block, _whole_block = _block_of(True), _block_of(False)


@shared
def multiply(sheet: int, x: int, x_step: int, rows: int, y: int, y_step: int) -> None:
    """x [rows, in], float32, times a `PackedWeight` -> y [rows, out]. Steps: bytes from row to row."""
    w, count, outputs, halved = at(sheet, 0), at(sheet, 1), at(sheet, 2), at(sheet, 3)
    spare = small_room()  # 4 rows of a block
    for first in range(0, outputs, BLOCK):
        width = min(BLOCK, outputs - first)
        groups = (width + GROUP - 1) // GROUP
        odd = width % GROUP != 0
        row = 0
        while row < rows:  # but for fewer outputs than the groups have: those go by way of `spare`
            some = min(4, rows - row) if odd else rows
            to, to_step = (spare, 4 * BLOCK) if odd else (y + 4 * first, y_step)
            if halved:
                _halved_block(w, groups, x + row * x_step, x_step, some, count, to, to_step)
            else:
                _whole_block(w, groups, x + row * x_step, x_step, some, count, to, to_step)
            if odd:
                for i in range(some):
                    line = floats(y + (row + i) * y_step + 4 * first, width)
                    made = floats(spare + 4 * BLOCK * i, width)
                    for j in range(width):
                        line[j] = made[j]
            row += some
        w += groups * GROUP * count * (2 if halved else 4)


@helper
def add_rows(y: int, rows: int, width: int, to: int, to_step: int) -> None:
    """y [rows, width] += to, whose rows are `to_step` bytes apart: 0 where all are one."""
    for row in range(rows):
        line, more = floats(y + 4 * width * row, width), floats(to + to_step * row, width)
        for j in range(width):
            line[j] += more[j]


def _product(address: int) -> None:
    """(weight's sheet, x, bytes from row to row, rows, y [rows, out], to or 0, bytes from row to row)."""
    outputs = at(at(address, 0), 2)
    multiply(at(address, 0), at(address, 1), at(address, 2), at(address, 3), at(address, 4), 4 * outputs)
    if at(address, 5):
        add_rows(at(address, 4), at(address, 3), outputs, at(address, 5), at(address, 6))


product = Kernel(_product)
