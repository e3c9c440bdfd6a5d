"""Is the user answered, and how soon: per end of a user's turn, inferred or annotated."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from evals.events import event
from evals.intervals import Interval, at_most, starting_in
from evals.metrics.build import Measured, distribution, share
from evals.metrics.transfers import transfers
from evals.results import Event, Metric, Scoring
from evals.thresholds import Thresholds
from evals.turns import Talk

UNDER_S = (0.2, 0.5, 0.7)
OVER_S = (1.0, 2.0)
_ANNOTATION_REACH_S = 1.0


@dataclass(frozen=True, slots=True)
class Response:
    """What became of the end of a user's turn. latency_s: None where unanswered or not comparable."""

    turn: Interval
    answered: bool
    censored: bool = False
    latency_s: float | None = None


def responses(talk: Talk, thresholds: Thresholds) -> tuple[Response, ...]:
    """One for each user's turn.

    Answered: an agent's turn begins after the user's turn did and before the user speaks again, within
    the window, and lasts longer than the user's turn. Censored: the file ends before either.
    """
    offsets = {t.before: t.offset_s for t in transfers(talk, thresholds) if t.to == "agent" and t.tag == ""}
    return tuple(_response(talk, turn, offsets, thresholds) for turn in talk.user.turns)


def _response(talk: Talk, turn: Interval, offsets: dict[Interval, float], thresholds: Thresholds) -> Response:
    window_end = turn.end + thresholds.response_window_s
    following = starting_in(talk.user.turns, turn.end, float("inf"))
    limit = min(window_end, following[0].start) if following else window_end
    starts = starting_in(talk.answers, turn.start, limit)
    if turn in offsets and at_most(offsets[turn], thresholds.response_window_s):
        return Response(turn, True, latency_s=offsets[turn])
    if any(answer.end > turn.end and answer.start > turn.start for answer in starts):
        return Response(turn, True)
    return Response(turn, False, censored=limit > talk.duration_s)


def measure(talk: Talk, thresholds: Thresholds) -> Measured:
    """By the annotated turn ends alone where there are any, else by every turn."""
    found = responses(talk, thresholds)
    told = talk.annotated("turn_end")
    scoring: Scoring = "annotated" if told else "inferred"
    unheard: list[Interval] = []
    if told:
        found, unheard = _nearest(found, [a.span for a in told])
    known = [r for r in found if not r.censored]
    censored = len(found) - len(known)
    latencies = [r.latency_s for r in known if r.latency_s is not None]
    rule = f"an agent's turn within {thresholds.response_window_s:g} s and before the user's next"
    metrics = (
        share("response_rate", (r.answered for r in known), rule, scoring, censored=censored),
        share("no_response_rate", (not r.answered for r in known), rule, scoring, censored=censored),
        distribution("response_latency", latencies, "offset of answered turns, signed", scoring),
        *_shares(latencies, scoring),
        distribution(
            "greeting_s", [t.duration for t in talk.greeting], "agent's turns before the user's first"
        ),
    )
    return Measured(metrics, (*_events(found, scoring), *map(_unheard, unheard)))


def _nearest(
    found: tuple[Response, ...], spans: list[Interval]
) -> tuple[tuple[Response, ...], list[Interval]]:
    """The turn that ends nearest to each annotated end within a second, and the ends without one."""
    kept, unheard = [], []
    for span in spans:
        near = min(found, key=lambda r: abs(r.turn.end - span.start), default=None)
        if near is not None and abs(near.turn.end - span.start) <= _ANNOTATION_REACH_S:
            kept.append(near)
        else:
            unheard.append(span)
    return tuple(dict.fromkeys(kept)), unheard


def _unheard(span: Interval) -> Event:
    return event(
        "no_response",
        "agent",
        span,
        metric="response_rate",
        scoring="annotated",
        evaluable=False,
        why_not="no turn of the user is heard to end near the annotated end",
    )


def _shares(latencies: list[float], scoring: Scoring) -> list[Metric]:
    rows = [share("response_share_below_0_ms", (v < 0 for v in latencies), "of answered turns", scoring)]
    for limit in UNDER_S:
        name = f"response_share_under_{round(limit * 1000)}_ms"
        rows.append(share(name, (v < limit for v in latencies), "of answered turns", scoring))
    for limit in OVER_S:
        name = f"response_share_over_{round(limit * 1000)}_ms"
        rows.append(share(name, (v > limit for v in latencies), "of answered turns", scoring))
    return rows


def _events(found: tuple[Response, ...], scoring: Scoring) -> Iterable[Event]:
    for response in found:
        if not response.answered:
            yield event(
                "no_response",
                "agent",
                Interval(response.turn.end, response.turn.end),
                metric="response_rate",
                scoring=scoring,
                censored=response.censored,
                evaluable=not response.censored,
                why_not="the file ends before the window does" if response.censored else "",
            )
