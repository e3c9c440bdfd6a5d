"""Faults of the channels themselves: bleed, clipping, offset, dropouts, cut-offs.

Samples and activity in, metrics and events out. Refuses to know turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evals.activity import Levels
from evals.conversation import CHANNELS, RATE, ChannelName, Conversation, Samples
from evals.events import event
from evals.intervals import Interval, Intervals, at_least
from evals.metrics.build import Measured, distribution, level, per
from evals.results import Event, Metric
from evals.thresholds import Thresholds

_BLOCK = RATE * 60
_LAG_MAX_S = 0.5
_LAG_SPAN_S = 8.0
_CORRELATION_MIN = 0.05
_OWN_SPEECH_DB = -6.0
_OVER_NOISE_DB = 6.0


@dataclass(frozen=True, slots=True)
class Ears:
    """One channel as it was heard: its IPUs and levels."""

    ipus: Intervals
    level: Levels


def measure(conversation: Conversation, user: Ears, agent: Ears, thresholds: Thresholds) -> Measured:
    found = Measured()
    for channel in CHANNELS:
        found += _channel(conversation, channel, thresholds)
    found += _bleed(conversation, user, agent, thresholds)
    found += _dropouts(conversation.agent, agent.ipus, conversation.duration_s, thresholds)
    return found + _cutoffs(agent, conversation.duration_s, thresholds)


def _channel(conversation: Conversation, channel: ChannelName, thresholds: Thresholds) -> Measured:
    samples = conversation.samples(channel)
    clipped, added = 0, 0.0
    for start in range(0, len(samples), _BLOCK):
        block = samples[start : start + _BLOCK]
        clipped += int(np.count_nonzero(np.abs(block) >= thresholds.clip_level))
        added += float(block.sum(dtype=np.float64))
    rule = f"samples at {thresholds.clip_level:g} of full scale or above"
    return Measured(
        (
            per(f"clipping_ratio_{channel}", clipped, len(samples), n=clipped, unit="share", rule=rule),
            level(f"dc_offset_{channel}", added / len(samples), "share", "mean sample, full scale 1"),
        )
    )


def _bleed(conversation: Conversation, user: Ears, agent: Ears, thresholds: Thresholds) -> Measured:
    """Each channel's level while the other speaks and it does not itself, less the other's level then.

    A channel that is less than 6 dB under the other's counts as speaking itself: its own activity
    cannot tell, for loud bleed is active too.
    """
    metrics: list[Metric] = []
    heard: dict[ChannelName, tuple[float, npt.NDArray[np.bool_]]] = {}
    pairs: tuple[tuple[ChannelName, Ears, Ears], ...] = (("user", user, agent), ("agent", agent, user))
    for channel, here, there in pairs:
        under = here.level.dbfs - there.level.dbfs
        alone = _hops(there.ipus, there.level) & (under < _OWN_SPEECH_DB)
        found = under[alone]
        p50, p90 = (float(q) for q in np.quantile(found, (0.5, 0.9))) if found.size else (None, None)
        if p50 is not None:
            heard[channel] = p50, alone
        rule = (
            f"level under the other's while it alone speaks; unreliable above {thresholds.bleed_max_db:g} dB"
        )
        metrics += [
            level(f"bleed_db_{channel}", p50, "dB", f"p50 of {rule}"),
            level(f"bleed_p90_db_{channel}", p90, "dB", f"p90 of {rule}"),
        ]
    loudest = max(heard, key=lambda channel: heard[channel][0], default=None)
    lag = None
    if loudest is not None:
        hop = round(user.level.hop_s * RATE)
        lag = correlation_lag(conversation.user, conversation.agent, heard[loudest][1], hop)
    rule = (
        "where the channels correlate most while one alone speaks, that which is heard more in the other,"
        f" if by {_CORRELATION_MIN:g} or more; positive: agent later"
    )
    return Measured((*metrics, level("bleed_lag", lag, "s", rule)))


def bleeding(found: Sequence[Metric], user: Levels, agent: Levels, thresholds: Thresholds) -> tuple[str, ...]:
    """A line for each channel in which the other is heard, and not merely noise."""
    lines = []
    values = {m.id: m.value for m in found}
    for channel, floor, other in (("user", user, agent), ("agent", agent, user)):
        value = values.get(f"bleed_db_{channel}")
        if value is None or value <= thresholds.bleed_max_db:
            continue
        if value + float(np.percentile(other.dbfs, 95)) < floor.noise_floor_dbfs + _OVER_NOISE_DB:
            continue
        lines.append(
            f"the {channel} channel carries the other at {value:.1f} dB: its timing is not to be relied on"
        )
    return tuple(lines)


def correlation_lag(user: Samples, agent: Samples, alone: npt.NDArray[np.bool_], hop: int) -> float | None:
    """Seconds by which the agent's channel repeats the user's, in 8 s from the first hop that is `alone`.

    alone: whether one speaks alone, for each hop of `hop` samples; the others are silence here.
    """
    if not alone.any():
        return None
    start = int(np.argmax(alone)) * hop
    inside = np.repeat(alone, hop)[start : start + round(_LAG_SPAN_S * RATE)]
    inside = inside[: len(user) - start]
    a, b = (
        np.where(inside, channel[start : start + len(inside)], np.float64(0)) for channel in (user, agent)
    )
    scale = float(np.sqrt((a @ a) * (b @ b)))
    if scale == 0:
        return None
    reach = min(round(_LAG_MAX_S * RATE), len(a) - 1)
    size = 1 << (len(a) + reach - 1).bit_length()  # what wraps around is beyond the reach
    both = np.fft.irfft(np.conj(np.fft.rfft(a, size)) * np.fft.rfft(b, size), size)
    near = np.concatenate((both[size - reach :], both[: reach + 1])) / scale
    best = int(np.argmax(np.abs(near)))
    return (best - reach) / RATE if abs(near[best]) >= _CORRELATION_MIN else None


def _hops(spans: Intervals, level: Levels) -> npt.NDArray[np.bool_]:
    inside = np.zeros(len(level.dbfs), bool)
    for span in spans:
        inside[round(span.start / level.hop_s) : round(span.end / level.hop_s)] = True
    return inside


def _dropouts(samples: Samples, ipus: Intervals, duration_s: float, thresholds: Thresholds) -> Measured:
    """Exact zeros with sound on both sides, inside the agent's speech."""
    rule = f"{thresholds.dropout_s * 1000:g} ms or more of exact zeros inside the agent's IPUs"
    found = [run for ipu in ipus for run in zero_runs(samples, ipu, thresholds.dropout_s)]
    minutes = duration_s / 60
    metric = per("dropouts_per_min", len(found), minutes, n=len(found), unit="per_min", rule=rule)
    events = [
        event("dropout", "agent", run, value=run.duration, metric=metric.id, rule=rule, scoring="measured")
        for run in found
    ]
    return Measured((metric,), tuple(events))


