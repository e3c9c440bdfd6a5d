"""One call, as a pure state machine that both wires share: inputs and the time in, actions out.

States, steps and timeouts stand in `server.lifecycle`, the ways to end in `server.endings`, what happens
to the agent's speech on its way out in `server.guardrails.delivery`. Every method returns what is to be
done, in order. Frame n in and frame n out are the same 80 ms of the session.
Refuses to know sockets, asyncio, clocks, wires and the model behind the answers.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from audio.frame_flags import FrameFlags
from audio.frames import Samples, silence
from duet_client.wire import Channel, Word
from model.engine import FrameResult
from server.actions import (
    AgentDone,
    AgentFrame,
    Ahead,
    Closed,
    Deed,
    Dropped,
    End,
    Finish,
    Notice,
    Padded,
    PauseReading,
    Problem,
    Record,
    ResumeReading,
    Said,
    Submit,
    Usage,
    Words,
)
from server.counts import Counts
from server.endings import CONTENT, MODEL_ERROR, TOO_MUCH_AUDIO, Ending
from server.guardrails.delivery import UNGUARDED, Answer, Delivery, Policy
from server.lifecycle import TIMEOUTS, TRANSITIONS, Since, State, Step
from server.limits import Limits
from server.pacing import FRAME_S, Free, Pacer, RealTime
from server.shortfall import Shortfall

Actions = list[Said | Deed]
Tail = tuple[list[Samples], int]
"""The last frames, and how many samples of the last one are filling."""

USAGE_FRAMES = 125
"""Usage is told every 10 s of session time."""


@dataclass(frozen=True, slots=True)
class Heard:
    """A frame of the user's on its way, and since when it is here."""

    frame: Samples
    flags: FrameFlags
    since: float


