"""Many calls side by side through the ordinary path: a loaded checkpoint and its streaming runtime.

As fast as the machine can, one frame of each call at a time, so that the agent's own voice can come
back as an echo. Refuses to know what a call is to show.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from audio.frames import FRAME_SAMPLES, Samples
from model.checkpoint import Loaded
from model.config import Sampling
from model.opening import PieceVocabulary
from model.reference import ReferenceRuntime
from model.text import TextDecoder

ECHO_FRAMES = 2
"""Until the agent hears itself: more than a frame in the air, the sound cards and the model."""


@dataclass(frozen=True, slots=True)
class Call:
    """What the user's side sends, whole frames of float32. echo: a factor of the agent's own voice."""

    samples: Samples
    seed: int
    echo: float = 0.0


@dataclass(frozen=True, slots=True)
class Reply:
    """samples: as long as the call. text: a piece with its frame, in order."""

    samples: Samples
    text: tuple[tuple[int, str], ...]

    def said(self, first_frame: int = 0, last_frame: int | None = None) -> str:
        """The text from one frame to before another."""
        until = last_frame if last_frame is not None else len(self.samples) // FRAME_SAMPLES
        return "".join(piece for frame, piece in self.text if first_frame <= frame < until).strip()


class Switchboard:
    """Carries calls, so many at a time, on one runtime."""

    def __init__(self, loaded: Loaded, side_by_side: int, sampling: Sampling | None = None) -> None:
        self._rows = side_by_side
        self._sampling = sampling or loaded.info.sampling
        self._vocabulary = PieceVocabulary(loaded)
        self._runtime = ReferenceRuntime(
            loaded.mimi, loaded.lm, loaded.info, side_by_side, loaded.condition_tensors(side_by_side)
        )

    def carry(self, calls: Sequence[Call], progress: Callable[[int], object]) -> list[Reply]:
        """Every call's reply, in order; those of like length go together."""
        order = sorted(range(len(calls)), key=lambda index: len(calls[index].samples))
        found: dict[int, Reply] = {}
        for start in range(0, len(order), self._rows):
            group = order[start : start + self._rows]
            for index, reply in zip(group, self._together([calls[i] for i in group]), strict=True):
                found[index] = reply
            progress(len(group))
        return [found[index] for index in range(len(calls))]

    def _together(self, calls: Sequence[Call]) -> list[Reply]:
        frames = [len(call.samples) // FRAME_SAMPLES for call in calls]
        sounds = np.zeros((len(calls), max(frames) + ECHO_FRAMES, FRAME_SAMPLES), np.float32)
        texts: list[list[tuple[int, str]]] = [[] for _ in calls]
        decoders = [TextDecoder(self._vocabulary) for _ in calls]
        for slot, call in enumerate(calls):
            self._runtime.join(slot, replace(self._sampling, seed=call.seed))
        for frame in range(max(frames)):
            slots = [slot for slot, count in enumerate(frames) if frame < count]
            heard = np.stack([_frame(calls[slot], sounds[slot], frame) for slot in slots])
            output = self._runtime.step(slots, heard)
            for row, slot in enumerate(slots):
                sounds[slot, frame] = output.pcm[row]
                token = int(output.tokens[row, 0])
                if token >= 0 and (piece := decoders[slot].push(token)):
                    texts[slot].append((frame, piece))
        return [
            Reply(sounds[slot, : frames[slot]].reshape(-1), tuple(texts[slot])) for slot in range(len(calls))
        ]


def _frame(call: Call, said: Samples, frame: int) -> Samples:
    sent = call.samples[frame * FRAME_SAMPLES : (frame + 1) * FRAME_SAMPLES]
    if not call.echo or frame < ECHO_FRAMES:
        return sent
    heard = sent + np.float32(call.echo) * said[frame - ECHO_FRAMES]
    return np.asarray(np.clip(heard, -1, 1), dtype=np.float32)
