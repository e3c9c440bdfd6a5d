"""Where a channel is active: the first layer, from energy, Silero, words or a log.

Pure but for the network behind `silero`. Refuses to know turns and the other channel.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from evals import silero
from evals.conversation import RATE, ChannelName, Conversation, InputError, Samples
from evals.intervals import Interval, Intervals, active_at, at_least, at_most, union
from evals.thresholds import Thresholds

Detector = Literal["energy", "silero", "silero-refined", "words", "log"]
DETECTORS: tuple[Detector, ...] = ("energy", "silero", "silero-refined", "words", "log")
"""silero has edges on a grid of 32 ms; silero-refined moves them to the energy detector's where near."""

ERROR_MS: dict[Detector, float] = {
    "energy": 50.0,
    "silero": 90.0,
    "silero-refined": 90.0,
    "words": 500.0,
    "log": 0.0,
}
"""How far an edge may be off, measured on synthetic speech with hard cuts at a -80 dBFS floor; words
after a silence may start half a second early (faster-whisper issues 120 and 125). A log is taken at
its word."""

_SILENT_DBFS = -120.0
_PIECE_HOPS = 6_000


@dataclass(frozen=True, slots=True)
class Levels:
    """Mean square of every whole hop in dBFS (a full-scale square wave is 0), and the floor under it."""

    dbfs: npt.NDArray[np.float64]
    noise_floor_dbfs: float
    hop_s: float


def levels(samples: Samples, thresholds: Thresholds) -> Levels:
    """The last hop may be shorter than the others."""
    hop = round(RATE * thresholds.hop_s)
    found = []
    for start in range(0, len(samples), hop * _PIECE_HOPS):
        piece = samples[start : start + hop * _PIECE_HOPS].astype(np.float64)
        squares = np.add.reduceat(piece * piece, np.arange(0, len(piece), hop))
        squares[:-1] /= hop
        squares[-1] /= len(piece) % hop or hop
        found.append(squares)
    dbfs = 10 * np.log10(np.maximum(np.concatenate(found), 10 ** (_SILENT_DBFS / 10)))
    return Levels(dbfs, float(np.percentile(dbfs, thresholds.noise_percentile)), hop / RATE)


def energy(level: Levels, duration_s: float, thresholds: Thresholds) -> Intervals:
    """Active where a hop is louder than the threshold."""
    above_noise = level.noise_floor_dbfs + thresholds.energy_above_noise_db
    limit = min(max(thresholds.energy_floor_dbfs, above_noise), thresholds.energy_ceiling_dbfs)
    return long_enough(_runs(level.dbfs > limit, level.hop_s, duration_s), thresholds)


def silero_speech(samples: Samples, thresholds: Thresholds) -> Intervals:
    """Active where the network's probability is above the threshold; nothing is padded or bridged."""
    speech = silero.probabilities(samples) > thresholds.silero_threshold
    return _runs(speech, silero.CHUNK_S, len(samples) / RATE)


def refined(coarse: Intervals, fine: Intervals, thresholds: Thresholds) -> Intervals:
    """Each edge of `coarse` moved to one of the same kind in `fine`, if there is one near.

    That of the stretch of `fine` that the edge lies in, before the nearest one.
    """
    starts, ends = [i.start for i in fine], [i.end for i in fine]
    moved = []
    for interval in coarse:
        first, last = active_at(fine, interval.start), active_at(fine, interval.end)
        start = _near(interval.start, starts, first.start if first else None, thresholds.refine_s)
        end = _near(interval.end, ends, last.end if last else None, thresholds.refine_s)
        moved.append(Interval(start, end) if end > start else interval)
    return union(moved)


def long_enough(activity: Intervals, thresholds: Thresholds) -> Intervals:
    """Without what is too short to be speech."""
    return tuple(i for i in activity if at_least(i.duration, thresholds.activity_min_s))


def detect(
    conversation: Conversation, channel: ChannelName, detector: Detector, thresholds: Thresholds
) -> tuple[Intervals, Levels]:
    """The channel's activity, and its levels for whoever measures them too.

    Raises InputError where the layer needs what the conversation has not.
    """
    samples = conversation.samples(channel)
    level = levels(samples, thresholds)
    if detector in ("words", "log"):
        return long_enough(_told(conversation, channel, detector), thresholds), level
    if detector == "energy":
        return energy(level, conversation.duration_s, thresholds), level
    speech = silero_speech(samples, thresholds)
    if detector == "silero-refined" and level.noise_floor_dbfs <= thresholds.refine_noise_max_dbfs:
        speech = refined(speech, energy(level, conversation.duration_s, thresholds), thresholds)
    return long_enough(speech, thresholds), level


def version(detector: Detector) -> str:
    """Which code found the activity."""
    return silero.version() if detector in ("silero", "silero-refined") else "1"


def _told(conversation: Conversation, channel: ChannelName, detector: Detector) -> Intervals:
    if detector == "log":
        if channel not in conversation.activity:
            raise InputError(f"activity log needs the {channel}'s speech in a log, and there is none")
        return union(conversation.activity[channel])
    if channel not in conversation.words:
        raise InputError(f"activity words needs the {channel}'s words, and there are none")
    return union(Interval(word.start, word.end) for word in conversation.words[channel])


def _runs(active: npt.NDArray[np.bool_], hop_s: float, duration_s: float) -> Intervals:
    """The stretches of True, in seconds."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], active, [False])).astype(np.int8)))
    times = [min(round(float(edge) * hop_s, 6), duration_s) for edge in edges]
    return tuple(Interval(a, b) for a, b in zip(times[::2], times[1::2], strict=True) if b > a)


def _near(time: float, edges: list[float], first_choice: float | None, reach_s: float) -> float:
    """The first choice or else the nearest of the sorted edges, if within reach, or the time itself."""
    if first_choice is not None and at_most(abs(first_choice - time), reach_s):
        return first_choice
    at = bisect_left(edges, time)
    nearest = min(edges[max(0, at - 1) : at + 1], key=lambda edge: abs(edge - time), default=time)
    return nearest if at_most(abs(nearest - time), reach_s) else time
