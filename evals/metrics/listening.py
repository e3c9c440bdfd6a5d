"""Backchannels of the agent, and what it does about sounds of the user that are not for it."""

from __future__ import annotations

from collections.abc import Sequence

from evals.backchannels import Rule
from evals.conversation import SIDE_SOUNDS, Annotation, ChannelName
from evals.events import event
from evals.intervals import EPSILON_S, Interval, active_at, at_least, at_most, starting_in, total
from evals.metrics.build import Measured, level, per, share
from evals.metrics.stopping import natural_end
from evals.results import Event, Scoring
from evals.stats import jensen_shannon, stretched, wasserstein1
from evals.thresholds import Thresholds
from evals.turns import Side, Talk

_UNSURE = "; without words a short interruption looks the same"


def measure(talk: Talk, thresholds: Thresholds, rule: Rule, reference: Sequence[float] | None) -> Measured:
    return (
        _agent_backchannels(talk, rule)
        + _timing(talk, thresholds, reference)
        + _false_yields(talk, thresholds)
        + _false_responses(talk, thresholds)
    )


def _agent_backchannels(talk: Talk, rule: Rule) -> Measured:
    found = talk.agent.asides
    named = f"backchannel rule {rule}" + ("" if talk.agent.words is not None else _UNSURE)
    speech = total(talk.user.ipus)
    minutes = talk.duration_s / 60 if speech else 0.0  # nobody to listen to: no opportunity
    metrics = (
        per(
            "backchannel_per_min",
            len(found),
            minutes,
            n=len(found),
            unit="per_min",
            rule=named,
            scoring="inferred",
        ),
        per(
            "backchannel_per_user_speech_min",
            len(found),
            speech / 60,
            n=len(found),
            unit="per_min",
            rule=named,
            scoring="inferred",
        ),
    )
    events = [_aside(talk.agent, "agent", ipu, named) for ipu in found]
    heard = [
        ipu for ipu in talk.user.asides if not any(a.span.overlap(ipu) for a in talk.annotated(*SIDE_SOUNDS))
    ]
    return Measured(metrics, (*events, *(_aside(talk.user, "user", ipu, named) for ipu in heard)))


def _aside(side: Side, channel: ChannelName, ipu: Interval, rule: str) -> Event:
    kind = "short_overlap" if side.words is None else "backchannel"
    metric = "backchannel_per_min" if channel == "agent" else "false_yield_rate"
    return event(kind, channel, ipu, side.words, value=ipu.duration, metric=metric, rule=rule)


