"""A row's queries over its past, where it lies, each row at its own length.

Refuses to know layers and weights. A past's sheet: int64 [8]: the first layer's memory, bytes from layer
to layer and from head to head (keys' heads, then values'), each [places, width]; then where the step's
numbers lie, int64: each row's page, how many it has been through, where it writes [rows, tokens]; then
places a page, places a ring.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from model.compact.kernels.arithmetic import exp
from model.compact.kernels.compiler import adder, chooser, helper, shared
from model.compact.kernels.kernel import Kernel
from model.compact.kernels.memory import Floats, Ints, at, floats, ints
from model.compact.kernels.tiles import dots, tile

_dots_4, _dots_1 = dots(4), dots(1)
_mix_4, _mix_1 = tile(1, 4, False), tile(1, 1, False)


@helper
def make_rotation(frequencies_at: int, past: int, rows: int, tokens: int, pairs: int, to: int) -> None:
    """Cosines and sines of every row's and token's angles: float32 [rows * tokens, pairs, 2]."""
    frequencies, positions = floats(frequencies_at, pairs), ints(at(past, 4), rows)
    for row in range(rows):
        for token in range(tokens):
            made = floats(to + 8 * pairs * (row * tokens + token), 2 * pairs)
            position = np.float32(positions[row] + token)
            for i in range(pairs):
                angle = frequencies[i] * position
                made[2 * i], made[2 * i + 1] = np.float32(math.cos(angle)), np.float32(math.sin(angle))


@helper
def rotate(x: int, heads: int, pairs: int, rotation: int) -> None:
    """x [heads, pairs, 2] turned in place by rotation [pairs, 2]."""
    turn = floats(rotation, 2 * pairs)
    for head in range(heads):
        line = floats(x + 8 * pairs * head, 2 * pairs)
        for i in range(pairs):
            real, imaginary = line[2 * i], line[2 * i + 1]
            cosine, sine = turn[2 * i], turn[2 * i + 1]
            line[2 * i] = real * cosine - imaginary * sine
            line[2 * i + 1] = real * sine + imaginary * cosine


@helper
def store(
    past: int, layer: int, row: int, tokens: int, heads: int, width: int, kv: int, kv_step: int
) -> None:
    """Keys' and values' heads of a row's tokens, kv [tokens, heads, width], into the past."""
    memory, write = at(past, 0) + layer * at(past, 1), ints(at(past, 5) + 8 * tokens * row, tokens)
    for token in range(tokens):
        for head in range(heads):
            new = floats(kv + kv_step * token + 4 * width * head, width)
            place = floats(memory + at(past, 2) * head + 4 * width * write[token], width)
            for j in range(width):
                place[j] = new[j]


@chooser
def _greatest(numbers: Floats) -> Any:
    most = numbers[0]
    for number in numbers:
        most = max(most, number)
    return most


@adder
def total(numbers: Floats) -> Any:
    """None, or infinite, where one of the numbers is."""
    found = np.float32(0)
    for number in numbers:
        found += number
    return found


@helper
def _scores(keys: int, width: int, count: int, query: int, scores: int) -> None:
    """scores [count]: the query's products with keys [count, width]."""
    j = 0
    while j < count - 3:
        _dots_4(keys + 4 * width * j, 4 * width, query, width // 8, scores + 4 * j)
        j += 4
    while j < count:
        _dots_1(keys + 4 * width * j, 4 * width, query, width // 8, scores + 4 * j)
        j += 1


@helper
def _mix(values: int, width: int, count: int, weights: int, y: int) -> None:
    """y [width]: values [count, width] by their weights."""
    j = 0
    while j < width:
        if width - j >= 64:
            _mix_4(values + 4 * j, 4 * width, weights, 4 * count, count, y + 4 * j, 0)
            j += 64
        else:
            _mix_1(values + 4 * j, 4 * width, weights, 4 * count, count, y + 4 * j, 0)
            j += 16


@helper
def _soften(scores: Floats, width: int, hidden: Ints, first: int) -> None:
    """Scores become weights, in place; those at hidden - first become none."""
    for place in hidden:
        scores[place - first] = -np.inf
    most, scale = _greatest(scores), np.float32(1 / math.sqrt(width))
    for j in range(len(scores)):
        scores[j] = exp((scores[j] - most) * scale)
    for place in hidden:
        scores[place - first] = 0
    share = np.float32(1) / total(scores)
    for j in range(len(scores)):
        scores[j] *= share


@shared
def attend(
    past: int,
    layer: int,
    row: int,
    tokens: int,
    heads: int,
    kv_heads: int,
    width: int,
    queries: int,
    step: int,
    room: int,
    y: int,
) -> None:
    """A row's queries [tokens, heads, width], `step` bytes apart, over its past -> y [tokens, heads, width].

    A token sees what was before it, and of its own step no later ones. room: a score for every place.
    """
    first, ring = at(at(past, 3) + 8 * row, 0) * at(past, 6), at(past, 7)
    count = min(at(at(past, 4) + 8 * row, 0) + tokens, ring)
    memory = at(past, 0) + layer * at(past, 1) + 4 * width * first
    group = heads // kv_heads
    for token in range(tokens):
        later = ints(at(past, 5) + 8 * (tokens * row + token + 1), tokens - token - 1)
        for head in range(heads):
            keys = memory + at(past, 2) * (head // group)
            _scores(keys, width, count, queries + step * token + 4 * width * head, room)
            _soften(floats(room, count), width, later, first)
            _mix(keys + at(past, 2) * kv_heads, width, count, room, y + 4 * width * (heads * token + head))


def _over_past(address: int) -> None:
    """(past's sheet, layer, qkv, rows, tokens, heads, key-value heads, width, room [ring], y)"""
    past, layer, rows, tokens = at(address, 0), at(address, 1), at(address, 3), at(address, 4)
    heads, kv_heads, width, room = at(address, 5), at(address, 6), at(address, 7), at(address, 8)
    step = 4 * width * (heads + 2 * kv_heads)
    for row in range(rows):
        qkv, y = at(address, 2) + step * tokens * row, at(address, 9) + 4 * width * heads * tokens * row
        store(past, layer, row, tokens, 2 * kv_heads, width, qkv + 4 * width * heads, step)
        attend(past, layer, row, tokens, heads, kv_heads, width, qkv, step, room, y)


over_past = Kernel(_over_past)
