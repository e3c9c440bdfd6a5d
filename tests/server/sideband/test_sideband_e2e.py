"""Observers of real calls over real sockets: they hear all of it, and the calls never notice."""

from __future__ import annotations

import asyncio
from itertools import chain
from pathlib import Path

import aiohttp
import numpy as np
import pytest

import duet_client
from audio.frames import FRAME_SAMPLES
from audio.opus import OggOpusWriter
from duet_client import Frame, wire
from tests.server.serving import audio_of, running, tone, types_of
from tests.server.sideband.observing import (
    Listener,
    calling,
    end,
    hear_frames,
    listening,
    recorded,
    say_frames,
    started,
)


@pytest.mark.parametrize("form", ["wav", "flac"])
def test_what_is_heard_again_and_then_live_is_the_recording_sample_for_sample(
    tmp_path: Path, form: str
) -> None:
    async def scene() -> None:
        async with running(tmp_path, pace="free", recording_format=form) as here:
            async with calling(here, store=True) as client:
                await say_frames(client, 0, 200)
                await hear_frames(client, 200)
                async with listening(here, client.session["id"], from_ms=0) as listener:
                    await listener.frame(20)
                    await say_frames(client, 200, 60)
                    await end(client)
                    await listener.to_the_end()
            assert listener.numbers == list(range(260))
            assert listener.of(wire.Gap) == []
            assert np.array_equal(listener.samples, await recorded(here, tmp_path, client.session["id"]))
            assert isinstance(listener.items[-1], wire.SessionClosed)

    asyncio.run(scene())


def test_a_call_that_nobody_records_is_heard_again_all_the_same(tmp_path: Path) -> None:
    async def scene() -> None:
        async with running(tmp_path, pace="free") as here, calling(here) as client:
            await say_frames(client, 0, 200)
            events = await hear_frames(client, 200)
            async with listening(here, client.session["id"], from_ms=1_000) as listener:
                assert listener.observer.attached.frame == 12
                await end(client)
                await listener.to_the_end()
            assert listener.numbers == list(range(12, 200))
            levels = (listener.samples[::FRAME_SAMPLES] * 32_768).tolist()
            assert levels == [[number + 1, number] for number in range(12, 200)]
            delivered = np.frombuffer(audio_of(events), "<i2")[12 * FRAME_SAMPLES :]
            assert (listener.samples[:, 1] * 32_768).tolist() == delivered.tolist()

    asyncio.run(scene())


def test_who_names_no_time_hears_what_is_said_from_now_on() -> None:
    async def scene() -> None:
        async with running(pace="free") as here, calling(here) as client:
            await say_frames(client, 0, 10)
            await hear_frames(client, 10)
            async with listening(here, client.session["id"]) as listener:
                await say_frames(client, 10, 5)
                await end(client)
                await listener.to_the_end()
            assert listener.observer.attached.session == client.session
            assert listener.observer.attached.frame == 10
            assert listener.numbers == [10, 11, 12, 13, 14]
            assert [text.start_ms for text in listener.of(wire.OutputTranscriptDelta)] == [800]

    asyncio.run(scene())


def test_audio_as_events_is_the_same_audio() -> None:
    async def scene() -> None:
        async with running(pace="free") as here, calling(here) as client:
            await say_frames(client, 0, 3)
            await hear_frames(client, 3)
            async with listening(here, client.session["id"], from_ms=0, audio="events") as listener:
                await end(client)
                await listener.to_the_end()
            users = listener.of(wire.InputAudioAppend)
            agents = listener.of(wire.OutputAudioDelta)
            assert [each.audio for each in users] == [tone(1, 1), tone(1, 2), tone(1, 3)]
            assert [each.audio for each in agents] == [bytes(3_840), tone(1, 1), tone(1, 2)]
            assert [(each.start_ms, each.end_ms) for each in agents] == [(0, 80), (80, 160), (160, 240)]

    asyncio.run(scene())


