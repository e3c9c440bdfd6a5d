"""Many channels, one model: fair, bounded, slower when there is too much, and quick again afterwards.

A simulation: the clock is a number, a pass costs what it is said to cost, speech is written down.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from duet_client.wire import Word
from tests.transcribe_sidecar.spoken_script import SILENCE, Script, Server
from transcribe_sidecar.ear import Ear
from transcribe_sidecar.pace import STEPS, Pacer
from transcribe_sidecar.schedule import Waiting, chosen, longest_s
from transcribe_sidecar.timeline import CHUNK_MS

BATCH = 4


def talkers(count: int, seconds: int) -> list[Script]:
    """Each says sentences of 3 s with 1 s between them, all the time, not all at once."""
    scripts = []
    for n in range(count):
        starts = [s * 4_000 + n * 700 % 4_000 + w * 300 for s in range(seconds // 4) for w in range(10)]
        scripts.append(Script(tuple(Word(f"w{at}", at, at + 260, 1.0) for at in starts)))
    return scripts


@dataclass
class Room:
    """cost_s: of a batch, and of each window in it."""

    scripts: list[Script]
    cost_s: tuple[float, float]
    pacer: Pacer = field(default_factory=Pacer)
    lags: dict[str, list[int]] = field(default_factory=dict)
    modes: list[str] = field(default_factory=list)
    held_ms: int = 0

    def __post_init__(self) -> None:
        self.ears = {f"call{n}": Ear("user") for n in range(len(self.scripts))}
        self.servers = {name: Server() for name in self.ears}
        self.passes = dict.fromkeys(self.ears, 0)
        self.lags = {name: [] for name in self.ears}

    def run(self, seconds: float) -> None:
        free_at = 0.0
        for chunk in range(round(seconds * 1000 / CHUNK_MS)):
            now = chunk * CHUNK_MS / 1000
            for script, (name, ear) in zip(self.scripts, self.ears.items(), strict=True):
                ear.push(SILENCE, script.probability(chunk * CHUNK_MS), now)
                untold = ear.untold_ms
                self.lags[name].append(0 if untold is None else ear.now_ms - untold)
                self.held_ms = max(self.held_ms, ear.waiting_ms)
            self.modes.append(self.pacer.pace.mode)
            if now >= free_at:
                free_at = now + self.batch(now)

    def batch(self, now: float) -> float:
        for name, ear in self.ears.items():
            for told in (ear.settle(), ear.quiet()):
                if told is not None:
                    self.servers[name].take(told)
        wants = [(name, ear.wants(self.pacer.pace)) for name, ear in self.ears.items()]
        waiting = [Waiting(name, "user", since, False) for name, since in wants if since is not None]
        self.pacer.waited(longest_s(waiting, now), now)
        picked = chosen(waiting, now, BATCH)
        for each in picked:
            index = int(each.call.removeprefix("call"))
            window = self.ears[each.call].take()
            told = self.ears[each.call].hear(window, self.scripts[index].heard(window))
            self.passes[each.call] += 1
            if told is not None:
                self.servers[each.call].take(told)
        return self.cost_s[0] + self.cost_s[1] * len(picked) if picked else 0.0


def test_with_few_talkers_words_come_as_they_are_spoken() -> None:
    room = Room(talkers(2, 40), (0.05, 0.15))
    room.run(40)
    assert set(room.modes) == {"streaming"}
    assert np.percentile(np.concatenate(list(room.lags.values())), 95) < 3_500


def test_with_too_many_talkers_it_goes_slower_then_by_utterances_and_loses_no_word() -> None:
    room = Room(talkers(12, 60), (0.05, 0.25))
    room.run(70)
    assert set(room.modes) >= {"slower", "utterances"}
    for script, server in zip(room.scripts, room.servers.values(), strict=True):
        assert server.texts == [word.word for word in script.words]


def test_nobody_is_heard_much_more_often_than_others() -> None:
    room = Room(talkers(12, 60), (0.05, 0.25))
    room.run(60)
    assert max(room.passes.values()) <= 1.5 * min(room.passes.values())


def test_after_too_much_it_catches_up_and_streams_again() -> None:
    room = Room(talkers(12, 40), (0.05, 0.25))
    room.run(100)
    assert max(max(lags) for lags in room.lags.values()) > 4_000
    assert max(lags[-1] for lags in room.lags.values()) == 0
    assert room.pacer.pace == STEPS[0]


def test_what_is_held_of_a_channel_does_not_grow_with_the_time_of_too_much() -> None:
    short, long = (Room(talkers(12, seconds), (0.05, 0.25)) for seconds in (30, 60))
    short.run(30)
    long.run(60)
    assert long.held_ms <= 1.5 * short.held_ms


def test_a_window_of_a_final_transcript_comes_after_those_of_running_calls_but_does_come() -> None:
    running = Waiting("running", "user", 100.0, False)
    final = Waiting("ended", "user", 95.0, True)
    assert chosen([final, running], 101.0, 1) == [running]
    assert chosen([Waiting("ended", "user", 80.0, True), running], 101.0, 1)[0].final


def test_the_one_that_waited_longest_comes_first() -> None:
    waiting = [Waiting(name, "agent", since, False) for name, since in (("a", 3.0), ("b", 1.0), ("c", 2.0))]
    assert [each.call for each in chosen(waiting, 5.0, 2)] == ["b", "c"]
