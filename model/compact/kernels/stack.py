"""All layers of a transformer over some rows, as one kernel.

Refuses to know what the rows are. A stack's sheet: int64 [7 + layers]: dim, heads, key-value heads, width
of a head, the rotation's frequencies, float32 [width / 2], or 0, the first layer's number in the past, how
many layers, then each layer's sheet: int64 [9]: norm, queries' keys' and values' weight, output's weight,
scale or 0; norm, inner weight, outer weight, scale or 0; activation.
"""

from __future__ import annotations

from model.compact.kernels.arithmetic import gelu, silu
from model.compact.kernels.attention import attend, make_rotation, rotate, store
from model.compact.kernels.compiler import helper, shared
from model.compact.kernels.kernel import Kernel
from model.compact.kernels.memory import at, floats, ints
from model.compact.kernels.norms import normalise
from model.compact.kernels.products import multiply

HEADER = 7
"""Numbers before the layers' sheets."""
SILU, GELU, GATED = 0, 1, 2
"""Activations; with GATED added, the first half's is multiplied with the second half."""


@helper
def _activate(kind: int, x: int, rows: int, width: int) -> int:
    """x [rows, width] in place; returns how many numbers of a row count: of a gated one its first half."""
    kept = width // 2 if kind >= GATED else width
    for row in range(rows):
        line, gate = floats(x + 4 * width * row, kept), floats(x + 4 * (width * row + width - kept), kept)
        if kind == SILU + GATED:
            for j in range(kept):
                line[j] = silu(line[j]) * gate[j]
        elif kind == GELU + GATED:
            for j in range(kept):
                line[j] = gelu(line[j]) * gate[j]
        elif kind == SILU:
            for j in range(kept):
                line[j] = silu(line[j])
        else:
            for j in range(kept):
                line[j] = gelu(line[j])
    return kept


@helper
def _add(x: int, rows: int, width: int, more: int, scale: int) -> None:
    """x [rows, width] += more, times scale [width] where there is one."""
    gain = floats(scale, width)
    for row in range(rows):
        line, new = floats(x + 4 * width * row, width), floats(more + 4 * width * row, width)
        if scale:
            for j in range(width):
                line[j] += new[j] * gain[j]
        else:
            for j in range(width):
                line[j] += new[j]


@helper
def _attention(
    layer: int, number: int, stack: int, past: int, x: int, rows: int, tokens: int, rotation: int, room: int
) -> None:
    """The first half of a layer: x [rows * tokens, dim] in place."""
    dim, heads, kv_heads, width = at(stack, 0), at(stack, 1), at(stack, 2), at(stack, 3)
    lines, all_heads = rows * tokens, heads + 2 * kv_heads
    step = 4 * width * all_heads
    normed, qkv = room, room + 4 * dim * lines
    attended = qkv + step * lines
    scores = attended + 4 * width * heads * lines
    normalise(at(layer, 0), x, lines, normed)
    multiply(at(layer, 1), normed, 4 * dim, lines, qkv, step)
    for row in range(rows):
        first = qkv + step * tokens * row
        if rotation:
            for token in range(tokens):
                turn = rotation + 4 * width * (tokens * row + token)
                rotate(first + step * token, heads + kv_heads, width // 2, turn)
        store(past, number, row, tokens, 2 * kv_heads, width, first + 4 * width * heads, step)
        to = attended + 4 * width * heads * tokens * row
        attend(past, number, row, tokens, heads, kv_heads, width, first, step, scores, to)
    multiply(at(layer, 2), attended, 4 * width * heads, lines, normed, 4 * dim)
    _add(x, lines, dim, normed, at(layer, 3))


@helper
def _feed(layer: int, dim: int, x: int, lines: int, room: int) -> None:
    """The second half: x [lines, dim] in place."""
    inner = at(at(layer, 5), 2)
    normed, hidden = room, room + 4 * dim * lines
    normalise(at(layer, 4), x, lines, normed)
    multiply(at(layer, 5), normed, 4 * dim, lines, hidden, 4 * inner)
    _activate(at(layer, 8), hidden, lines, inner)
    multiply(at(layer, 6), hidden, 4 * inner, lines, normed, 4 * dim)
    _add(x, lines, dim, normed, at(layer, 7))


@shared
def go_through(stack: int, past: int, x: int, rows: int, tokens: int, room: int) -> None:
    """x [rows * tokens, dim] in place. past: a sheet as `attention` has it. room: as `room_for` says."""
    rotation, width = 0, at(stack, 3)
    if at(stack, 4):
        rotation, room = room, room + 4 * width * rows * tokens
        make_rotation(at(stack, 4), past, rows, tokens, width // 2, rotation)
    layers = ints(stack + 8 * HEADER, at(stack, 6))
    for number in range(at(stack, 6)):
        _attention(layers[number], at(stack, 5) + number, stack, past, x, rows, tokens, rotation, room)
        _feed(layers[number], at(stack, 0), x, rows * tokens, room)


def room_for(dim: int, heads: int, kv_heads: int, width: int, hidden: int, ring: int, lines: int) -> int:
    """Numbers of float32 that `go_through` needs for so many rows and tokens."""
    first = lines * (width + dim + width * (2 * heads + 2 * kv_heads)) + ring
    return max(first, lines * (width + dim + hidden))


def _stack(address: int) -> None:
    """(stack's sheet, past's sheet, x, rows, tokens, room)"""
    go_through(at(address, 0), at(address, 1), at(address, 2), at(address, 3), at(address, 4), at(address, 5))


through_layers = Kernel(_stack)
