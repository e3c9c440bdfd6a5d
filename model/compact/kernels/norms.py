"""Norms of rows. Refuses to know where in a model they stand.

A norm's sheet: int64 [5]: kind, gain, bias, epsilon (where they lie), width.
"""

from __future__ import annotations

import math

import numpy as np

from model.compact.kernels.compiler import shared_adder
from model.compact.kernels.memory import at, floats

NONE, RMS, LAYER = range(3)
"""Kinds: the row as it is; x / sqrt(mean(x^2) + eps) * gain; torch's layer_norm."""


@shared_adder
def normalise(sheet: int, x: int, rows: int, y: int) -> None:
    """x [rows, width] -> y, which may be the same memory."""
    kind, width = at(sheet, 0), at(sheet, 4)
    gain, bias, epsilon = floats(at(sheet, 1), width), floats(at(sheet, 2), width), floats(at(sheet, 3), 1)[0]
    for row in range(rows):
        line, made = floats(x + 4 * width * row, width), floats(y + 4 * width * row, width)
        mean, squares = np.float32(0), np.float32(0)
        if kind == LAYER:
            for j in range(width):
                mean += line[j]
            mean /= np.float32(width)
        if kind != NONE:
            for j in range(width):
                squares += (line[j] - mean) * (line[j] - mean)
        if kind == NONE:
            for j in range(width):
                made[j] = line[j]
            continue
        scale = np.float32(1) / np.float32(math.sqrt(squares / np.float32(width) + epsilon))
        if kind == RMS:
            for j in range(width):
                made[j] = line[j] * (gain[j] * scale)
        else:
            for j in range(width):
                made[j] = (line[j] - mean) * scale * gain[j] + bias[j]
