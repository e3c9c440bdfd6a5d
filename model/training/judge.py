"""Whether the agent did in a scene what it should. Pure, on the scene and the reply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from audio.frames import FRAME_RATE
from model.training.calls import Reply
from model.training.counts import spoken_words
from model.training.dialogue import REPEAT
from model.training.scenes import Scene
from model.training.verdicts import Activity, beginning_errors, topic_of

EARLY_S = 0.2
"""Speech that begins so shortly before the user's end does not count as speaking over it."""
OVER = 0.05
"""Of the user's speech: more of it spoken over is speaking over the user."""
STOP_S = 1.0
ANSWER_S = 3.0
"""An answer must begin this soon to be one."""
BETWEEN_SENTENCES_S = 0.8


@dataclass(slots=True)
class Outcome:
    """checks: by name, True where right, None where the question does not arise."""

    said: str
    heard_as: str | None
    latency_s: float | None = None
    checks: dict[str, bool | None] = field(default_factory=dict)

    def told(self) -> dict[str, Any]:
        return {"said": self.said, "as": self.heard_as, "latency_s": self.latency_s, "checks": self.checks}


def judge(scene: Scene, reply: Reply, answers: Mapping[str, Sequence[str]]) -> Outcome:
    activity = Activity.of(reply.samples)
    said = reply.said(int((scene.end_s - EARLY_S) * FRAME_RATE)) if scene.end_s else reply.said()
    head, rest = _two_answers(said, answers[REPEAT]) if scene.kind == "repeat" else (said, "")
    outcome = Outcome(said, topic_of(head, answers))
    if scene.kind == "silence":
        outcome.checks["says something by itself"] = outcome.heard_as == "silence"
        return outcome
    if scene.kind == "listener":
        began = reply.said(int((scene.end_s - EARLY_S) * FRAME_RATE), int(scene.second_s[0] * FRAME_RATE))
        outcome.heard_as = topic_of(began, answers)
        return _listener(scene, activity, outcome)
    if scene.kind == "barge-in":
        _barge_in(scene, activity, outcome)
    begun = activity.first(scene.end_s - EARLY_S)
    if begun is not None:
        outcome.latency_s = round(begun - scene.end_s, 3)
    _answered(scene, activity, outcome)
    if scene.kind == "repeat":
        again = topic_of(rest, answers)
        last = topic_of(reply.said(0, int(scene.start_s * FRAME_RATE)), answers)
        outcome.checks["says the last answer again"] = None if last is None else again == last
    return outcome


def _two_answers(said: str, first: Sequence[str]) -> tuple[str, str]:
    """What was said as one of the `first` answers and another behind it."""
    words = spoken_words(said)
    counts = [len(spoken_words(line)) for line in first]
    wrong = [
        beginning_errors(words[:count], spoken_words(line)) for count, line in zip(counts, first, strict=True)
    ]
    count = counts[wrong.index(min(wrong))]
    return " ".join(words[:count]), " ".join(words[count:])


def _answered(scene: Scene, activity: Activity, outcome: Outcome) -> None:
    late = outcome.latency_s
    outcome.checks["answered"] = late is not None and late <= ANSWER_S
    outcome.checks["right answer"] = outcome.heard_as == scene.asked
    if scene.kind != "barge-in":
        over = activity.within(scene.start_s, scene.end_s - EARLY_S)
        outcome.checks["silent while the user spoke"] = over <= OVER
    if scene.kind == "pause" and scene.pause_s[1]:
        start_s, end_s = scene.pause_s
        outcome.checks["silent in the pause"] = activity.within(start_s, end_s + EARLY_S) == 0.0


def _barge_in(scene: Scene, activity: Activity, outcome: Outcome) -> None:
    """Only where the agent talked when the user broke in."""
    start_s = scene.second_s[0]
    if activity.within(start_s - 0.3, start_s) == 0.0:
        outcome.checks |= {"stopped within 1 s": None}
        return
    quiet_s = activity.silent_from(start_s)
    outcome.checks["stopped within 1 s"] = quiet_s is not None and quiet_s - start_s <= STOP_S


def _listener(scene: Scene, activity: Activity, outcome: Outcome) -> Outcome:
    """Only where the agent talked before, and its answer was the long one it was asked for."""
    start_s, end_s = scene.second_s
    if activity.within(start_s - 0.3, start_s) == 0.0 or outcome.heard_as not in ("story", "count"):
        outcome.checks["went on talking"] = None
        return outcome
    quiet_s = activity.silent_from(start_s, BETWEEN_SENTENCES_S)
    outcome.checks["went on talking"] = quiet_s is None or quiet_s > end_s + STOP_S
    return outcome
