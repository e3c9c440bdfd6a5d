"""What holds for a session whatever happens to it, in any order and at any time."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from server import endings
from server.actions import Closed, Dropped, End, Finish, PauseReading, Record, ResumeReading, Submit
from server.endings import Ending
from server.lifecycle import State
from server.session import Actions
from tests.server.sessions import FREE, LIMITS, frame, frames, only, owed, reply, reply_all, started

ENDINGS = [value for value in vars(endings).values() if isinstance(value, Ending)]
LIMITS_UNDER_TEST = [replace(each, backlog_s=8.0) for each in (LIMITS, FREE)]

happenings = st.lists(
    st.one_of(
        st.tuples(st.just("hear"), st.integers(0, 60)),
        st.tuples(st.just("reply"), st.integers(1, 30)),
        st.tuples(st.just("write"), st.integers(1, 30)),
        st.tuples(st.just("wait"), st.floats(0.01, 15.0)),
        st.tuples(st.just("mute"), st.booleans()),
        st.tuples(st.just("end"), st.sampled_from(ENDINGS)),
        st.tuples(st.just("drain"), st.none()),
        st.tuples(st.just("fail"), st.none()),
    ),
    max_size=40,
)


class Life:
    """Plays happenings to a session and keeps all that it wanted."""

    def __init__(self, limits: object) -> None:
        self.session = started(limits, tail=([frame(0.1)], 7), forget=self._forget)  # type: ignore[arg-type]
        self.now = 0.0
        self.heard = self.unheard = 0
        self.unwritten = 0
        self.out: Actions = []

    def play(self, what: str, how: object) -> None:
        getattr(self, f"_{what}")(how)
        assert owed(self.session) <= 25

    def _hear(self, count: int) -> None:
        if self.session.state is not State.ENDED:
            self.heard += count
        self.unheard = count
        self.out += self.session.came(count, self.now)
        self.out += self.session.hear(frames(self._forget()), self.now)

    def _forget(self) -> int:
        forgotten, self.unheard = self.unheard, 0
        return forgotten

    def _reply(self, count: int) -> None:
        for _ in range(min(count, owed(self.session))):
            self.out += reply(self.session, self.now)
            self.unwritten += 1

    def _write(self, count: int) -> None:
        done = min(count, self.unwritten)
        self.unwritten -= done
        self.out += self.session.written(done, self.now)

    def _wait(self, seconds: float) -> None:
        self.now += seconds
        self.out += self.session.tick(self.now)

    def _mute(self, on: bool) -> None:
        self.out += self.session.mute(on, self.now)

    def _end(self, ending: Ending) -> None:
        self.out += self.session.end(ending, self.now)

    def _drain(self, _: None) -> None:
        self.session.drain(self.now)

    def _fail(self, _: None) -> None:
        if owed(self.session):
            self.out += reply(self.session, self.now, error="model_error: no")

    def live_out(self) -> None:
        """Lets the call come to its end: a hang-up, answers that are read, and time that goes by."""
        self._end(endings.REMOTE_HANGUP)
        self._write(self.unwritten)
        for _ in range(10):
            self._wait(1.0)
            self.out += reply_all(self.session, self.now)
        self.out += self.session.stored(self.now)


@settings(max_examples=150)
@given(st.sampled_from(LIMITS_UNDER_TEST), happenings)
def test_every_frame_is_answered_recorded_or_counted_and_every_session_ends(
    limits: object, story: list[tuple[str, object]]
) -> None:
    life = Life(limits)
    for what, how in story:
        life.play(what, how)
    life.live_out()
    counts, out = life.session.counts, life.out
    assert life.session.state is State.ENDED
    assert [type(action) for action in out[-2:]] == [Closed, End]
    assert len(only(End, out)) == len(only(Finish, out)) == 1
    assert len(only(Submit, out)) == counts.accepted == counts.answered + counts.unanswered
    assert len(only(Record, out)) == counts.accepted
    assert sum(dropped.frames for dropped in only(Dropped, out)) == counts.dropped


@settings(max_examples=100)
@given(st.sampled_from(LIMITS_UNDER_TEST), happenings)
def test_nothing_that_the_user_said_vanishes(limits: object, story: list[tuple[str, object]]) -> None:
    life = Life(limits)
    for what, how in story:
        life.play(what, how)
    life.live_out()
    counts = life.session.counts
    padded = 1 if counts.padded_samples else 0
    lost_silence = life.heard + padded + counts.silence_fed - counts.accepted - counts.dropped
    assert 0 <= lost_silence <= counts.silence_fed + padded


@settings(max_examples=100)
@given(st.sampled_from(LIMITS_UNDER_TEST), happenings)
def test_reading_is_paused_and_resumed_in_turn_and_never_left_paused(
    limits: object, story: list[tuple[str, object]]
) -> None:
    life = Life(limits)
    for what, how in story:
        life.play(what, how)
    life.live_out()
    switches = [action for action in life.out if isinstance(action, PauseReading | ResumeReading)]
    pairs = len(switches) // 2
    assert [type(switch) for switch in switches] == [PauseReading, ResumeReading] * pairs
