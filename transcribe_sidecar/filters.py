"""What Whisper makes up, and the mending of its times.

It was trained on subtitles: in silence and noise it writes what subtitles say there, in bad sound it
repeats itself without end, and the first word after a pause begins where the window does. So a word counts
only where somebody speaks, no faster than people speak, and in a pass that Whisper itself believes.
No text is ever given to Whisper as a prompt, so none can leak out of it.

The thresholds of belief are those of openai/whisper (transcribe.py). Refuses to know how words are made.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from duet_client.wire import Word
from transcribe_sidecar.alignment import plain
from transcribe_sidecar.timeline import Span, Window, nearest

NO_SPEECH = 0.6
LOGPROB = -1.0
HOPELESS_LOGPROB = -1.5
"""Hums and tones that Silero takes for speech are heard at -1.7 to -5, people at -0.6 or more."""
DOUBTFUL_SPEECH = 0.75
"""Mean probability of speech under which a pass must be more than barely believed."""
DOUBTFUL_LOGPROB = -0.7
DOUBTFUL_MS = 400
"""A sound as short as this with speech as doubtful is no word."""
FASTEST_WORDS_S = 7.0
"""The fastest talkers say 6 a second."""
FASTEST_LOOP_S = 5.0
SQUEEZED_MS = 40
"""A repetition that is given less time than this was not said."""
_SLACK_WORDS = 3
_TIMES, _SHORTEST_LOOP = 3, 4
FAR_MS = 500
"""A word that is farther than this from all speech was made up: Whisper's times err by less."""
_ONSET_MS, _DECAY_MS = 40, 80
_SOUND = re.compile(r"[\[(*♪].*|.*[\])*♪]")
_LONGEST_PERIOD = 8
_SHORTEST_ECHO = 3
"""Words. "No, no" may be squeezed by Whisper and yet be said."""


@dataclass(frozen=True, slots=True)
class Pass:
    """What Whisper heard in one window. no_speech, logprob: its own belief. exhausted: it did not stop."""

    words: tuple[Word, ...]
    no_speech: float
    logprob: float
    exhausted: bool = False


def looped(texts: Sequence[str]) -> tuple[int, int, int] | None:
    """The first phrase that stands three times or more in a row: its start, its length, the loop's end."""
    for start in range(len(texts)):
        for period in range(1, _LONGEST_PERIOD + 1):
            end = start + period
            while end < len(texts) and texts[end] == texts[end - period]:
                end += 1
            if end - start >= max(_TIMES * period, _SHORTEST_LOOP):
                return start, period, end
    return None


def loops(heard: Pass) -> bool:
    """Whether the pass says the same over and over, as people do, and Whisper when it has lost its way."""
    return heard.exhausted or looped([plain(word.word) for word in heard.words]) is not None


def believed(heard: Pass, window: Window) -> tuple[Word, ...]:
    """The words that were said, with times inside the speech of the window, in order."""
    if not heard.words or not window.runs or _doubted(heard, window):
        return ()
    said = [word for word in heard.words if plain(word.word) and not _SOUND.fullmatch(word.word.strip())]
    placed = [_placed(word, window.runs) for word in _unlooped(_unechoed(said), window)]
    return _ordered([word for word in placed if word is not None])


def _doubted(heard: Pass, window: Window) -> bool:
    if heard.logprob < HOPELESS_LOGPROB or (heard.no_speech > NO_SPEECH and heard.logprob < LOGPROB):
        return True
    if window.speech >= DOUBTFUL_SPEECH:
        return False
    return window.speech_ms < DOUBTFUL_MS or heard.logprob < DOUBTFUL_LOGPROB or heard.no_speech > NO_SPEECH


def _placed(word: Word, runs: tuple[Span, ...]) -> Word | None:
    """The word moved into the run it belongs to; None where there is none near."""
    run = nearest(runs, word.start_ms, word.end_ms)
    if run is None or run.overlap_ms(word.start_ms, word.end_ms) < -FAR_MS:
        return None
    start = min(max(word.start_ms, run.start_ms - _ONSET_MS), run.end_ms)
    end = max(min(word.end_ms, run.end_ms + _DECAY_MS), start)
    return replace(word, start_ms=start, end_ms=end)


def _unlooped(words: Sequence[Word], window: Window) -> Sequence[Word]:
    """Without the part of a loop for which there is no time: squeezed together, or more than can be said."""
    found = looped([plain(word.word) for word in words])
    if found is None:
        return words[: _SLACK_WORDS + int(FASTEST_WORDS_S * window.speech_ms / 1000)]
    start, period, end = found
    most = start + _SLACK_WORDS + int(FASTEST_LOOP_S * window.speech_ms / 1000)
    for at in range(start + period, end - period + 1):
        if words[at + period - 1].end_ms - words[at].start_ms < SQUEEZED_MS:
            return words[: min(at, most)]
    return words if end <= most else words[:most]


def _unechoed(words: Sequence[Word]) -> list[Word]:
    """Without a phrase that is heard a second time in no time; its time is the last word's of the first."""
    kept = list(words)
    texts = [plain(word.word) for word in kept]
    at = 0
    while at < len(kept):
        period = next(
            (n for n in range(_SHORTEST_ECHO, _LONGEST_PERIOD + 1) if _is_echo(kept, texts, at, n)), 0
        )
        if period:
            last = at + period - 1
            kept[last] = replace(kept[last], end_ms=max(kept[last].end_ms, kept[last + period].end_ms))
            del kept[last + 1 : last + 1 + period], texts[last + 1 : last + 1 + period]
        else:
            at += 1
    return kept


def _is_echo(words: Sequence[Word], texts: Sequence[str], at: int, period: int) -> bool:
    second = at + period
    if second + period > len(words) or texts[at:second] != texts[second : second + period]:
        return False
    return words[second + period - 1].start_ms - words[second].start_ms < SQUEEZED_MS


def _ordered(words: Sequence[Word]) -> tuple[Word, ...]:
    """No word begins before the one ahead of it."""
    found: list[Word] = []
    for word in words:
        start = max(word.start_ms, found[-1].start_ms if found else 0)
        found.append(replace(word, start_ms=start, end_ms=max(word.end_ms, start)))
    return tuple(found)