def test_an_observer_that_never_reads_costs_the_call_nothing_and_is_told_what_it_missed() -> None:
    async def scene() -> None:
        async with running(pace="free") as here, calling(here) as client:
            async with listening(here, client.session["id"]) as stuck:
                transport = stuck.observer._link.raw.transport
                transport.pause_reading()
                await say_frames(client, 0, 400)
                events = await hear_frames(client, 400)
                assert audio_of(events) == bytes(3_840) + b"".join(tone(1, n + 1) for n in range(399))
                transport.resume_reading()
                await stuck.until(wire.Gap)
                await end(client)
                await stuck.to_the_end()
            # One gap, or more where the sockets' own buffers grew meanwhile.
            gaps = [range(gap.from_ms // 80, gap.to_ms // 80) for gap in stuck.of(wire.Gap)]
            assert sorted([*stuck.numbers, *chain.from_iterable(gaps)]) == list(range(400))
            assert stuck.numbers == sorted(stuck.numbers)
            assert gaps[-1].stop <= 400 - 125
            async with aiohttp.ClientSession() as http, http.get(f"{here.http}/metrics") as answer:
                missed = sum(map(len, gaps))
                assert f"duet_observer_frames_missed_total {missed}.0" in await answer.text()

    asyncio.run(scene())


def test_an_observer_that_vanishes_is_missed_by_nobody() -> None:
    async def scene() -> None:
        async with running(pace="free") as here, calling(here) as client:
            session_id = client.session["id"]
            async with listening(here, session_id) as other, listening(here, session_id) as killed:
                await say_frames(client, 0, 5)
                await killed.frame(2)
                killed.observer._link.raw.transport.abort()
                await say_frames(client, 5, 5)
                events = await end(client)
                await other.to_the_end()
            assert types_of(events).count("session.output_audio.delta") == 10
            assert other.numbers == list(range(10))

    asyncio.run(scene())


def test_eight_observers_hear_the_same_and_a_ninth_is_turned_away() -> None:
    async def scene() -> None:
        async with running(pace="free") as here, calling(here) as client:
            session_id = client.session["id"]
            heard: list[Listener] = []
            ready = asyncio.Barrier(9)

            async def observe() -> None:
                async with listening(here, session_id, from_ms=0) as listener:
                    heard.append(listener)
                    await ready.wait()
                    await listener.to_the_end()

            observers = [asyncio.create_task(observe()) for _ in range(8)]
            await ready.wait()
            with pytest.raises(duet_client.ServerFull, match="8 observers"):
                async with listening(here, session_id):
                    pass
            await say_frames(client, 0, 100)
            await end(client)
            await asyncio.gather(*observers)
            assert [listener.numbers for listener in heard] == [list(range(100))] * 8
            assert all(np.array_equal(listener.samples, heard[0].samples) for listener in heard)

    asyncio.run(scene())


def test_a_call_on_the_moshi_wire_is_observed_like_any_other(tmp_path: Path) -> None:
    async def scene() -> None:
        async with running(tmp_path, pace="free", record="all", recording_format="wav") as here:
            async with (
                aiohttp.ClientSession() as http,
                http.ws_connect(here.moshi) as moshi,
                duet_client.observe(here.http) as calls,
            ):
                session = (await started(calls)).session
                async with listening(here, session["id"], from_ms=0) as listener:
                    opus, level = OggOpusWriter(), np.full(FRAME_SAMPLES, 0.1, np.float32)
                    for _ in range(12):
                        await moshi.send_bytes(b"\1" + opus.push(level))
                    await listener.frame(5)
                    await listener.observer.send(wire.Mute("m_1"))
                    assert (await listener.until(wire.Muted)).client_event_id == "m_1"
                    await listener.observer.send(wire.Close())
                    await listener.to_the_end()
            kept = await recorded(here, tmp_path, session["id"])
            assert session["audio"]["format"]["type"] == "audio/ogg; codecs=opus"
            assert np.array_equal(listener.samples, kept)
            assert listener.of(wire.SessionClosed)[0].reason == "close_requested"
            assert len(listener.of(wire.OutputTranscriptDelta)) == len(kept) // FRAME_SAMPLES // 5

    asyncio.run(scene())


def test_an_observer_mutes_the_user_and_everybody_is_told() -> None:
    async def scene() -> None:
        async with running(pace="free") as here, calling(here) as client:
            session_id = client.session["id"]
            async with listening(here, session_id) as asker, listening(here, session_id) as other:
                await say_frames(client, 0, 3)
                await asker.frame(2)
                await asker.observer.send(wire.Mute("m_1"))
                assert (await asker.until(wire.Muted)).client_event_id == "m_1"
                assert (await other.until(wire.Muted)).client_event_id is None
                told = (await client.hear_until("session.input_audio.muted"))[-1]
                assert "client_event_id" not in told
                await say_frames(client, 3, 3)
                await asker.frame(5)
                await asker.observer.send(wire.Unmute("m_2"))
                assert (await asker.until(wire.Unmuted)).client_event_id == "m_2"
                await say_frames(client, 6, 2)
                await end(client)
                await asker.to_the_end()
            levels = (asker.samples[::FRAME_SAMPLES, 0] * 32_768).tolist()
            assert levels == [1, 2, 3, 0, 0, 0, 7, 8]

    asyncio.run(scene())


def test_who_wants_no_audio_hears_of_everything_else() -> None:
    async def scene() -> None:
        async with running(pace="free") as here, calling(here) as client:
            async with listening(here, client.session["id"], audio="none") as listener:
                await say_frames(client, 0, 200)
                await end(client)
                await listener.to_the_end()
            assert listener.of(Frame) == []
            assert listener.of(wire.Gap) == []
            texts = [text.start_ms // 80 for text in listener.of(wire.OutputTranscriptDelta)]
            assert texts == list(range(5, 200, 5))
            assert isinstance(listener.items[-1], wire.SessionClosed)

    asyncio.run(scene())


def test_a_call_whose_model_breaks_down_is_over_for_its_observers_too() -> None:
    async def scene() -> None:
        async with running(pace="free") as here, calling(here) as client:
            async with listening(here, client.session["id"]) as listener:
                here.runtime.fail_slots = {0, 1}
                await client.speak(tone(1))
                await listener.to_the_end()
            assert [error.code for error in listener.of(wire.Error)] == ["model_error"]
            assert [over.reason for over in listener.of(wire.SessionClosed)] == ["connection_lost"]

    asyncio.run(scene())


def test_an_observer_ends_a_call() -> None:
    async def scene() -> None:
        async with running(pace="free") as here, calling(here) as client:
            session_id = client.session["id"]
            async with listening(here, session_id) as asker, listening(here, session_id) as other:
                await say_frames(client, 0, 2)
                await asker.frame(1)
                await asker.observer.send(wire.Close("c_1"))
                closed = (await client.hear_out())[-1]
                await asker.to_the_end()
                await other.to_the_end()
            assert closed["reason"] == "close_requested"
            assert "client_event_id" not in closed
            assert asker.of(wire.SessionClosed)[0].client_event_id == "c_1"
            assert other.of(wire.SessionClosed)[0].client_event_id is None

    asyncio.run(scene())


def test_without_a_sidecar_a_call_is_kept_from_its_first_observer_on(tmp_path: Path) -> None:
    async def scene() -> None:
        async with running(tmp_path, pace="free", sidecar="off") as here, calling(here) as client:
            session_id = client.session["id"]
            await say_frames(client, 0, 200)
            await hear_frames(client, 200)
            async with listening(here, session_id, from_ms=0) as first:
                assert first.observer.attached.frame == 75  # the last ten seconds are at hand
                await first.frame(199)
                await say_frames(client, 200, 126)
                await hear_frames(client, 126)
                await first.frame(325)
                async with listening(here, session_id, from_ms=0) as second:
                    assert second.observer.attached.frame == 200
                    await end(client)
                    await second.to_the_end()
            assert first.numbers == list(range(75, 326))
            assert second.numbers == list(range(200, 326))

    asyncio.run(scene())
