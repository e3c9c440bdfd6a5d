"""What the agent says on its way out: listened to, held back, and silenced where a rule says so. Pure.

Answer n leaves when answer n + h has come, audio, text and record together: the timeline does not
change, only the moment. A `mute` silences every frame that has not left, until the agent's turn ends
(`server.guardrails.turn`); an `end` does for good. Text of silenced frames is withheld. The record keeps
what was delivered. Without rules and hold-back every answer goes straight through.
Refuses to know the session's states and wires.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from audio.frame_flags import FrameFlags
from audio.frames import FRAME_MS, Samples, silence
from duet_client.wire import Word
from server.actions import AgentFrame, AgentText, Deed, Guarded, Notice, Record, Said, Webhook
from server.guardrails.guard import Guard, Verdict
from server.guardrails.rules import Listen, Rules
from server.guardrails.turn import Turn

MUTED = Notice("guardrail_muted", "a guardrail silences this turn")
HITS_TOLD = 1_000
"""The recording's metadata names so many hits at most; their number goes on."""

Out = list[Said | Deed]


@dataclass(frozen=True, slots=True)
class Policy:
    """What a server holds every session to. redact: takes out of a match what nobody is to be told."""

    rules: Rules = Rules()
    holdback_frames: int = 0
    redact: Callable[[str], str] = str

    @property
    def holdback_s(self) -> float:
        return self.holdback_frames * FRAME_MS / 1000


UNGUARDED = Policy()


@dataclass(frozen=True, slots=True)
class Answer:
    """One answered frame: the user's audio with its flags, and the agent's audio and text."""

    user: Samples
    flags: FrameFlags
    frame: int
    agent: Samples
    text: str
    arrived: float

    def silenced(self) -> Answer:
        return replace(self, flags=self.flags | FrameFlags.GUARDED, agent=silence(), text="")


class Delivery:
    """One session's. ends: a rule wants the session to end."""

    def __init__(self, policy: Policy) -> None:
        self.ends = False
        self._policy = policy
        self._guard = Guard(policy.rules)
        self._held: deque[Answer] = deque()
        self._turn: Turn | None = None
        self._next = 0
        self._hits: list[dict[str, Any]] = []
        self._count = self._silenced = 0

    def answered(self, answer: Answer) -> Out:
        """The next answer came: what leaves now."""
        self._next = answer.frame + 1
        out = self._judge(self._guard.agent_text(answer.frame, answer.text))
        self._held.append(self._silence(answer) if self._turn else answer)
        if self._turn and not self._turn.goes_on(answer.agent, answer.text) and not self.ends:
            self._turn = None
        while len(self._held) > self._policy.holdback_frames:
            out += _leave(self._held.popleft())
        return out

    def heard(self, listen: Listen, words: Iterable[Word]) -> Out:
        """A transcriber heard these."""
        return self._judge(self._guard.words(listen, words))

    def over(self) -> Out:
        """No answer follows: everything that is held leaves."""
        out = self._judge(self._guard.agent_text(self._next, ""))
        while self._held:
            out += _leave(self._held.popleft())
        self._turn = Turn()  # what is found from now on silences nothing, and says so to nobody
        return out

    @property
    def summary(self) -> dict[str, Any]:
        """For the recording's metadata; no speech. Empty where no rule is."""
        if not self._policy.rules.all:
            return {}
        return {"guardrails": {"hits": self._hits, "count": self._count, "silenced_frames": self._silenced}}

    # -- verdicts ---------------------------------------------------------------------------------

    def _judge(self, verdicts: Iterable[Verdict]) -> Out:
        out: Out = []
        for verdict in verdicts:
            out += self._tell(verdict)
            if verdict.rule.action == "mute" and not self._turn:
                out.append(MUTED)
            if verdict.rule.action in ("mute", "end"):
                self._turn = Turn()
                self._held = deque(map(self._silence, self._held))
            self.ends = self.ends or verdict.rule.action == "end"
        return out

    def _tell(self, verdict: Verdict) -> Out:
        rule, at_ms = verdict.rule, verdict.frame * FRAME_MS
        hit = {"rule": rule.name, "listen": verdict.listen, "action": rule.action, "at_ms": at_ms}
        self._count += 1
        if len(self._hits) < HITS_TOLD:
            self._hits.append(hit)
        text = self._policy.redact(verdict.text)
        guarded = Guarded(rule.name, verdict.listen, rule.action, verdict.frame, text)
        if rule.url is None:
            return [guarded]
        channel = "user" if verdict.listen == "user" else "agent"
        return [guarded, Webhook(rule.name, rule.url, hit | {"channel": channel, "text": text})]

    def _silence(self, answer: Answer) -> Answer:
        if FrameFlags.GUARDED in answer.flags:
            return answer
        self._silenced += 1
        return answer.silenced()


def _leave(answer: Answer) -> Out:
    out: Out = [
        Record(answer.user, answer.agent, answer.flags),
        AgentFrame(answer.frame, answer.agent, answer.arrived),
    ]
    if answer.text:
        out.append(AgentText(answer.frame, answer.text))
    return out
