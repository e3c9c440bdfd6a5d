"""What was known at the end of a conversation, as session.json. Pure: a record in, plain data out.

Nothing in it depends on the machine or the day where the input was the clock (pace lockstep); what does,
stands under `live`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from audio.frames import FRAME_SAMPLES, SAMPLE_RATE
from duet_client.transcript import words
from evals.driver.annotations import annotate
from evals.driver.converse import Record
from evals.driver.cues import Cue, State
from evals.driver.playout import Playout
from evals.driver.settings import Plan

FORMAT, VERSION = "duet-conversation", 1
_FROM_SERVER = (
    "text_temperature",
    "text_top_k",
    "audio_temperature",
    "audio_top_k",
    "seed",
    "lag_frames",
    "trained",
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an attempt. error: why it is no better than its status.

    failures: of earlier attempts at the same conversation. live: what the wall clock knows, None in lockstep.
    """

    status: str
    error: str | None = None
    failures: tuple[str, ...] = ()
    live: dict[str, Any] | None = None


def summary(plan: Plan, record: Record, outcome: Outcome) -> dict[str, Any]:
    end = len(record.user) * FRAME_SAMPLES
    options = record.session.get("duet")
    options = options if isinstance(options, dict) else {}
    return {
        "format": FORMAT,
        "version": VERSION,
        "id": plan.id,
        "scenario": plan.scenario.name,
        "behaviour": plan.scenario.behaviour,
        "take": plan.take,
        "status": outcome.status,
        "error": outcome.error,
        "attempts": len(outcome.failures) + 1,
        "failures": list(outcome.failures),
        "fingerprint": plan.fingerprint,
        "model": {"name": record.session.get("model")}
        | {k: options[k] for k in _FROM_SERVER if k in options},
        "origin": "ear",
        "pace": plan.settings.pace,
        "sample_rate": SAMPLE_RATE,
        "duration_s": _seconds(end),
        "channels": ["user", "agent"],
        "files": {"conversation": "conversation.wav", "user": "input.wav", "agent": "output.wav"},
        "annotations": [note.to_json() for note in annotate(record.engine.cues, end)],
        "cues": [_cue(cue) for cue in record.engine.cues],
        "words": {"agent": _words(record)},
        "playout": _playout(record.playout, plan.settings.playout_lead_s),
        "behind": _behind(record.arrivals),
        "clipped_user_samples": record.engine.voice.clipped,
        "closed": record.closed,
        "notices": record.notices,
        "settings": plan.settings.to_json() | {"sampling_seed": plan.sampling.seed},
        "live": outcome.live,
    }


def lateness(late_s: Sequence[float]) -> dict[str, float | None]:
    """How long after their time frames left; a driver that is late measures itself."""
    return _quantiles_ms("send_late_", late_s)


def cue_timeouts(session: dict[str, Any]) -> int:
    return sum(bool(cue["timed_out"]) for cue in session["cues"])


def _cue(cue: Cue) -> dict[str, Any]:
    said = cue.state is State.DUE
    counts_from = None if cue.counts_from is None else _seconds(cue.counts_from)
    return {
        "id": cue.say.id,
        "state": "said" if said else cue.state.value,
        "timed_out": cue.timed_out,
        "counts_from": counts_from,
        "start": _seconds(cue.start) if said else None,
        "end": _seconds(cue.end) if said else None,
    }


def _words(record: Record) -> list[dict[str, Any]]:
    """The agent's own words where they are heard; those that nobody heard before the end are left out."""
    found = []
    end_s = len(record.user) * FRAME_SAMPLES / SAMPLE_RATE
    for word in words(record.text):
        start = record.playout.ear_s(word.start_ms / 1000)
        last = record.playout.ear_s(word.end_ms / 1000 - 1 / SAMPLE_RATE)
        if start is not None and last is not None and start < end_s:
            end = min(last + 1 / SAMPLE_RATE, end_s)
            found.append({"word": word.text, "start": round(start, 6), "end": round(end, 6)})
    return found


def _behind(arrivals: Sequence[dict[str, Any]]) -> dict[str, float | None]:
    """How long after its 80 ms were over a piece of the agent's came: the network's reading of the delay.

    For agents that send a frame for each frame they get; one that sends only speech has gaps in here.
    """
    late = [
        each["arrival_s"] - (each["stream"] + each["samples"]) / SAMPLE_RATE
        for each in arrivals
        if each["kind"] == "audio"
    ]
    return _quantiles_ms("", late)


def _playout(playout: Playout, lead_s: float) -> dict[str, Any]:
    return {"lead_s": lead_s, "gaps": playout.gaps, "gap_s": _seconds(playout.gap_samples)}


def _seconds(samples: int) -> float:
    return round(samples / SAMPLE_RATE, 6)


def _quantiles_ms(prefix: str, seconds: Sequence[float]) -> dict[str, float | None]:
    """By the nearest rank: each one was really observed."""
    ranks = {"p50": 50.0, "p99": 99.0, "max": 100.0}
    if not seconds:
        return {f"{prefix}{name}_ms": None for name in ranks}
    values = np.percentile(np.asarray(seconds) * 1000, list(ranks.values()), method="higher")
    return {f"{prefix}{name}_ms": round(float(v), 3) for name, v in zip(ranks, values, strict=True)}
