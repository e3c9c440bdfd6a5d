"""How many sessions a machine holds, by memory, by bandwidth and by deadline, and what a minute costs.

A step reads every weight once and every session's past once; nothing can be quicker than that
(the floor). Refuses to know how sizes were found.
"""

from __future__ import annotations

from dataclasses import dataclass

from model.capacity.cards import Card
from model.capacity.sizes import Sizes

FRAME_S = 0.08
SLACK = 1.5
"""A good step takes this many times the floor."""
BUSY = 0.6
"""Share of a frame that a step may take, for everyone to be on time."""
FRAMES_A_MINUTE = 750


def mean_frames(sizes: Sizes, minutes: float) -> float:
    """Mean context of a call of this length over its life: it grows, then slides."""
    frames = minutes * FRAMES_A_MINUTE
    if frames <= sizes.context:
        return frames / 2
    return sizes.context * (1 - sizes.context / (2 * frames))


@dataclass(frozen=True, slots=True)
class Bounds:
    """Sessions that fit, by what limits them, at one mean context."""

    memory: int
    bandwidth: int
    deadline: int

    @property
    def sessions(self) -> int:
        return max(0, min(self.memory, self.bandwidth, self.deadline))


def floor_s(sizes: Sizes, card: Card, sessions: int, frames: float) -> float:
    """Seconds that a step of these sessions at this mean context takes at the very least."""
    seen = min(frames, sizes.context)
    moved = sizes.read + sessions * (sizes.kv_frame * seen + 2 * sizes.codec_state)
    multiplied = 2 * sizes.read / sizes.read_itemsize * sessions
    return float(max(moved / card.bandwidth, multiplied / card.flops))


def bounds(sizes: Sizes, card: Card, frames: float, worst_frames: float) -> Bounds:
    """frames: mean context, which sets the time. worst_frames: longest, for which memory is kept."""
    free = card.memory - card.spare - sizes.weights
    return Bounds(
        int(free // sizes.session(int(min(worst_frames, sizes.context)))),
        _most(sizes, card, frames, FRAME_S),
        _most(sizes, card, frames, BUSY * FRAME_S / SLACK),
    )


def _most(sizes: Sizes, card: Card, frames: float, budget_s: float) -> int:
    most = 0
    while most < 100_000 and floor_s(sizes, card, most + 1, frames) <= budget_s:
        most += 1
    return most


def cost_of_minute(price_per_hour: float, sessions: int) -> float | None:
    """Of one call, in the price's currency; None where no session fits."""
    return price_per_hour / 60 / sessions if sessions else None
