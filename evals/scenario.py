"""A scenario: what the user says in a conversation and when, read from a small TOML file beside its audio.

    behaviour = "user_interruption"     # one of BEHAVIOURS
    [[say]]
    id = "question"
    clip = "clips/question.flac"        # any rate and format, one channel (or `channel`)
    at_s = 0.0                          # seconds after the lead-in
    [[say]]
    clip = "clips/wait.flac"
    event = "interruption"              # one of EVENTS: what the annotation calls it
    when = "agent_speaks"               # one of CONDITIONS: the agent has spoken for 1 s
    for_s = 1.0
    after = "question"                  # the condition counts from the end of that clip

evals/scenarios/README.md names every key; `evals.scenario_reader` reads them. Refuses to know files,
sockets, servers and clocks.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

BEHAVIOURS = (
    "pause_handling", "backchannel", "smooth_turn_taking", "user_interruption", "user_backchannel",
    "talking_to_other", "background_speech", "other",
)  # fmt: skip
"""The tasks of Full-Duplex-Bench v1 and v1.5 (arXiv 2503.04721), and everything else."""

CONDITIONS = ("agent_speaks", "agent_silent", "agent_finished")
"""agent_finished: the agent has spoken since the cue counts, and then been silent for `for_s`."""

EVENTS = {
    "turn": "respond", "interruption": "respond", "backchannel": "resume", "talk_to_other": "resume",
    "background": "resume", "tic": "resume",
}  # fmt: skip
"""What a clip can be, and what an agent is expected to do about it."""

EXPECTED = ("respond", "resume", "wait")
ON_TIMEOUT = ("skip", "say", "stop")


@dataclass(frozen=True, slots=True)
class Clip:
    """A file's samples, int16 [n] at 24 kHz, and the digest of the file."""

    path: Path
    pcm: npt.NDArray[np.int16]
    sha256: str


@dataclass(frozen=True, slots=True)
class Say:
    """One thing the user says, and the cue for it: a time, another clip's end, or the agent.

    at_s: seconds after the lead-in. after: id of an earlier clip at whose end the cue begins to count.
    when, for_s: the agent does so for that long, counted from there. delay_s: from the cue to the clip.
    timeout_s, on_timeout: when `when` is given up, and whether the clip is then skipped, said anyway, or
        the conversation is over.
    gain_db: of the clip. continues: id of the clip whose turn goes on here, after a pause.
    pauses_s: pauses inside the clip, seconds from its first sample.
    text: what is said, for whoever reads the annotations.
    """

    id: str
    clip: Clip
    at_s: float | None = None
    after: str | None = None
    when: str | None = None
    for_s: float = 0.0
    delay_s: float = 0.0
    timeout_s: float = 10.0
    on_timeout: str = "skip"
    gain_db: float = 0.0
    event: str = "turn"
    expected: str = EVENTS["turn"]
    continues: str | None = None
    pauses_s: tuple[tuple[float, float], ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class Scenario:
    """name: the file's name without `.toml`. limit_s: a conversation that takes longer has timed out.

    sha256: of all that is said and when, with the clips; not of comments and descriptions.
    """

    name: str
    behaviour: str
    says: tuple[Say, ...]
    sha256: str
    lead_in_s: float = 1.0
    tail_s: float = 12.0  # longer than the scorer waits for an answer, or a silent agent is no evidence
    limit_s: float = 120.0
    description: str = ""
