"""What a session counts about its own input, so that nothing is lost or made up in silence.

The numbers go into the recording's metadata. Refuses to know when something is counted.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(slots=True)
class Counts:
    """Frames, but for padded_samples.

    accepted: handed to the model; answered: came back. unanswered: handed in, but the session was cut.
    silence_fed: made up because no audio came. padded_samples: zeros at the end of the last frame.
    muted: replaced by silence. dropped: received and never handed to the model.
    """

    accepted: int = 0
    answered: int = 0
    unanswered: int = 0
    silence_fed: int = 0
    padded_samples: int = 0
    muted: int = 0
    dropped: int = 0

    def as_dict(self) -> dict[str, int]:
        return asdict(self)
