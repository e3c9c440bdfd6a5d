"""One channel: every word once, in order, in time, whatever happens to the passes and the process."""

from __future__ import annotations

import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from audio.frames import FRAME_MS
from duet_client.wire import Word
from tests.transcribe_sidecar.spoken_script import (
    JITTER_MS,
    SILENCE,
    Script,
    Server,
    ear,
    listened,
    talk,
    told,
)
from transcribe_sidecar.agreement import HOLD_MS
from transcribe_sidecar.ear import Ear
from transcribe_sidecar.pace import STEPS, Pace
from transcribe_sidecar.timeline import WHISPER_MS, Window

TAIL_MS = 2_000
SEEDS = st.integers(0, 10_000)


def end_of(script: Script) -> int:
    return script.words[-1].end_ms + TAIL_MS


def texts(script: Script) -> list[str]:
    return [word.word for word in script.words]


@settings(max_examples=12)
@example(521)
@given(SEEDS)
def test_every_word_is_told_once_though_words_at_window_edges_are_misheard(seed: int) -> None:
    script, server = talk(seed), Server()
    for each in listened(ear(), script, 0, end_of(script)):
        server.take(each)
    assert server.texts == texts(script)


@settings(max_examples=8)
@given(SEEDS)
def test_every_word_is_told_once_where_the_same_few_words_come_again_and_again(seed: int) -> None:
    script, server = talk(seed, texts=("thank", "you")), Server()
    for each in listened(ear(), script, 0, end_of(script)):
        server.take(each)
    assert server.texts == texts(script)


@settings(max_examples=12)
@given(SEEDS, st.lists(st.integers(1_000, 18_000), min_size=2, max_size=2))
def test_every_word_is_told_once_though_the_listener_dies_twice_in_mid_call(
    seed: int, deaths: list[int]
) -> None:
    script, server, from_ms = talk(seed), Server(), 0
    for death in (*sorted(deaths), end_of(script)):
        start = server.standing.from_ms // FRAME_MS * FRAME_MS
        listener = Ear("user", start, server.standing.last, server.standing.through_ms)
        for each in listened(listener, script, start, max(death, start)):
            server.take(each)
        from_ms = death
    assert from_ms == end_of(script)
    assert server.texts == texts(script)


@pytest.mark.parametrize("seed", range(4))
def test_every_word_is_told_once_though_no_pass_was_possible_for_20_s(seed: int) -> None:
    script, server = talk(seed, count=100), Server()
    for each in listened(ear(), script, 0, end_of(script), busy=lambda at_ms: 5_000 < at_ms < 25_000):
        server.take(each)
    assert server.texts == texts(script)


@pytest.mark.parametrize("pace", STEPS)
def test_every_word_is_told_once_at_every_pace(pace: Pace) -> None:
    script, server = talk(3, count=80), Server()
    for each in listened(ear(), script, 0, end_of(script), pace=pace):
        server.take(each)
    assert server.texts == texts(script)


def monologue(seconds: int) -> Script:
    """A minute without a pause."""
    return Script(
        tuple(Word(f"word{n}", 500 + 300 * n, 790 + 300 * n, 1.0) for n in range(seconds * 1000 // 300))
    )


@pytest.mark.parametrize("pace", [STEPS[0], STEPS[-1]])
def test_somebody_who_never_pauses_is_heard_in_windows_that_whisper_can_hear(pace: Pace) -> None:
    script, server, listener = monologue(70), Server(), ear()
    longest = 0

    class Measured(Script):
        def heard(self, window: Window) -> tuple[Word, ...]:
            nonlocal longest
            longest = max(longest, window.end_ms - window.start_ms)
            return super().heard(window)

    for each in listened(listener, Measured(script.words), 0, end_of(script), pace=pace):
        server.take(each)
    assert longest <= WHISPER_MS
    assert server.texts == texts(script)


def test_words_are_told_while_somebody_still_speaks() -> None:
    script, server = monologue(6), Server()
    for each in listened(ear(), script, 0, 5_000):
        server.take(each)
    assert server.texts[:8] == texts(script)[:8]


def test_a_word_at_the_end_of_a_window_waits_until_more_was_heard() -> None:
    script, listener = monologue(6), ear()
    for at_ms in range(0, 6_400, 320):
        for each in listened(listener, script, at_ms, at_ms + 320):
            assert all(word.end_ms <= at_ms + 320 - HOLD_MS + JITTER_MS for word in each.words)


def test_words_are_final_when_an_utterance_is_over_without_waiting_for_a_second_pass() -> None:
    script = Script((Word("yes", 1_000, 1_400, 1.0),))
    found = [word for each in listened(ear(growing=False), script, 0, 3_000) for word in each.words]
    assert [word.word for word in found] == ["yes"]


def test_long_silence_is_told_now_and_then_so_that_a_successor_need_not_hear_it_again() -> None:
    server, script = Server(), Script(())
    messages = list(listened(ear(), script, 0, 60_000))
    for each in messages:
        server.take(each)
    assert server.through_ms > 54_000
    assert len(messages) <= 12


def test_audio_in_which_nobody_speaks_is_not_kept() -> None:
    listener, script = ear(), Script(())
    list(listened(listener, script, 0, 60_000))
    assert listener.waiting_ms == 0
    assert len(listener._chunks) < 20


def test_audio_that_was_told_is_not_kept() -> None:
    listener, script = ear(), monologue(120)
    held = 0
    for at_ms in range(0, 119_040, 960):
        for chunk in range(30):
            listener.push(SILENCE, script.probability(at_ms + 32 * chunk), 0.0)
        list(told(listener, script))
        held = max(held, listener.waiting_ms)
    assert held < 15_000


def test_passes_wait_until_there_is_new_speech() -> None:
    listener, script = ear(), Script((Word("yes", 1_000, 1_400, 1.0),))
    list(listened(listener, script, 0, 2_200))
    for _ in range(10):
        listener.push(SILENCE, 0.01, 2.0)
    assert listener.wants(STEPS[0]) is None


def test_a_channel_in_which_nothing_is_made_out_is_heard_less_often() -> None:
    class Hum(Script):
        passes = 0

        def probability(self, at_ms: int) -> float:
            return 0.97 if at_ms >= 0 else 0.0

        def heard(self, window: Window) -> tuple[Word, ...]:
            Hum.passes += bool(window.samples.size)
            return ()

    list(listened(ear(), Hum(()), 0, 20_000))
    assert Hum.passes <= 8


def test_random_deaths_never_make_the_server_refuse() -> None:
    chance = random.Random(7)
    script, server, at = talk(11, count=60), Server(), 0
    while at < end_of(script):
        at += chance.randint(300, 4_000)
        start = server.standing.from_ms // FRAME_MS * FRAME_MS
        listener = Ear("user", start, server.standing.last, server.standing.through_ms)
        for each in listened(listener, script, start, max(at, start)):
            server.take(each)
    assert server.texts == texts(script)