def zero_runs(samples: Samples, span: Interval, least_s: float) -> list[Interval]:
    """Runs of exact zeros within a span that do not touch its edges."""
    first = round(span.start * RATE)
    silent = samples[first : round(span.end * RATE)] == 0
    edges = np.flatnonzero(np.diff(np.concatenate(([False], silent, [False])).astype(np.int8)))
    runs = [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]
    inside = [(a, b) for a, b in runs if a > 0 and b < len(silent) and at_least((b - a) / RATE, least_s)]
    return [Interval((first + a) / RATE, (first + b) / RATE) for a, b in inside]


def _cutoffs(agent: Ears, duration_s: float, thresholds: Thresholds) -> Measured:
    """Ends of the agent's IPUs at which the level falls suddenly; the end of the file is none."""
    rule = (
        f"{thresholds.cutoff_db:g} dB down in {thresholds.cutoff_s * 1000:g} ms at the end of an agent's IPU"
    )
    ends = [ipu.end for ipu in agent.ipus if not at_least(ipu.end, duration_s)]
    falls = [(end, _fall(end, agent.level, thresholds)) for end in ends]
    sudden = [(end, fall) for end, fall in falls if at_least(fall, thresholds.cutoff_db)]
    events: list[Event] = [
        event(
            "cutoff",
            "agent",
            Interval(end, end),
            value=fall,
            unit="dB",
            metric="cutoff_rate",
            scoring="measured",
        )
        for end, fall in sudden
    ]
    metrics = (
        per("cutoff_rate", len(sudden), len(ends), n=len(ends), unit="share", rule=rule),
        distribution("cutoff_fall", (fall for _, fall in falls), rule, "measured", unit="dB"),
    )
    return Measured(metrics, tuple(events))


def _fall(end_s: float, level: Levels, thresholds: Thresholds) -> float:
    """The greatest fall over the given time that begins within that time of the end."""
    span = round(thresholds.cutoff_s / level.hop_s)
    at = round(end_s / level.hop_s)
    starts = range(max(0, at - span), min(at + 1, len(level.dbfs) - span))
    return max((float(level.dbfs[n] - level.dbfs[n + span]) for n in starts), default=0.0)


def drift(clocks: Sequence[tuple[float, float]]) -> Measured:
    """Of two clocks that a sidecar logged side by side."""
    rule = "how much faster the second logged clock runs"
    return Measured((level("drift_ppm", drift_ppm(clocks), "ppm", rule),))


def drift_ppm(clocks: Sequence[tuple[float, float]]) -> float | None:
    """How much faster the second clock runs than the first, by least squares over pairs of seconds."""
    if len(clocks) < 2:
        return None
    first, second = np.asarray(clocks, np.float64).T
    first, second = first - first.mean(), second - second.mean()
    spread = float(first @ first)
    return float((first @ second) / spread - 1) * 1e6 if spread > 0 else None