class Session:
    """See the module.

    flush: asked once, at a graceful end, for what the input still holds.
    forget: lets go of the audio that came and was not handed in yet, and says how many frames that is.
    policy: what the agent's speech is held to.
    """

    def __init__(
        self,
        limits: Limits,
        flush: Callable[[], Tail],
        forget: Callable[[], int],
        now: float,
        policy: Policy = UNGUARDED,
    ) -> None:
        self.state = State.OPENING
        self.counts = Counts()
        self._limits = limits
        self._flush = flush
        self._forget = forget
        self._delivery = Delivery(policy)
        self._shortfall = Shortfall()
        self._pacer: Pacer = Free()
        self._lag_frames = self._context_frames = 0
        self._since = dict.fromkeys(Since, math.inf) | {Since.ENTERED: now, Since.SIGN: now}
        self._backlog: deque[Heard] = deque()
        self._in_flight: deque[Heard] = deque()
        self._unwritten = 0
        self._started = self._muted = self._paused = self._told_ahead = False
        self._ending = MODEL_ERROR
        self._out: Actions = []

    # -- inputs -----------------------------------------------------------------------------------

    def start(self, lag_frames: int, context_frames: int, now: float) -> Actions:
        """The model has a place for this session."""
        self._lag_frames, self._context_frames = lag_frames, context_frames
        if self._limits.pace == "realtime":
            self._pacer = RealTime(now, self._limits.silence_after_s)
        self._started = self._move(Step.START, now)
        return self._take()

    def came(self, frames: int, now: float) -> Actions:
        """Audio of so many frames came, to be heard next. Too much ends the session before it is decoded."""
        waiting = len(self._backlog) + frames - self._room(now)
        if self.state is State.RUNNING and waiting * FRAME_S > self._limits.backlog_s:
            self._stop(TOO_MUCH_AUDIO, now)
        return self._take()

    def hear(self, frames: Sequence[Samples], now: float) -> Actions:
        """Audio, decoded: enough for so many whole frames (none is fine)."""
        if self.state is not State.RUNNING:
            self._drop(len(frames) if self.state is not State.ENDED else 0)
            return self._take()
        self._since[Since.SIGN] = now
        self._pacer.heard(now)
        self._backlog.extend(Heard(frame, FrameFlags(0), now) for frame in frames)
        self._accept(now)
        if len(self._backlog) * FRAME_S > self._limits.backlog_s:
            self._stop(TOO_MUCH_AUDIO, now)
        return self._take()

    def command(self, now: float) -> None:
        """The client showed that it is there."""
        self._since[Since.SIGN] = now

    def mute(self, on: bool, now: float) -> Actions:
        """From the next frame on the model hears silence, or the user again."""
        self.command(now)
        if self.state is not State.RUNNING:
            return self._take()  # what was said before the end stays as it was said
        self._muted = on
        self._pacer.muted(on, now)
        return self._take()

    def words(self, channel: Channel, words: tuple[Word, ...], through_ms: int, now: float) -> Actions:
        """A transcriber heard these; the last of them come when the session is over."""
        self._out.append(Words(channel, words, through_ms))
        self._deliver(self._delivery.heard("user" if channel == "user" else "agent_audio", words), now)
        return self._take()

    def answer(self, result: FrameResult, now: float) -> Actions:
        """The model answered the oldest frame that it owes. An answer after a cut is nobody's."""
        if self.state not in (State.RUNNING, State.FINISHING):
            return []
        if result.error is not None or result.pcm is None:
            self._stop(MODEL_ERROR, now)
            return self._take()
        heard = self._in_flight.popleft()
        self.counts.answered += 1
        self._since[Since.OWED] = now if self._in_flight else math.inf
        silent = result.frame < self._lag_frames
        flags = heard.flags | FrameFlags.AGENT_SILENT if silent else heard.flags
        answer = Answer(heard.frame, flags, result.frame, result.pcm, result.text, result.arrived)
        self._deliver(self._delivery.answered(answer), now)
        if self.counts.answered % USAGE_FRAMES == 0:
            self._out.append(self._usage())
        self._accept(now)
        return self._take()

    def written(self, frames: int, now: float) -> Actions:
        """The socket took so many of the agent's frames."""
        self._unwritten -= frames
        self._accept(now)
        return self._take()

    def tick(self, now: float) -> Actions:
        """Time went by."""
        for timeout in TIMEOUTS:
            if timeout.state is self.state and self._passed(timeout.since, timeout.limit, now):
                self._time_out(timeout.then, now)
        if self.state is State.RUNNING:
            self._feed_silence(self._pacer.silence_due(now), now)
        self._accept(now)
        return self._take()

    def drain(self, now: float) -> float:
        """The server was told to stop. Returns when this session ends at the latest."""
        self._since[Since.DRAIN] = now
        return now + self._limits.drain_s

    def end(self, ending: Ending, now: float) -> Actions:
        """Something ends the session. The first graceful ending stays; a cut overrules it."""
        self._stop(ending, now)
        return self._take()

    def stored(self, now: float) -> Actions:
        """The recording is finished, or given up."""
        self._move(Step.STORED, now)
        return self._take()

    @property
    def seconds(self) -> float:
        """Session time that was answered."""
        return round(self.counts.answered * FRAME_S, 3)

    # -- frames -----------------------------------------------------------------------------------

    def _room(self, now: float) -> int:
        """How many frames the model would take at once."""
        accepted, in_flight = self.counts.accepted, len(self._in_flight)
        room = 0
        while self._pacer.may_accept(accepted + room, in_flight + room, self._unwritten, now):
            room += 1
        return room

    def _accept(self, now: float) -> None:
        """Hands waiting frames to the model as far as the pace allows."""
        while self._backlog and self._pacer.may_accept(
            self.counts.accepted, len(self._in_flight), self._unwritten, now
        ):
            self._submit(self._backlog.popleft(), now)
        hold = bool(self._backlog) and self.state is State.RUNNING
        if hold and not self._told_ahead and self._pacer.is_ahead(self.counts.accepted, now):
            self._told_ahead = True
            self._out.append(Ahead())
        self._hold_reading(hold)
        if self.state is State.FINISHING and not self._backlog and not self._in_flight:
            self._move(Step.ANSWERED, now)

    def _deliver(self, out: Actions, now: float) -> None:
        """What is held back counts as nothing that the socket owes taking."""
        self._unwritten += sum(isinstance(action, AgentFrame) for action in out)
        self._out += out
        if self._delivery.ends:
            self._stop(CONTENT, now)

    def _submit(self, heard: Heard, now: float) -> None:
        filled = FrameFlags.SILENCE_FED in heard.flags and not self._muted  # a muted one misses nothing
        self._out += self._shortfall.filled(self.counts.accepted) if filled else self._shortfall.heard()
        if self._muted:
            heard = Heard(silence(), heard.flags | FrameFlags.MUTED, heard.since)
            self.counts.muted += 1
        waiting = len(self._in_flight)
        if not waiting:
            self._since[Since.OWED] = now
        arrived = self._pacer.arrival(self.counts.accepted, heard.since, now)
        self._in_flight.append(heard)
        self.counts.accepted += 1
        fed = FrameFlags.SILENCE_FED in heard.flags
        self._out.append(Submit(heard.frame, arrived, waiting, fed))

    def _feed_silence(self, frames: int, now: float) -> None:
        if frames:
            self._backlog.extend(Heard(silence(), FrameFlags.SILENCE_FED, now) for _ in range(frames))
            self.counts.silence_fed += frames
            self._out.append(Padded(frames))

    def _hold_reading(self, hold: bool) -> None:
        if hold != self._paused:
            self._paused = hold
            self._out.append(PauseReading() if hold else ResumeReading())

    def _drop(self, frames: int) -> None:
        if frames:
            self.counts.dropped += frames
            self._out.append(Dropped(frames))

    def _drop_backlog(self) -> None:
        waiting = sum(FrameFlags.SILENCE_FED not in heard.flags for heard in self._backlog)
        self._drop(waiting + self._forget())
        self._backlog.clear()

    # -- the end ----------------------------------------------------------------------------------

    def _passed(self, since: Since, limit: str, now: float) -> bool:
        return now - self._since[since] >= float(getattr(self._limits, limit))

    def _time_out(self, then: Ending | Step, now: float) -> None:
        if isinstance(then, Step):
            self._move(then, now)
        else:
            self._stop(then, now)

    def _stop(self, ending: Ending, now: float) -> None:
        before = self._ending
        self._ending = ending
        if not self._move(Step.STOP if ending.graceful else Step.CUT, now):
            self._ending = before

    def _move(self, step: Step, now: float) -> bool:
        """Takes the step if the table has it, and does what the new state begins with."""
        state = TRANSITIONS.get((self.state, step))
        if state is None:
            return False
        if step in (Step.STOP, Step.CUT):
            self._tell(self._ending)
        self.state = state
        self._since[Since.ENTERED] = now
        if enter := self._ENTER.get(state):
            enter(self, now)
        return True

    def _tell(self, ending: Ending) -> None:
        if ending.told_as == "info":
            self._out.append(Notice(ending.code, ending.message))
        elif ending.told_as:
            self._out.append(Problem(ending.told_as, ending.code, ending.message))

    def _enter_finishing(self, now: float) -> None:
        """No more input: the last frame is filled up, and what was handed in is answered."""
        if not self._ending.hears_out:
            self._drop_backlog()
        frames, padding = self._flush()
        self._backlog.extend(Heard(frame, FrameFlags(0), now) for frame in frames)
        if padding:
            self._backlog.append(replace(self._backlog.pop(), flags=FrameFlags.PADDED_INPUT))
            self.counts.padded_samples += padding
            self._out.append(Padded(1))
        self._accept(now)

    def _enter_finalising(self, now: float) -> None:
        self._drop_backlog()
        self._hold_reading(False)
        self._deliver(self._delivery.over(), now)
        for heard in self._in_flight:  # the user said it, though nobody answers any more
            self._out.append(Record(heard.frame, silence(), heard.flags | FrameFlags.AGENT_SILENT))
        self.counts.unanswered += len(self._in_flight)
        self._in_flight.clear()
        if self._started:
            self._out += self._shortfall.over(self.counts.accepted, self.counts.dropped)
        self._out += [AgentDone(), Finish(self._ending, self._summary())]

    def _enter_ended(self, _now: float) -> None:
        if self._started:
            self._out += [self._usage(), Closed(self._ending, self.seconds)]
        self._out.append(End(self._ending))

    _ENTER = {
        State.FINISHING: _enter_finishing,
        State.FINALISING: _enter_finalising,
        State.ENDED: _enter_ended,
    }

    def _summary(self) -> dict[str, Any]:
        return {"counts": self.counts.as_dict()} | self._delivery.summary

    def _usage(self) -> Usage:
        return Usage(self.seconds, min(1.0, self.counts.answered / max(1, self._context_frames)))

    def _take(self) -> Actions:
        out, self._out = self._out, []
        return out
