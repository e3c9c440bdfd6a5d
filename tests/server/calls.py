"""A wire's other side without a network: carries out what a call wants, with a model that echoes."""

from __future__ import annotations

import json
from collections import deque
from typing import Any, Literal

from audio.frames import silence
from model.engine import FrameResult, Ticket
from server.actions import Deed, End, Finish, Join, Record, Send, Submit
from server.call import Call, Setup
from tests.server.echo_engine import INFO
from tests.server.sessions import FREE

SESSION_ID = "sess_" + "0" * 32
UNIX_0 = 1_700_000_000.0
"""The Unix time when the test's clock shows 0."""


def setup(record: Literal["store", "all", "never"] = "store") -> Setup:
    return Setup(SESSION_ID, INFO, FREE, record, UNIX_0, lambda bits: 2**bits - 1)


class Desk:
    """Drives one call. The model answers each frame with the frame before it."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.now = 0.0
        self.words: dict[int, str] = {}
        self.sent: list[str | bytes] = []
        self.records: list[Record] = []
        self.joins: list[Join] = []
        self.ended: End | None = None
        self._last = silence()
        self._owed: deque[Submit] = deque()
        self._frame = 0
        self.perform(call.open(self.now))

    def say(self, message: str | bytes | dict[str, Any]) -> None:
        text = json.dumps(message) if isinstance(message, dict) else message
        self.perform(self.call.receive(text, self.now))
        while self.call.has_more:
            self.perform(self.call.go_on(self.now))

    def start(self, **session: Any) -> None:
        self.say({"type": "session.start", "session": {"model": "default"} | session})

    def perform(self, deeds: list[Deed]) -> None:
        """In order, then what they lead to; the model answers when nothing else is left to do."""
        waiting = deque(deeds)
        while waiting or self._owed:
            waiting += self._carry_out(waiting.popleft()) if waiting else self._answer()

    def _answer(self) -> list[Deed]:
        submit, number = self._owed.popleft(), self._frame
        self._frame += 1
        pcm, self._last = self._last, submit.frame
        text = self.words.get(number, "")
        result = FrameResult(Ticket(0, 1), number, pcm, text, 1, submit.arrived)
        return self.call.answer(result, self.now)

    def _carry_out(self, deed: Deed) -> list[Deed]:
        match deed:
            case Join():
                self.joins.append(deed)
                return self.call.joined(self.now)
            case Submit():
                self._owed.append(deed)
            case Send():
                self.sent.append(deed.data)
                return self.call.written(deed.frames, self.now)
            case Record():
                self.records.append(deed)
            case Finish():
                return self.call.stored(self.now)
            case End():
                self.ended = deed
        return []

    # -- what came out ----------------------------------------------------------------------------

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(data) for data in self.sent if isinstance(data, str)]

    @property
    def types(self) -> list[str]:
        return [event["type"] for event in self.events]

    def event(self, kind: str) -> dict[str, Any]:
        """The only one of its type."""
        (found,) = [event for event in self.events if event["type"] == kind]
        return found

    def codes(self, kind: str) -> list[str]:
        return [event.get("error", event)["code"] for event in self.events if event["type"] == kind]
