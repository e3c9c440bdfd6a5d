"""The plain HTTP routes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import numpy as np
import pytest
import soundfile
from yarl import URL

from audio.frame_flags import FrameFlags
from audio.frames import silence
from server import pages
from tests.server.serving import WAIT_S, Running, running, talking, tone
from tests.server.test_transport import START, handshake, masked

Scene = Callable[[Running, aiohttp.ClientSession], Awaitable[None]]


def play(scene: Scene, recordings: Path | None = None, **settings: Any) -> None:
    async def whole() -> None:
        async with running(recordings, **settings) as here, aiohttp.ClientSession(here.http) as http:
            await scene(here, http)

    asyncio.run(whole())


def test_the_model_list_has_the_shape_sdks_expect_and_says_what_the_model_is() -> None:
    async def scene(here: Running, http: aiohttp.ClientSession) -> None:
        async with talking(here.live), http.get("/v1/models") as answer:
            listed = await answer.json()
        assert listed["object"] == "list"
        (model,) = listed["data"]
        assert (model["id"], model["object"], model["owned_by"]) == ("echo", "model", "duet")
        duet = model["duet"]
        assert (duet["capacity"], duet["active"], duet["trained"]) == (3, 1, False)
        assert (duet["lag_frames"], duet["context_frames"]) == (1, 250)
        assert duet["sampling"]["audio_top_k"] == 250
        assert (duet["instructions"], duet["voices"]) == (False, [])

    play(scene, capacity=3)


def test_the_page_and_every_answer_carry_a_strict_content_security_policy() -> None:
    async def scene(_: Running, http: aiohttp.ClientSession) -> None:
        for path in ("/", "/main.js", "/v1/models", "/nothing-here"):
            async with http.get(path) as answer:
                policy = answer.headers["Content-Security-Policy"].split("; ")
                assert "default-src 'self'" in policy
                assert "frame-ancestors 'none'" in policy
                assert answer.headers["X-Content-Type-Options"] == "nosniff"
                assert answer.headers["Cache-Control"] == "no-cache"

    play(scene)


def test_a_path_where_nothing_is_answers_in_json_and_is_named() -> None:
    async def scene(_: Running, http: aiohttp.ClientSession) -> None:
        for path in ("/nothing-here", "/v1/nothing", "/audio/none.js"):
            async with http.get(path) as answer:
                assert answer.status == 404
                error = (await answer.json())["error"]
                assert error == {"type": "not_found", "message": f"there is nothing at {path}"}

    play(scene)


def test_only_files_of_the_page_are_served_whatever_the_path_says() -> None:
    async def scene(_: Running, http: aiohttp.ClientSession) -> None:
        for path in (
            "/%2e%2e/README.md",
            "/..%2Fduet_client/wire.py",
            "/%2Fetc/hostname",
            "/%00",
            "/" + "x" * 300,
        ):
            async with http.get(URL(path, encoded=True)) as answer:
                assert answer.status == 404
        async with http.get("/index.html") as answer:
            assert (answer.status, answer.content_type) == (200, "text/html")

    play(scene)


def test_a_websockets_address_opened_as_a_page_says_what_it_is_and_takes_no_place() -> None:
    async def scene(_: Running, http: aiohttp.ClientSession) -> None:
        for path in ("/v1/live/sessions", "/api/chat"):
            async with http.get(path) as answer:
                assert (answer.status, answer.headers["Upgrade"]) == (426, "websocket")
                error = (await answer.json())["error"]
                assert error == {
                    "type": "upgrade_required",
                    "message": f"{path} is a WebSocket, not a page",
                }
        async with http.get("/v1/models") as answer:
            assert (await answer.json())["data"][0]["duet"]["active"] == 0

    play(scene)


def test_probes_and_metrics_need_no_key_and_the_rest_does() -> None:
    async def scene(_: Running, http: aiohttp.ClientSession) -> None:
        for path, status in (("/health", 200), ("/ready", 200), ("/metrics", 200), ("/v1/models", 401)):
            async with http.get(path) as answer:
                assert answer.status == status
        async with http.post("/v1/live/sessions/x/hangup") as answer:
            assert answer.status == 401

    play(scene, api_keys=("secret",))


def test_a_full_server_is_healthy_and_ready_and_its_model_list_says_that_it_is_full() -> None:
    async def scene(here: Running, http: aiohttp.ClientSession) -> None:
        async with talking(here.live):
            for path in ("/health", "/ready"):
                async with http.get(path) as answer:
                    assert answer.status == 200
            async with http.get("/v1/models") as answer:
                duet = (await answer.json())["data"][0]["duet"]
            assert (duet["active"], duet["capacity"]) == (1, 1)

    play(scene, capacity=1)


def test_a_draining_server_is_healthy_but_not_ready() -> None:
    async def scene(here: Running, http: aiohttp.ClientSession) -> None:
        async with talking(here.live):
            draining = asyncio.create_task(here.server.drain())
            await asyncio.sleep(0)
            async with http.get("/health") as answer:
                assert answer.status == 200
            async with http.get("/ready") as answer:
                assert answer.status == 503
                assert (await answer.json())["error"]["type"] == "draining"
        await draining

    play(scene)


def test_metrics_tell_of_sessions_and_frames() -> None:
    async def scene(here: Running, http: aiohttp.ClientSession) -> None:
        async with talking(here.live) as client:
            await client.start()
            await client.speak(tone(2.5))
            await client.say("session.close")
            await client.hear_out()
        async with http.get("/metrics") as answer:
            lines = (await answer.text()).splitlines()
        assert "duet_frames_total 3.0" in lines
        assert "duet_frames_padded_total 1.0" in lines
        assert 'duet_sessions_ended_total{reason="close_requested"} 1.0' in lines
        assert "duet_sessions_active 0.0" in lines

    play(scene)


def test_a_recording_can_be_downloaded_once_its_session_has_ended(tmp_path: Path) -> None:
    async def scene(here: Running, http: aiohttp.ClientSession) -> None:
        async with talking(here.live) as client:
            await client.start(store=True)
            address = f"/v1/live/sessions/{client.session['id']}/content"
            await client.speak(tone(3))
            async with http.get(address) as answer:
                assert answer.status == 409
            await client.say("session.close")
            await client.hear_out()
        async with http.get(address) as answer:
            assert answer.status == 200
            assert answer.content_type == "audio/wav"
            (tmp_path / "got.wav").write_bytes(await answer.read())
        samples, rate = soundfile.read(tmp_path / "got.wav", dtype="int16")
        assert (samples.shape, rate) == ((3 * 1920, 2), 24_000)
        assert np.all(samples[:, 0] == 1000)
        assert np.all(samples[1920:, 1] == 1000)
        assert not samples[:1920, 1].any()

    play(scene, tmp_path / "kept", recording_format="wav")


def test_who_asks_for_a_recording_that_is_being_written_gets_it_when_it_is_whole(tmp_path: Path) -> None:
    async def scene(here: Running, http: aiohttp.ClientSession) -> None:
        session_id = "sess_" + "b" * 32  # its connection is gone already
        entry = here.archive.open(session_id, {})
        entry.write(silence(), silence(), FrameFlags(0))
        asked = asyncio.create_task(http.get(f"/v1/live/sessions/{session_id}/content"))
        await asyncio.wait([asked], timeout=0.2)
        assert not asked.done()
        await asyncio.wrap_future(entry.finish("close_requested", {}))
        async with await asked as answer:
            assert answer.status == 200

    play(scene, tmp_path)


def test_a_recording_that_is_still_being_written_is_409_and_not_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "WRITING_WAIT_S", 0.01)

    async def scene(here: Running, http: aiohttp.ClientSession) -> None:
        session_id = "sess_" + "a" * 32  # its connection is gone already
        entry = here.archive.open(session_id, {})
        entry.write(silence(), silence(), FrameFlags(0))
        async with http.get(f"/v1/live/sessions/{session_id}/content") as answer:
            assert answer.status == 409
            error = (await answer.json())["error"]
            assert error["type"] == "session_open"
            assert "its recording is being written" in error["message"]
        await asyncio.wrap_future(entry.finish("close_requested", {}))
        async with http.get(f"/v1/live/sessions/{session_id}/content") as answer:
            assert answer.status == 200

    play(scene, tmp_path / "kept")


def test_ids_that_are_none_and_sessions_that_were_not_recorded_are_not_found(tmp_path: Path) -> None:
    async def scene(here: Running, http: aiohttp.ClientSession) -> None:
        async with talking(here.live) as client:
            await client.start()
            await client.say("session.close")
            await client.hear_out()
        (tmp_path / "secret.wav").write_bytes(b"RIFF")
        for name in (client.session["id"], "..%2Fsecret", "sess_x", "sess_" + "0" * 33, "%00"):
            async with http.get(f"/v1/live/sessions/{name}/content") as answer:
                assert answer.status == 404

    play(scene, tmp_path / "kept", recording_format="wav")


def test_the_recording_is_there_as_soon_as_the_session_is_closed_though_its_client_lingers(
    tmp_path: Path,
) -> None:
    async def scene() -> tuple[int, int]:
        async with running(tmp_path, record="all", recording_format="wav") as here:
            reader, writer = await handshake(here)
            writer.write(START + masked(2, tone(1)) + masked(1, b'{"type":"session.close"}'))
            async with asyncio.timeout(WAIT_S):
                said = await reader.readuntil(b'"session.closed"')
            session_id = said[said.index(b"sess_") :][:37].decode()
            content = f"/v1/live/sessions/{session_id}/content"
            async with aiohttp.ClientSession(here.http) as http, http.get(content) as answer:
                found = answer.status, len(await answer.read())
            writer.transport.abort()
        return found

    assert asyncio.run(scene()) == (200, 80 + 4 * 1_920)
