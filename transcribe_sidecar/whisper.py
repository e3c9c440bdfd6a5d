"""Whisper as an ear: windows go in, what it hears in them comes out. The only file that knows the model.

Its encoder works on 30 s whatever it is given; on a CPU, where that is nearly all the work, it is given less
where a window is shorter. Refuses to know calls, and which words are to be believed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from duet_client.wire import Word
from transcribe_sidecar.config import Settings
from transcribe_sidecar.errors import SidecarError
from transcribe_sidecar.filters import LOGPROB, Pass, loops
from transcribe_sidecar.models import find
from transcribe_sidecar.timeline import RATE, WHISPER_MS, Window

CONTEXTS_MS = (10_000, 15_000, 20_000, WHISPER_MS)
"""Under 8 s of context tiny.en begins to repeat itself, and where people repeat themselves, under 30."""
_ROOM_MS = 800
_MOST = {True: 4, False: 16}
"""Windows at once, on a CPU or not: there the encoder's work only adds up, and others wait for it."""
_HOP = 160
_HOP_MS = 1000 * _HOP // RATE
_TOKENS_S, _TOKENS_MORE = 10, 16
_TOKENS_MOST = 224


class Whisper:
    """name: the model's, as the transcripts tell it. most: windows that are heard at once."""

    def __init__(self, folder: Path, name: str, device: str, threads: int, language: str) -> None:
        """Raises SidecarError where the folder holds no model that can be used."""
        import faster_whisper
        from faster_whisper.tokenizer import Tokenizer
        from faster_whisper.transcribe import get_suppressed_tokens

        numbers = "int8" if device == "cpu" else "float16"
        try:
            self._model: Any = faster_whisper.WhisperModel(
                str(folder), device=device, compute_type=numbers, cpu_threads=threads, local_files_only=True
            )
        except Exception as error:  # a broken folder, a library of the GPU: each has its own error
            line = (str(error).splitlines() or [type(error).__name__])[0]
            raise SidecarError(f"the Whisper model in {folder} cannot be loaded: {line}") from None
        multilingual = self._model.model.is_multilingual
        if not multilingual and language != "en":
            raise SidecarError(f"--language must be en with {name}, which knows no other, not {language!r}")
        self.name = name
        self.most = _MOST[device == "cpu"]
        self._contexts = CONTEXTS_MS if device == "cpu" else CONTEXTS_MS[-1:]
        self._tokens = Tokenizer(self._model.hf_tokenizer, multilingual, task="transcribe", language=language)
        self._suppressed = list(get_suppressed_tokens(self._tokens, [-1]))
        # no text stands in the prompt, ever: what is no prompt cannot leak into the words
        self._prompt = [*self._tokens.sot_sequence, self._tokens.no_timestamps]

    def context_ms(self, window: Window) -> int:
        """How much Whisper is given for a window; those of equal context are heard well together."""
        length = window.end_ms - window.start_ms
        return next((each for each in self._contexts if length + _ROOM_MS <= each), WHISPER_MS)

    def hear(self, windows: Sequence[Window]) -> list[Pass]:
        """What is heard in each window, all at once; where Whisper loses its way, again in 30 s."""
        context = max(self.context_ms(window) for window in windows)
        heard = self._hear(windows, context)
        for n, window in enumerate(windows):
            if context < WHISPER_MS and (loops(heard[n]) or heard[n].logprob < LOGPROB):
                again = self._hear([window], WHISPER_MS)[0]
                heard[n] = again if loops(heard[n]) or again.logprob > heard[n].logprob else heard[n]
        return heard

    def _hear(self, windows: Sequence[Window], context_ms: int) -> list[Pass]:
        frames = context_ms // _HOP_MS
        encoded = self._model.encode(np.stack([self._spectrum(window, frames) for window in windows]))
        most = min(_TOKENS_MOST, max(_most_tokens(window) for window in windows))
        results = self._model.model.generate(
            encoded,
            [self._prompt] * len(windows),
            beam_size=1,
            sampling_temperature=0.0,
            max_length=len(self._prompt) + most,
            suppress_blank=True,
            suppress_tokens=self._suppressed,
            return_scores=True,
            return_no_speech_prob=True,
        )
        texts = [
            [token for token in result.sequences_ids[0] if token < self._tokens.eot] for result in results
        ]
        lengths = [min(len(window.samples) // _HOP, frames) for window in windows]
        aligned = self._model.find_alignment(self._tokens, texts, encoded, lengths)
        return [
            Pass(_words(window, words), result.no_speech_prob, result.scores[0], len(text) >= most)
            for window, result, text, words in zip(windows, results, texts, aligned, strict=True)
        ]

    def _spectrum(self, window: Window, frames: int) -> Any:
        """Mel frames [mels, frames]; nothing is zero, as in the 30 s that Whisper was trained on."""
        padded = np.zeros(frames * _HOP, np.float32)
        padded[: len(window.samples)] = window.samples[: len(padded)]
        return self._model.feature_extractor(padded, padding=0)[:, :frames]


class LazyWhisper:
    """A Whisper that is found at once and loaded later, on the thread that uses it.

    Raises SidecarError, NoModel where there is none.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._device = device(settings.device)
        self._found = find(settings.model, self._device)
        self._whisper: Whisper | None = None
        self.name, self.note = self._found.name, self._found.note
        self.most = _MOST[self._device == "cpu"]

    def load(self) -> None:
        found, settings = self._found, self._settings
        self._whisper = Whisper(found.folder, found.name, self._device, settings.threads, settings.language)

    def hear(self, windows: Sequence[Window]) -> list[Pass]:
        assert self._whisper is not None
        return self._whisper.hear(windows)


def device(wish: str) -> str:
    """cpu or cuda. Raises SidecarError for a GPU that is not there."""
    import ctranslate2  # type: ignore[import-untyped,unused-ignore]

    count = ctranslate2.get_cuda_device_count() if wish != "cpu" else 0
    if wish == "cuda" and not count:
        raise SidecarError("--device cuda needs an NVIDIA GPU, and there is none")
    return "cuda" if count else "cpu"


def _most_tokens(window: Window) -> int:
    return _TOKENS_MORE + _TOKENS_S * window.speech_ms // 1000


def _words(window: Window, aligned: list[dict[str, Any]]) -> tuple[Word, ...]:
    """Words with their punctuation, on the session's timeline."""
    from faster_whisper.transcribe import merge_punctuations

    merge_punctuations(aligned, "\"'“¿([{-", "\"'.。,，!！?？:：”)]}、")
    return tuple(
        Word(
            each["word"].strip(),
            window.start_ms + round(each["start"] * 1000),
            window.start_ms + round(each["end"] * 1000),
            float(np.clip(each["probability"], 0.0, 1.0)),
        )
        for each in aligned
        if each["word"].strip()
    )
