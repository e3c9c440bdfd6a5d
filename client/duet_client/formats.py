"""The audio formats a session may choose: names and rates, never samples.

Refuses to know how a sample is coded; that is the server's and the player's business.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from duet_client.errors import WireError

FRAME_MS = 80  # one step of the model; frame n covers [80 n, 80 (n + 1)) of the session's timeline

# Allowed rates in hertz and bytes of one sample, by type (openai/types/live/audio_format.py).
_RATES: dict[str, tuple[int, ...]] = {
    "audio/pcm": (16_000, 24_000),
    "audio/pcmu": (8_000,),
    "audio/pcma": (8_000,),
}
_TYPE_RULE = f"must be one of {', '.join(_RATES)}"
_BYTES = {"audio/pcm": 2, "audio/pcmu": 1, "audio/pcma": 1}


@dataclass(frozen=True, slots=True)
class AudioFormat:
    """Mono audio as it travels, the same in both directions.

    type: audio/pcm (s16le), audio/pcmu (mu-law) or audio/pcma (A-law).
    rate: hertz; 16000 or 24000 for audio/pcm, 8000 for the other two.

    Raises:
        WireError: invalid_value, naming the field and the allowed values.
    """

    type: str
    rate: int

    DEFAULT: ClassVar[AudioFormat]

    def __post_init__(self) -> None:
        _check_type(self.type, "audio.format")
        _check_rate(self.type, self.rate, "audio.format")

    @classmethod
    def parse(cls, obj: Any, where: str = "session.audio.format") -> AudioFormat:
        """Read `{"type", "rate"}`; `where` is the dotted path a refusal names."""
        if not isinstance(obj, dict):
            raise WireError("invalid_value", f"{where} must be an object with type and rate", where)
        if "type" not in obj:
            raise WireError("missing_field", f"{where}.type is missing; it {_TYPE_RULE}", f"{where}.type")
        _check_type(obj["type"], where)
        if "rate" not in obj:
            rule = _rate_rule(obj["type"])
            raise WireError("missing_field", f"{where}.rate is missing; it {rule}", f"{where}.rate")
        _check_rate(obj["type"], obj["rate"], where)
        return cls(obj["type"], obj["rate"])

    def to_json(self) -> dict[str, Any]:
        return {"type": self.type, "rate": self.rate}

    @property
    def bytes_per_sample(self) -> int:
        return _BYTES[self.type]

    @property
    def frame_bytes(self) -> int:
        """Bytes of one 80 ms frame: 3840 in the default format."""
        return self.rate * FRAME_MS // 1000 * self.bytes_per_sample


def _check_rate(kind: str, rate: Any, where: str) -> None:
    if isinstance(rate, bool) or not isinstance(rate, int) or rate not in _RATES[kind]:
        raise WireError("invalid_value", f"{where}.rate {_rate_rule(kind)}", f"{where}.rate")


def _rate_rule(kind: str) -> str:
    return f"must be {' or '.join(map(str, _RATES[kind]))} for {kind}"


def _check_type(kind: Any, where: str) -> None:
    if not isinstance(kind, str) or kind not in _RATES:
        raise WireError("invalid_value", f"{where}.type {_TYPE_RULE}", f"{where}.type")


AudioFormat.DEFAULT = AudioFormat("audio/pcm", 24_000)
