"""Speech probabilities from the Silero network that faster-whisper bundles: the only file that knows it.

Refuses to know what becomes of them.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from audio.frames import Samples
from transcribe_sidecar.timeline import CHUNK_SAMPLES

_CONTEXT = 64
_STATE = (1, 1, 128)


@functools.cache
def _network() -> Any:
    from faster_whisper.vad import get_vad_model

    return get_vad_model().session


class Silero:
    """One stream of 16 kHz audio; the network's state and the end of the chunk before are carried."""

    def __init__(self) -> None:
        self._rest: Samples = np.zeros(0, np.float32)
        self.reset()

    def reset(self) -> None:
        """What follows has nothing to do with what came before; the unfinished chunk stays."""
        self._h = self._c = np.zeros(_STATE, np.float32)
        self._context: Samples = np.zeros(_CONTEXT, np.float32)

    def push(self, samples: Samples) -> Iterator[tuple[Samples, float]]:
        """Take float32 [n]; give each chunk [512] that is complete, and the probability that it is speech."""
        joined = np.concatenate((self._rest, samples))
        whole = len(joined) // CHUNK_SAMPLES
        self._rest = joined[whole * CHUNK_SAMPLES :]
        if whole == 0:
            return
        chunks = joined[: whole * CHUNK_SAMPLES].reshape(whole, CHUNK_SAMPLES)
        context = np.concatenate((self._context[None], chunks[:-1, -_CONTEXT:]))
        self._context = chunks[-1, -_CONTEXT:]
        feed = {"input": np.concatenate((context, chunks), axis=1), "h": self._h, "c": self._c}
        found, self._h, self._c = _network().run(None, feed)
        yield from zip(chunks, np.asarray(found, np.float32).reshape(-1).tolist(), strict=True)
