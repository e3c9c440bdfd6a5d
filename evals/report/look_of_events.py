"""How an event looks in the timeline and the table: a short code, a name and a tone.

The code tells types apart without colour. A type that is not here gets its first letters. Refuses
to know when anything happened.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Tone = Literal["good", "bad", "late", "user", "agent", "plain"]


@dataclass(frozen=True, slots=True)
class Look:
    code: str
    name: str
    tone: Tone


LOOKS = {
    "response": Look("R", "response", "good"),
    "no_response": Look("NR", "no response", "bad"),
    "transfer_to_user": Look("U", "floor to the user", "user"),
    "within_overlap": Look("OV", "turn inside the other's", "plain"),
    "greeting": Look("G", "greeting", "agent"),
    "interruption": Look("I", "interruption by the user", "user"),
    "recovery": Look("RE", "recovery after interruption", "good"),
    "agent_interruption": Look("AI", "interruption by the agent", "bad"),
    "pause": Look("P", "pause of the user", "plain"),
    "premature_start": Look("PS", "premature start", "bad"),
    "collision": Look("C", "collision", "late"),
    "backchannel": Look("B", "backchannel", "agent"),
    "short_overlap": Look("SO", "short overlap", "plain"),
    "user_sound": Look("US", "user sound over the agent", "user"),
    "side_sound": Look("SS", "side sound to a silent agent", "user"),
    "takeover": Look("T", "take-over", "late"),
    "dropout": Look("DO", "dropout", "bad"),
    "cutoff": Look("CO", "cut-off", "bad"),
    "clipping": Look("CL", "clipping", "bad"),
    "log_difference": Look("LD", "log against recording", "late"),
}


def look_of(event_type: str) -> Look:
    """The look of any type, known or not."""
    known = LOOKS.get(event_type)
    if known is not None:
        return known
    return Look(event_type[:3].upper(), event_type.replace("_", " "), "plain")
