"""What callers need to know of a model: its facts and its sampling, as plain frozen data.

Refuses to know torch, checkpoints and threads, so that the server can import it cheaply.
"""

from __future__ import annotations

import reprlib
from dataclasses import dataclass, fields

SEED_MAX = 2**63 - 1
TOP_K_MAX = 2**31 - 1
TEMPERATURE_MAX = 10.0


class ModelError(Exception):
    """A model that cannot be loaded or run; the message is one line a user can act on."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How one session draws its tokens.

    A temperature of 0 is greedy. A top-k of 0 draws from the whole vocabulary; one above the
    vocabulary's size is the same as 0. Equal seeds give equal draws, whoever else is in the batch.

    Raises:
        ValueError: a field is out of range; the message names the field and the allowed values.
    """

    text_temperature: float = 0.7
    text_top_k: int = 25
    audio_temperature: float = 0.8
    audio_top_k: int = 250
    seed: int = 0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            top = _UPPER[field.name]
            number = not isinstance(value, bool) and isinstance(value, type(top) | int)
            if not number or not 0 <= value <= top:  # false for NaN too
                kind = "a number" if isinstance(top, float) else "an integer"
                raise ValueError(f"{field.name} must be {kind} from 0 to {top}, not {reprlib.repr(value)}")


_UPPER: dict[str, int | float] = {
    "text_temperature": TEMPERATURE_MAX,
    "text_top_k": TOP_K_MAX,
    "audio_temperature": TEMPERATURE_MAX,
    "audio_top_k": TOP_K_MAX,
    "seed": SEED_MAX,
}


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """The loaded model, as the wire, the page and the recordings name it.

    lag_frames: the model writes nothing for the first `lag_frames` frames of a session (its delay).
    context_frames: how many frames it remembers; older ones slide out.
    """

    name: str
    weights_hash: str
    trained: bool
    device: str
    dtype: str
    lag_frames: int
    context_frames: int
    sampling: Sampling
