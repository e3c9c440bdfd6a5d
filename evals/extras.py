"""What may be measured beside the timing, each only where it is asked for by name.

Words by Whisper, a speech-quality model as `package.module:function`, a language model's opinion.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from evals import asr, content
from evals.conversation import CHANNELS, RATE, Conversation, InputError, Samples
from evals.judge import RUBRIC, Judge
from evals.metrics.build import Measured
from evals.results import Metric
from evals.words import text_of

Mos = Callable[[Samples, int], float]
"""Float32 samples of one channel and their rate to a score."""


@dataclass(frozen=True, slots=True)
class Extras:
    """All off. asr: a Whisper model's name or folder. mos: `module:function`. judge_url: of an
    OpenAI-compatible endpoint, with `judge_model`; answers are kept in `cache`."""

    asr: str | None = None
    language: str | None = None
    mos: str | None = None
    judge_url: str | None = None
    judge_model: str = ""
    cache: Path = Path()

    def facts(self) -> dict[str, str]:
        """Names and versions of what takes part."""
        facts = {}
        if self.asr:
            facts["asr"] = f"{asr.version(self.asr)}, language {self.language or 'detected'}"
        if self.mos:
            facts["mos"] = self.mos
        if self.judge_url:
            facts["judge"] = f"{self.judge_model}, rubric {RUBRIC}"
        return facts


def prepared(conversation: Conversation, extras: Extras) -> Conversation:
    """With Whisper's words where they are asked for.

    What the model says it said becomes the agent's reference, so that its text is held against what
    can be heard; words from files are replaced.
    """
    if not extras.asr:
        return conversation
    heard = {
        channel: asr.transcribe(conversation.samples(channel), channel, extras.asr, extras.language)
        for channel in CHANNELS
    }
    said = conversation.words.get("agent")
    reference = dict(conversation.reference)
    if said and "agent" not in reference:
        reference["agent"] = text_of(said)
    return replace(conversation, words=heard, words_source=asr.version(extras.asr), reference=reference)


def opinions(conversation: Conversation, extras: Extras) -> Measured:
    """Raises InputError where what was asked for is not there or does not answer."""
    found: list[Metric] = []
    if extras.mos:
        rate = _function(extras.mos)
        found += [content.mos(c, extras.mos, float(rate(conversation.samples(c), RATE))) for c in CHANNELS]
    if extras.judge_url:
        judge = Judge(extras.judge_url, extras.judge_model, extras.cache)
        said = {channel: text_of(conversation.words.get(channel, ())) for channel in CHANNELS}
        value = judge.score(said["user"], said["agent"]) if said["user"] and said["agent"] else None
        found.append(content.judged(value, extras.judge_model, RUBRIC))
    return Measured(tuple(found))


def _function(name: str) -> Mos:
    module, _, function = name.partition(":")
    try:
        found: Mos = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(f"mos must be MODULE:FUNCTION that can be imported, not {name!r}: {error}") from None
    return found
