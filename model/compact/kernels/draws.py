"""One token a row drawn from logits: as `model.sampler` draws, to the last bit but the logarithm's.

Noise is made for candidates only: other tokens cannot be drawn. Refuses to know sessions and books. A draw's
sheet: int64 [5]: where the rows' temperatures lie, float32 [rows]; how many candidates but one, int64
[rows]; keys of the noise, int64 [rows, books]; how many books lie there; tokens to choose from.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from model.compact.kernels.compiler import exactly, intrinsic, ir, shared_exactly, types
from model.compact.kernels.memory import Floats, at, floats, ints, set_at, words
from model.sampler import FACTORS, GOLDEN, STEP

_FIRST, _SECOND = (np.uint32(factor) for factor in FACTORS)
_GOLDEN, _STEP = np.uint32(GOLDEN), np.float32(STEP)
_HALF = np.float32(0.5)
_8, _15, _16 = (np.uint32(shift) for shift in (8, 15, 16))
_SIGN = np.int32(0x7FFFFFFF)


@intrinsic
def _bits(typing: Any, number: Any) -> Any:
    """A float32's as int32."""
    del typing, number

    def make(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        del context, signature
        return builder.bitcast(args[0], ir.IntType(32))

    return types.int32(types.float32), make


@exactly
def _mix(x: Any) -> Any:
    x = np.uint32(x ^ (x >> _16))
    x = np.uint32(x * _FIRST)
    x = np.uint32(x ^ (x >> _15))
    x = np.uint32(x * _SECOND)
    return np.uint32(x ^ (x >> _16))


@exactly
def _noise(key: Any, token: int) -> Any:
    bits = _mix(np.uint32(key ^ np.uint32(np.uint32(token + 1) * _GOLDEN)))
    bits = _mix(np.uint32(bits + key))
    u = (np.float32(bits >> _8) + _HALF) * _STEP
    return -np.float32(math.log(-np.float32(math.log(u))))


@exactly
def likeliest(logits: Floats) -> int:
    """The first of the greatest."""
    best = 0
    for token in range(1, len(logits)):
        if logits[token] > logits[best]:
            best = token
    return best


@exactly
def _in_order(number: Any) -> Any:
    """int32 that compare as the float32 do."""
    bits = _bits(number)
    return np.int32(bits ^ ((bits >> np.int32(31)) & _SIGN))


@exactly
def _least_candidate(logits: Floats, wanted: int, room: int) -> Any:
    """The logit that `wanted` reach, and no fewer: found by halving what it may be."""
    ordered = words(room, len(logits))
    for token in range(len(logits)):
        ordered[token] = _in_order(logits[token])
    low, high = np.int64(-(2**31)), np.int64(2**31 - 1)
    while low < high:
        middle = (low + high + 1) >> 1
        bound, reach = np.int32(middle), np.int32(0)
        for token in range(len(logits)):
            reach += np.int32(ordered[token] >= bound)
        if reach >= wanted:
            low = middle
        else:
            high = middle - 1
    for token in range(len(logits)):
        if ordered[token] == low:
            return logits[token]
    return logits[0]


@shared_exactly
def draw(sheet: int, book: int, logits_at: int, rows: int, tokens: int, step: int, room: int) -> None:
    """logits [rows, card] -> tokens, int64, `step` bytes apart. room: int32 [card]."""
    card, temperatures, places = at(sheet, 4), floats(at(sheet, 0), rows), ints(at(sheet, 1), rows)
    for row in range(rows):
        logits, heat = floats(logits_at + 4 * card * row, card), temperatures[row]
        best = 0
        if heat == 0:
            best = likeliest(logits)
        else:
            least = _least_candidate(logits, places[row] + 1, room)
            key = np.uint32(at(at(sheet, 2), at(sheet, 3) * row + book))
            most = np.float32(-np.inf)
            for token in range(card):
                if logits[token] >= least:
                    noisy = logits[token] + heat * _noise(key, token)
                    if noisy > most:
                        best, most = token, noisy
        set_at(tokens + step * row, 0, best)
