"""Speech probabilities from the Silero network that faster-whisper bundles: the only file that knows it.

Streaming, so that an hour needs no more memory than a minute: audio comes in pieces, the network's
state is carried. Refuses to know what becomes of the probabilities.
"""

from __future__ import annotations

import functools
import importlib.metadata
from typing import Any

import numpy as np
import soxr

from evals.conversation import RATE, InputError, Samples

SILERO_RATE = 16_000
CHUNK_SAMPLES = 512
CHUNK_S = CHUNK_SAMPLES / SILERO_RATE
_CONTEXT = 64
_PIECE = RATE * 60


@functools.cache
def _network() -> Any:
    try:
        from faster_whisper.vad import get_vad_model  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        raise InputError(
            "silero needs the faster-whisper package: pip install 'duet[evals]', or use --activity energy"
        ) from None
    return get_vad_model().session


def version() -> str:
    return f"silero-vad v6 of faster-whisper {importlib.metadata.version('faster-whisper')}"


def probabilities(samples: Samples) -> Samples:
    """Probability of speech for every 32 ms of 24 kHz audio, float32 [ceil(seconds / 0.032)].

    Raises InputError where faster-whisper is not installed.
    """
    resampler = soxr.ResampleStream(RATE, SILERO_RATE, 1, dtype="float32")
    vad = _Stream()
    found: list[Samples] = []
    for start in range(0, len(samples), _PIECE):
        last = start + _PIECE >= len(samples)
        found.append(vad.push(resampler.resample_chunk(samples[start : start + _PIECE], last=last)))
    found.append(vad.flush())
    return np.concatenate(found)[: -(-len(samples) * SILERO_RATE // (RATE * CHUNK_SAMPLES))]


class _Stream:
    """Feeds whole chunks to the network, each with the end of the one before as context."""

    def __init__(self) -> None:
        self._h = self._c = np.zeros((1, 1, 128), np.float32)
        self._waiting: Samples = np.zeros(0, np.float32)
        self._context: Samples = np.zeros(_CONTEXT, np.float32)

    def push(self, samples: Samples) -> Samples:
        joined = np.concatenate((self._waiting, samples))
        whole = len(joined) // CHUNK_SAMPLES
        self._waiting = joined[whole * CHUNK_SAMPLES :]
        return self._run(joined[: whole * CHUNK_SAMPLES].reshape(whole, CHUNK_SAMPLES))

    def flush(self) -> Samples:
        return self.push(np.zeros(-len(self._waiting) % CHUNK_SAMPLES, np.float32))

    def _run(self, chunks: Samples) -> Samples:
        if len(chunks) == 0:
            return np.zeros(0, np.float32)
        context = np.concatenate((self._context[None], chunks[:-1, -_CONTEXT:]))
        self._context = chunks[-1, -_CONTEXT:]
        feed = {"input": np.concatenate((context, chunks), axis=1), "h": self._h, "c": self._c}
        found, self._h, self._c = _network().run(None, feed)
        return np.asarray(found, np.float32).reshape(-1)