def histogram(onsets: Sequence[float], duration_s: float, window_s: float) -> list[float]:
    """How many onsets fall into each window of the recording."""
    bins = [0.0] * max(1, -(-round(duration_s * 1e6) // round(window_s * 1e6)))
    for onset in onsets:
        bins[min(int((onset + EPSILON_S) / window_s), len(bins) - 1)] += 1
    return bins


def _timing(talk: Talk, thresholds: Thresholds, reference: Sequence[float] | None) -> Measured:
    """Against a human histogram of the same stimulus, stretched to the recording's length."""
    rule = f"{thresholds.jsd_window_s:g} s windows, square root, natural logarithm"
    onsets = [ipu.start for ipu in talk.agent.asides]
    if reference is None:
        return Measured()
    seen = histogram(onsets, talk.duration_s, thresholds.jsd_window_s)
    human = stretched(reference, len(seen))
    distance = jensen_shannon(seen, human, thresholds.jsd_epsilon) if onsets else None
    times = [(n + 0.5) * thresholds.jsd_window_s for n in range(len(human))]
    apart = _weighted_w1(onsets, times, human) if onsets and sum(human) > 0 else None
    return Measured(
        (
            level("backchannel_jsd", distance, "nat", rule, "annotated"),
            level(
                "fdb_backchannel_jsd",
                1.0 if distance is None else distance,
                "nat",
                "FDB: 1 without any",
                "annotated",
            ),
            level("backchannel_w1", apart, "s", "Wasserstein-1 of onset times", "annotated"),
        )
    )


def _weighted_w1(onsets: Sequence[float], times: Sequence[float], weights: Sequence[float]) -> float:
    """Between onsets and a histogram, by a sample of a thousand of the histogram's quantiles."""
    share_of, reached = sum(weights), 0.0
    sample: list[float] = []
    for time, weight in zip(times, weights, strict=True):
        reached += weight
        sample += [time] * (round(1000 * reached / share_of) - len(sample))
    return wasserstein1(onsets, sample)


def yields_to(talk: Talk, onset_s: float, thresholds: Thresholds) -> bool:
    """The agent falls silent for long enough, beginning soon after a sound of the user."""
    speech = talk.agent.speech
    current = active_at(speech, onset_s)
    following = list(starting_in(speech, onset_s, talk.duration_s))
    if current is not None and current not in following:
        following.insert(0, current)
    for ipu, after in zip(following, [*following[1:], None], strict=True):
        if not at_most(ipu.end - onset_s, thresholds.false_yield_s):
            return False
        silence = (after.start if after else talk.duration_s) - ipu.end
        if at_least(silence, thresholds.stop_silence_s):
            return True
    return False


def _false_yields(talk: Talk, thresholds: Thresholds) -> Measured:
    """Annotated side sounds alone where there are any, else the user's backchannels."""
    told = talk.annotated(*SIDE_SOUNDS)
    scoring: Scoring = "annotated" if told else "inferred"
    rule = (
        f"agent silent {thresholds.stop_silence_s:g} s, from within {thresholds.false_yield_s:g} s of it on"
    )
    hits: list[bool] = []
    events: list[Event] = []
    spans = [_heard(talk, a) for a in told] if told else list(talk.user.asides)
    for span in spans:
        if active_at(talk.agent.speech, span.start) is None:
            continue
        yielded = yields_to(talk, span.start, thresholds)
        finished = yielded and _had_finished(talk, span.start)
        if not finished:
            hits.append(yielded)
        events.append(
            event(
                "user_sound",
                "user",
                span,
                talk.user.words,
                value=float(yielded),
                unit="share",
                metric="false_yield_rate",
                rule=rule,
                scoring=scoring,
                evaluable=not finished,
                why_not="the agent had finished its sentence" if finished else "",
            )
        )
    return Measured((share("false_yield_rate", hits, rule, scoring),), tuple(events))


def _heard(talk: Talk, annotation: Annotation) -> Interval:
    """The annotated span from where the user is first heard in it: clips begin with silence."""
    inside = [ipu for ipu in talk.user.ipus if ipu.overlap(annotation.span) > 0]
    start = max(annotation.span.start, inside[0].start) if inside else annotation.span.start
    return Interval(start, max(start, annotation.span.end))


def _had_finished(talk: Talk, onset_s: float) -> bool:
    last = active_at(talk.agent.speech, onset_s)
    return last is not None and natural_end(talk.agent, last.end)


def _false_responses(talk: Talk, thresholds: Thresholds) -> Measured:
    """Annotated only: no sound alone tells whom it is for."""
    told = talk.annotated("talk_to_other", "background", "tic")
    rule = f"agent's onset within {thresholds.false_response_s:g} s of a sound that is not for it"
    hits: list[bool] = []
    events: list[Event] = []
    for annotation in told:
        span = _heard(talk, annotation)
        if active_at(talk.agent.speech, span.start) is not None:
            continue
        window = Interval(span.start, span.end + thresholds.false_response_s)
        due = any(
            window.start <= turn.end + thresholds.false_response_s and turn.end <= window.end
            for turn in talk.user.turns
        )
        onsets = starting_in(talk.agent.speech, window.start, window.end)
        if not due:
            hits.append(bool(onsets))
        events.append(
            event(
                "side_sound",
                "user",
                annotation.span,
                talk.user.words,
                value=float(bool(onsets)),
                unit="share",
                metric="false_response_rate",
                rule=rule,
                scoring="annotated",
                evaluable=not due,
                why_not="a turn of the user ends nearby" if due else "",
            )
        )
    return Measured((share("false_response_rate", hits, rule, "annotated"),), tuple(events))
