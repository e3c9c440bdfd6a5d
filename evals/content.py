"""What was said, as far as words tell: rate of speech, and word errors against a script.

Refuses to know where the words come from. Word errors need the jiwer package.
"""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Sequence
from dataclasses import replace

from evals.conversation import CHANNELS, ChannelName, Conversation, InputError
from evals.intervals import total
from evals.metrics.build import Measured, level, per
from evals.results import Metric
from evals.turns import Talk
from evals.words import Word, text_of

NORMALISER = "lower case, no punctuation, apostrophes kept"


def measure(conversation: Conversation, talk: Talk) -> Measured:
    found: list[Metric] = []
    for channel in CHANNELS:
        side = talk.side(channel)
        if side.words is not None:
            found += _rates(channel, side.words, total(side.ipus))
        if side.words is not None and channel in conversation.reference:
            found.append(_errors(channel, conversation.reference[channel], side.words))
    return Measured(tuple(found))


def _rates(channel: ChannelName, words: Sequence[Word], speech_s: float) -> list[Metric]:
    """Fewer than two words say nothing about a rate."""
    enough = len(words) > 1
    span = max(w.end for w in words) - min(w.start for w in words) if enough else 0.0
    said = len(words) if enough else 0
    return [
        per(
            f"wpm_{channel}",
            said,
            speech_s / 60 if enough else 0.0,
            n=len(words),
            unit="wpm",
            rule="words per minute of the channel's IPUs",
        ),
        per(
            f"wpm_fdb_{channel}",
            said,
            span / 60,
            n=len(words),
            unit="wpm",
            rule="FDB: words over first to last",
        ),
    ]


def _errors(channel: ChannelName, reference: str, words: Sequence[Word]) -> Metric:
    rule = f"{NORMALISER}; jiwer {_jiwer_version()}"
    wrong, of = word_errors(reference, text_of(words))
    return per(f"wer_{channel}", wrong, of, n=of, unit="share", rule=rule)


def word_errors(reference: str, hypothesis: str) -> tuple[int, int]:
    """Substitutions, deletions and insertions together, and the reference's words.

    An empty reference has no rate: (0, 0). Raises InputError where jiwer is not installed.
    """
    expected, heard = normalised(reference), normalised(hypothesis)
    if not expected:
        return 0, 0
    if not heard:
        return len(expected.split()), len(expected.split())
    try:
        import jiwer
    except ImportError:
        raise InputError("word error rates need the jiwer package: pip install 'duet[evals]'") from None
    found = jiwer.process_words(expected, heard)
    return found.substitutions + found.deletions + found.insertions, len(expected.split())


def normalised(text: str) -> str:
    """Words in lower case, one space apart; only letters, digits and apostrophes inside words."""
    return " ".join(re.findall(r"[^\W_]+(?:['’][^\W_]+)*", text.lower())).replace("’", "'")


def _jiwer_version() -> str:
    try:
        return importlib.metadata.version("jiwer")
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def mos(channel: ChannelName, model: str, value: float | None) -> Metric:
    """A mean opinion score that somebody's model gave a channel."""
    return level(f"mos_{channel}", value, "mos", f"by {model}")


def judged(value: float | None, model: str, rubric: str) -> Metric:
    """A language model's opinion of the content, 0 to 5."""
    made = level(
        "judge_score", value, "points", f"by {model}, rubric {rubric}; never about timing", "inferred"
    )
    return replace(made, observations=() if value is None else (value,))
