"""A welcome that is held back, over real sockets: when it is due, and what brings it at once."""

from __future__ import annotations

import asyncio
import time
from itertools import pairwise

import aiohttp
import pytest

from server import phases
from server.pacing import FRAME_S
from server.phases import Phases
from tests.server.serving import WAIT_S, Running, Talker, audio_of, running, talking, tone, types_of

CALLERS = 8


def kept(here: Running) -> Phases:
    return here.server._hall.phases


async def all_places_free(here: Running) -> None:
    """Returns once nobody is in, and no phase is taken any more."""
    async with asyncio.timeout(WAIT_S):
        while here.server._hall.admission.active:  # noqa: ASYNC110  nothing to be told by
            await asyncio.sleep(0.01)
    assert kept(here).beats == {}


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine may be busy: whoever has not sent anything yet counts all the same."""
    monkeypatch.setattr(phases, "SILENT_S", 3_600.0)


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every welcome is due in an hour: whatever comes was brought by something else. Who waits for it."""
    waiting: list[str] = []

    def welcome(_: Phases, session_id: str, _now: float) -> float:
        waiting.append(session_id)
        return 3_600.0

    monkeypatch.setattr(Phases, "welcome", welcome)
    return waiting


@pytest.mark.usefixtures("patient")
def test_callers_of_one_moment_are_welcomed_when_it_is_their_turn_and_evenly_spread() -> None:
    async def live(here: Running, welcomed: dict[str, float]) -> None:
        async with talking(here.live) as client:
            await client.start()
            welcomed[client.session["id"]] = time.monotonic()
            await everybody.wait()

    async def scene() -> None:
        welcomed: dict[str, float] = {}
        async with running(capacity=CALLERS) as here:
            async with asyncio.TaskGroup() as callers:
                for _ in range(CALLERS):
                    callers.create_task(live(here, welcomed))
                async with asyncio.timeout(WAIT_S):
                    while len(welcomed) < CALLERS:  # noqa: ASYNC110  nothing to be told by
                        await asyncio.sleep(0.01)
                beats = dict(kept(here).beats)
                everybody.set()
            taken = sorted(beat.phase for beat in beats.values())
            gaps = [after - before for before, after in pairwise([*taken, taken[0] + FRAME_S])]
            assert gaps == pytest.approx([FRAME_S / CALLERS] * CALLERS, abs=1e-6)
            assert beats.keys() == welcomed.keys()
            assert all(moment >= beats[session_id].welcomed for session_id, moment in welcomed.items())
            await all_places_free(here)

    everybody = asyncio.Event()
    asyncio.run(scene())


@pytest.mark.usefixtures("patient")
def test_a_handshake_waits_for_its_turn_as_well() -> None:
    async def scene() -> None:
        async with running() as here, talking(here.live) as client, aiohttp.ClientSession() as http:
            await client.start()
            async with http.ws_connect(here.moshi) as socket:
                assert await socket.receive_bytes(timeout=WAIT_S) == b"\x00"
                now = time.monotonic()
                first, second = kept(here).beats.values()
                assert second.phase == pytest.approx((first.phase + FRAME_S / 2) % FRAME_S, abs=1e-6)
                assert now >= second.welcomed

    asyncio.run(scene())


def test_frames_set_the_phase_that_the_next_caller_keeps_away_from() -> None:
    async def scene() -> None:
        async with running() as here, talking(here.live) as client:
            await client.start()
            (beat,) = kept(here).beats.values()
            assert not beat.heard
            await client.speak(tone(1))
            await client.hear_until("session.output_audio.delta")
            assert beat.heard
            assert beat.phase == beat.last % FRAME_S

    asyncio.run(scene())


def test_silence_that_nobody_sent_sets_no_phase() -> None:
    async def scene() -> None:
        async with running(silence_after_s=0.01) as here, talking(here.live) as client:
            await client.start()
            await client.hear_until("session.output_audio.delta")
            assert [beat.heard for beat in kept(here).beats.values()] == [False]

    asyncio.run(scene())


def test_at_a_free_pace_no_phases_are_kept() -> None:
    async def scene() -> None:
        async with running(pace="free") as here, talking(here.live) as client:
            await client.start()
            await client.speak(tone(1))
            await client.hear_until("session.output_audio.delta")
            assert kept(here).beats == {}

    asyncio.run(scene())


async def begin(client: Talker) -> None:
    await client.say("session.start", session={"model": "default"})


async def wait_for(count: int, waiting: list[str]) -> None:
    """Returns once so many welcomes are held back."""
    async with asyncio.timeout(WAIT_S):
        while len(waiting) < count:  # noqa: ASYNC110  nothing to be told by
            await asyncio.sleep(0.01)


@pytest.mark.usefixtures("endless")
def test_who_does_not_wait_for_its_welcome_is_answered_at_once_with_the_welcome_first() -> None:
    async def scene() -> None:
        async with running() as here, talking(here.live) as client:
            await begin(client)
            await client.speak(tone(2))
            await client.say("session.close")
            events = await client.hear_out()
            assert events[0]["type"] == "session.started"
            assert audio_of(events) == bytes(3840) + tone(1)
            assert events[-1]["reason"] == "close_requested"

    asyncio.run(scene())


@pytest.mark.usefixtures("endless")
def test_an_answer_to_a_command_brings_the_welcome_too() -> None:
    async def scene() -> None:
        async with running() as here, talking(here.live) as client:
            await begin(client)
            await client.say("session.input_audio.mute")
            assert types_of([await client.hear(), await client.hear()]) == [
                "session.started",
                "session.input_audio.muted",
            ]

    asyncio.run(scene())


def test_a_drain_during_the_wait_welcomes_first_and_then_tells(endless: list[str]) -> None:
    async def scene() -> None:
        async with running(drain_s=WAIT_S) as here, talking(here.live) as client:
            await begin(client)
            await wait_for(1, endless)
            draining = asyncio.create_task(here.server.drain())
            started, told = await client.hear(), await client.hear()
            assert started["type"] == "session.started"
            assert told["code"] == "draining"
            await client.say("session.close")
            assert (await client.hear_out())[-1]["type"] == "session.closed"
            async with asyncio.timeout(WAIT_S):
                await draining

    asyncio.run(scene())


def test_a_stop_during_the_wait_says_everything_and_waits_for_nothing(endless: list[str]) -> None:
    async def scene() -> None:
        async with running() as here, talking(here.live) as client, aiohttp.ClientSession() as http:
            await begin(client)
            async with http.ws_connect(here.moshi) as moshi:
                await wait_for(2, endless)
                here.server.stop_now()
                assert types_of(await client.hear_out()) == [
                    "session.started",
                    "info",
                    "session.usage.updated",
                    "session.closed",
                ]
                assert client.close_code == 1001
                assert await moshi.receive_bytes(timeout=WAIT_S) == b"\x00"
                async with asyncio.timeout(WAIT_S):
                    async for _ in moshi:
                        pass
                assert moshi.close_code == 1001

    asyncio.run(scene())


@pytest.mark.parametrize("says_good_bye", [True, False])
def test_who_leaves_during_the_wait_leaves_nothing_behind(endless: list[str], says_good_bye: bool) -> None:
    async def scene() -> None:
        async with running(capacity=1) as here:
            async with talking(here.live) as client:
                await begin(client)
                await wait_for(1, endless)
                if not says_good_bye:
                    client.cut()
            await all_places_free(here)

    asyncio.run(scene())
