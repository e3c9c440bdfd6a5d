"""The machines a model can be put on, as their makers or a measurement give them. Data, no code.

H200: bandwidth as measured with copies; its data sheet says 4.8 TB/s. cpu: two memory channels of
DDR4-3200 at half their peak, a guess that `--bandwidth` replaces.
"""

from __future__ import annotations

from dataclasses import dataclass

GIB = 1024**3


@dataclass(frozen=True, slots=True)
class Card:
    """bandwidth: bytes a second. flops: of dense bfloat16, a second. spare: bytes left for a step's work."""

    name: str
    memory: float
    bandwidth: float
    flops: float
    spare: float = 4 * GIB


CARDS = {
    card.name: card
    for card in (
        Card("h100", 79.6 * GIB, 3.35e12, 790e12),
        Card("h200", 139 * GIB, 4.3e12, 790e12),
        Card("l40s", 44.5 * GIB, 0.864e12, 362e12),
        Card("a100", 79.3 * GIB, 2.04e12, 312e12),
        Card("l4", 22.5 * GIB, 0.30e12, 121e12),
        Card("cpu", 16 * GIB, 25e9, 0.1e12, spare=1 * GIB),
    )
}
