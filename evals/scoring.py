"""A conversation in, its scored result out. Pure but for the network behind the silero layer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from evals import activity, content, hygiene
from evals.activity import Detector, Levels
from evals.backchannels import Rule
from evals.conversation import CHANNELS, ChannelName, Conversation
from evals.events import numbered
from evals.intervals import Intervals
from evals.metrics import (
    corpus,
    human,
    interruptions,
    listening,
    logs,
    responses,
    starts,
    takeover,
    transfers,
)
from evals.metrics.build import Measured, with_interval
from evals.results import ConversationResult, Lane, Method, Turn
from evals.thresholds import Thresholds
from evals.turns import Side, Talk, talk_of


@dataclass(frozen=True)
class Settings:
    """How to score. human_s: somebody's sample of human floor-transfer offsets.

    backchannel_reference: by conversation id, a human histogram over the recording.
    """

    detector: Detector = "silero"
    rule: Rule = "duet"
    thresholds: Thresholds = field(default_factory=Thresholds)
    human_s: tuple[float, ...] | None = None
    backchannel_reference: dict[str, tuple[float, ...]] = field(default_factory=dict)


def score(conversation: Conversation, settings: Settings, more: Measured | None = None) -> ConversationResult:
    """`more`: what others measured, such as opinions of speech quality.

    Raises InputError where the layer that was asked for needs what is not there.
    """
    thresholds = settings.thresholds
    (user, user_level), (agent, agent_level) = _both(conversation, settings)
    talk = talk_of(conversation, user, agent, settings.rule, thresholds)
    ears = hygiene.Ears(talk.user.ipus, user_level), hygiene.Ears(talk.agent.ipus, agent_level)
    faults = hygiene.measure(conversation, *ears, thresholds)
    lines = [
        *conversation.warnings,
        *hygiene.bleeding(faults.metrics, user_level, agent_level, thresholds),
        *filter(None, [logs.problem(conversation.log)]),
    ]
    found = talked(talk, settings, settings.backchannel_reference.get(conversation.id))
    found += (
        content.measure(conversation, talk)
        + _logged(conversation, talk, thresholds)
        + faults
        + (more or Measured())
    )
    offsets = human.distance(found.metrics, settings.human_s, thresholds)
    return ConversationResult(
        id=conversation.id,
        audio=conversation.audio,
        duration_s=conversation.duration_s,
        rate=int(conversation.metadata.get("rate", 24_000)),
        user_channel=conversation.user_channel,
        method=method(conversation, settings),
        user=_lane(talk.user, (), user_level),
        agent=_lane(talk.agent, talk.greeting, agent_level),
        metrics=tuple(with_interval(metric, thresholds) for metric in (*found.metrics, *offsets)),
        events=numbered(found.events, conversation.id),
        warnings=tuple(lines),
        metadata=conversation.metadata,
    )


def _both(conversation: Conversation, settings: Settings) -> Iterator[tuple[Intervals, Levels]]:
    """The activity of the channels, side by side: for a long recording the detector is most of the work."""

    def detect(channel: ChannelName) -> tuple[Intervals, Levels]:
        return activity.detect(conversation, channel, settings.detector, settings.thresholds)

    with ThreadPoolExecutor(len(CHANNELS)) as threads:
        return threads.map(detect, CHANNELS)


def talked(talk: Talk, settings: Settings, reference: Sequence[float] | None = None) -> Measured:
    """Everything that a talk alone tells."""
    thresholds = settings.thresholds
    parts: Iterable[Measured] = (
        corpus.measure(talk, thresholds),
        transfers.measure(talk, thresholds),
        responses.measure(talk, thresholds),
        takeover.measure(talk, thresholds),
        interruptions.measure(talk, thresholds),
        starts.measure(talk, thresholds),
        listening.measure(talk, thresholds, settings.rule, reference),
    )
    return sum(parts, Measured())


def method(conversation: Conversation, settings: Settings) -> Method:
    """How this conversation is measured with these settings."""
    return Method(
        detector=settings.detector,
        detector_version=activity.version(settings.detector),
        detector_error_ms=activity.ERROR_MS[settings.detector],
        words=conversation.words_source,
        origin=conversation.origin,
        thresholds=settings.thresholds.to_json() | {"backchannel_rule": settings.rule},
    )


def _logged(conversation: Conversation, talk: Talk, thresholds: Thresholds) -> Measured:
    found = () if logs.problem(conversation.log) else conversation.log
    measured = logs.measure(found, responses.responses(talk, thresholds)) if found else Measured()
    clocks = conversation.metadata.get("clocks")
    return measured + hygiene.drift(clocks) if clocks else measured


def _lane(side: Side, greeting: Sequence[object], level: Levels) -> Lane:
    aside = "short_overlap" if side.words is None else "backchannel"
    turns = [Turn(t.start, t.end, "greeting" if t in greeting else "turn") for t in side.turns]
    turns += [Turn(ipu.start, ipu.end, aside) for ipu in side.asides]
    return Lane(
        side.activity,
        side.ipus,
        tuple(sorted(turns, key=lambda turn: (turn.start, turn.end))),
        side.words or (),
        level.noise_floor_dbfs,
        side.words is not None,
    )
