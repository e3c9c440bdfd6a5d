"""What the user says, and when: a pure state machine, one frame of what is heard in, one of what is said out.

Both are the same 80 ms. A cue is looked at after every 10 ms heard, so that a clip may begin within the
frame that brought it about: the frame leaves only when it is over, as from a microphone.

    WAITING -> DUE      its time is known (its clip starts at `start`, maybe later)
    WAITING -> SKIPPED  its condition was not met in time, or the clip it follows was skipped
    WAITING -> OVER     the conversation ended before it
    DUE     -> OVER     the same

Refuses to know sockets and clocks: time is the number of samples heard.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from audio.frames import FRAME_SAMPLES, SAMPLE_RATE, Samples
from evals.driver.hearing import HOP_SAMPLES, THRESHOLD_DBFS, Hearing
from evals.driver.voice import Voice
from evals.scenario import Say, Scenario

GREETING_SILENCE_S = 1.0
"""A greeting is over when the agent has been silent for so long."""


class State(Enum):
    WAITING = "waiting"
    DUE = "due"
    SKIPPED = "skipped"
    OVER = "over"


@dataclass(slots=True)
class Cue:
    """Where a `Say` stands; positions in samples.

    counts_from: from where its condition counts, once known. start, end: of its clip, once due.
    timed_out: its condition was given up; the clip may have been said anyway.
    """

    say: Say
    state: State = State.WAITING
    counts_from: int | None = None
    start: int = 0
    end: int = 0
    timed_out: bool = False


@dataclass(frozen=True, slots=True)
class Timing:
    """What a run may change in every scenario; None keeps the scenario's own.

    greeting_wait_s: after the lead-in, wait for so long at most until the agent has stopped speaking.
    """

    lead_in_s: float | None = None
    tail_s: float | None = None
    greeting_wait_s: float = 0.0
    agent_threshold_dbfs: float = THRESHOLD_DBFS


class CueEngine:
    """One conversation's user. Step it frame by frame until `done`.

    stopped: why the conversation ended before its time, None where it did not.
    """

    def __init__(self, scenario: Scenario, timing: Timing = Timing()) -> None:
        self.cues = tuple(Cue(say) for say in scenario.says)
        self.done = False
        self.stopped: str | None = None
        self.voice = Voice()
        self.began: int | None = None  # where the scenario's own clock starts, after lead-in and greeting
        self._hearing = Hearing(timing.agent_threshold_dbfs)
        self._lead_in = _samples(scenario.lead_in_s if timing.lead_in_s is None else timing.lead_in_s)
        self._greeting_wait = _samples(timing.greeting_wait_s)
        self._tail = _samples(scenario.tail_s if timing.tail_s is None else timing.tail_s)
        self._limit = _samples(scenario.limit_s)
        self._settled = 0  # when the last cue was decided
        self._by_id = {cue.say.id: cue for cue in self.cues}

    def step(self, heard: Samples) -> Samples:
        """One frame of the agent, float32 [1920] -> the user's frame of the same 80 ms."""
        frame_start = self._hearing.now
        for at in range(0, FRAME_SAMPLES, HOP_SAMPLES):
            self._hearing.hear(heard[at : at + HOP_SAMPLES])
            self._decide(self._hearing.now)
        return self.voice.frame(frame_start)

    def _decide(self, now: int) -> None:
        if self.done:
            return
        if self.began is None:
            self.began = self._begins(now)
        if self.began is not None:
            for cue in self.cues:  # a cue refers to earlier ones only, so one pass settles all
                if cue.state is State.WAITING:
                    self._look(cue, self.began, now)
        self._maybe_end(now)

    def _begins(self, now: int) -> int | None:
        """Where the scenario's clock starts; the end of the lead-in exactly where no greeting is awaited."""
        if now < self._lead_in:
            return None
        if self._greeting_wait == 0:
            return self._lead_in
        quiet = self._hearing.silent_for(0) >= _samples(GREETING_SILENCE_S)
        return now if quiet or now >= self._lead_in + self._greeting_wait else None

    def _look(self, cue: Cue, began: int, now: int) -> None:
        say = cue.say
        if say.at_s is not None:
            self._due(cue, began + _samples(say.at_s))
            return
        if not self._counting(cue, began):
            return
        assert cue.counts_from is not None
        if say.when is None:
            self._due(cue, cue.counts_from + _samples(say.delay_s))
        elif now < cue.counts_from:
            return
        elif self._holds(say, cue.counts_from):
            self._due(cue, now + _samples(say.delay_s))
        elif now - cue.counts_from >= _samples(say.timeout_s):
            self._give_up(cue, now)

    def _counting(self, cue: Cue, began: int) -> bool:
        """Whether it is known from where the cue counts; one that follows a skipped clip is skipped."""
        if cue.counts_from is None:
            before = self._by_id[cue.say.after] if cue.say.after else None
            if before is None:
                cue.counts_from = began
            elif before.state is State.DUE:
                cue.counts_from = before.end
            elif before.state is State.SKIPPED:
                self._skip(cue, self._hearing.now)
        return cue.counts_from is not None

    def _holds(self, say: Say, since: int) -> bool:
        wanted = _samples(say.for_s)
        if say.when == "agent_speaks":
            return self._hearing.spoke_for(since) >= wanted
        if say.when == "agent_finished" and self._hearing.last_sound <= since:
            return False
        return self._hearing.silent_for(since) >= wanted

    def _give_up(self, cue: Cue, now: int) -> None:
        cue.timed_out = True
        match cue.say.on_timeout:
            case "say":
                self._due(cue, now)
            case "skip":
                self._skip(cue, now)
            case _:
                self._end(now, f'the cue of "{cue.say.id}" did not come within {cue.say.timeout_s:g} s')

    def _due(self, cue: Cue, start: int) -> None:
        cue.state = State.DUE
        cue.start, cue.end = start, start + len(cue.say.clip.pcm)
        self._settled = max(self._settled, cue.end)
        self.voice.say(start, cue.say.clip.pcm, cue.say.gain_db)

    def _skip(self, cue: Cue, now: int) -> None:
        cue.state = State.SKIPPED
        self._settled = max(self._settled, now)

    def _maybe_end(self, now: int) -> None:
        waiting = self.began is None or any(cue.state is State.WAITING for cue in self.cues)
        if not waiting and now >= self._settled + self._tail:
            self.done = True
        elif now >= self._limit:
            self._end(now, f"it took longer than its limit_s of {self._limit / SAMPLE_RATE:g} s")

    def _end(self, now: int, why: str) -> None:
        """Before its time: what is not being said by now is not said."""
        self.done, self.stopped = True, why
        self.voice.forget_from(now)
        for cue in self.cues:
            if cue.state is State.WAITING or (cue.state is State.DUE and cue.start >= now):
                cue.state = State.OVER


def _samples(seconds: float) -> int:
    return round(seconds * SAMPLE_RATE)
