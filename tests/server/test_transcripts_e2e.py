"""What stays of a call by the policy, over real sockets: a caller, a transcriber, and the disk afterwards."""

from __future__ import annotations

import asyncio
import json
import logging
import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest

import duet_client
from duet_client import wire
from duet_client.wire import TranscriptAppend, TranscriptFinal, TranscriptLag, TranscriptUtterance, Word
from server.door import open_door
from server.tls import tls_context
from tests.server.certificates import make_pair
from tests.server.serving import WAIT_S, Running, Talker, running, talking, tone
from tests.server.sideband.observing import Listener

SPOKEN = ("zanzibar", "quixotic", "marzipan")


def word(text: str, start_ms: int) -> Word:
    return Word(text, start_ms, start_ms + 60, 0.9)


async def transcribed(here: Running, caller: Talker, last_pass: bool = True) -> str:
    """One call whose transcriber hears SPOKEN; its id. The caller saw the user's words meanwhile."""
    await caller.start(store=True)
    session_id = str(caller.session["id"])
    async with duet_client.attach(here.http, session_id, audio="events", transcribe=True) as observer:
        listener = Listener(observer)
        await caller.speak(tone(10))
        await observer.send(TranscriptLag(100, 100, "streaming"))
        words = tuple(word(text, n * 100) for n, text in enumerate(SPOKEN))
        await observer.send(TranscriptAppend("user", words, 400))
        await observer.send(TranscriptAppend("user", words, 500))  # as its successor would
        told = await caller.hear_until("session.input_transcript.delta")
        assert told[-1]["delta"].strip() == SPOKEN[0]
        await listener.until(wire.Info)  # words_repeated
        await caller.say("session.close")
        await caller.hear_out()
        await listener.until(wire.SessionClosed)
        if last_pass:
            await observer.send(TranscriptUtterance("user", 0, 260, words))
            await observer.send(TranscriptFinal("tiny.en", 800))
            await listener.to_the_end()
    return session_id


def play(
    scene: Callable[[Running, aiohttp.ClientSession], Awaitable[None]], folder: Path, **policy: Any
) -> None:
    async def run() -> None:
        async with running(folder, **policy) as here, aiohttp.ClientSession(here.http) as http:
            await scene(here, http)

    asyncio.run(run())


async def fetch(http: aiohttp.ClientSession, session_id: str, status: str) -> Any:
    """The transcript, once it has that status: it is written aside."""
    async with asyncio.timeout(WAIT_S):
        while True:
            async with http.get(f"/v1/live/sessions/{session_id}/transcript") as answer:
                if answer.status == 200:
                    content = await answer.json()
                    if content["status"] == status:
                        return content
            await asyncio.sleep(0.01)


def contents(folder: Path) -> str:
    return "".join(path.read_text(errors="replace") for path in folder.rglob("*") if path.is_file())


def test_a_kept_call_has_its_words_live_once_each_and_then_the_last_pass(tmp_path: Path) -> None:
    async def scene(here: Running, http: aiohttp.ClientSession) -> None:
        async with talking(here.live) as caller:
            session_id = await transcribed(here, caller)
        content = await fetch(http, session_id, "final")
        assert [each["text"] for each in content["utterances"]] == [" ".join(SPOKEN)]
        assert content["transcriber"] == {"model": "tiny.en"}
        assert (content["frames"], content["duration_ms"], content["reason"]) == (10, 800, "close_requested")
        assert [each["text"] for each in content["agent_text"]]
        lines = (tmp_path / f"{session_id}.transcript.jsonl").read_text().splitlines()
        heard = [line["word"] for line in map(json.loads, lines) if line["source"] == "whisper"]
        assert heard == list(SPOKEN)

    play(scene, tmp_path)


def test_the_transcript_of_a_running_call_is_409_and_that_of_an_unknown_one_404(tmp_path: Path) -> None:
    async def scene(here: Running, http: aiohttp.ClientSession) -> None:
        async with talking(here.live) as caller:
            await caller.start()
            for session_id, status in ((caller.session["id"], 409), ("sess_" + "0" * 32, 404), ("x", 404)):
                async with http.get(f"/v1/live/sessions/{session_id}/transcript") as answer:
                    assert answer.status == status

    play(scene, tmp_path)


def test_with_metadata_neither_words_nor_audio_are_on_disk(tmp_path: Path) -> None:
    async def scene(here: Running, http: aiohttp.ClientSession) -> None:
        async with talking(here.live) as caller:
            session_id = await transcribed(here, caller, last_pass=False)
            assert caller.session["store"] is False
        content = await fetch(http, session_id, "closed")
        assert content["counts"]["user"]["words"] == 3
        assert content["session_id"] == session_id

    play(scene, tmp_path, keep="metadata", record="all")
    assert ["".join(path.suffixes) for path in tmp_path.iterdir()] == [".transcript.json"]
    assert not any(text in contents(tmp_path) for text in SPOKEN)


def test_with_off_nothing_is_on_disk_and_the_caller_has_its_words_all_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "none"

    async def scene(here: Running, http: aiohttp.ClientSession) -> None:
        async with talking(here.live) as caller:
            session_id = await transcribed(here, caller, last_pass=False)
        async with http.get(f"/v1/live/sessions/{session_id}/transcript") as answer:
            assert answer.status == 404

    play(scene, folder, keep="off", record="all")
    assert not folder.exists()


def test_no_spoken_word_is_in_the_log_however_much_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)

    async def scene(here: Running, http: aiohttp.ClientSession) -> None:
        async with talking(here.live) as caller:
            session_id = await transcribed(here, caller)
        written = await fetch(http, session_id, "final")
        ours = [record for record in caplog.records if record.name.startswith("duet")]
        assert any(getattr(record, "session", None) == session_id for record in ours)
        said = [*SPOKEN, *(each["text"] for each in written["agent_text"])]
        logged = "\n".join(record.getMessage() for record in ours)
        assert [text for text in said if text in logged] == []

    play(scene, tmp_path)


def test_the_sidecars_door_opens_to_its_own_key_only_and_that_key_opens_no_other(tmp_path: Path) -> None:
    async def status(url: str, key: str | None) -> int:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        address = url + "/v1/models"
        async with aiohttp.ClientSession(headers=headers) as http, http.get(address, ssl=False) as answer:
            return answer.status

    async def scene(tls: ssl.SSLContext | None) -> None:
        with open_door() as door:
            async with running(tmp_path, tls, door, api_keys=("hush",)) as here:
                inside = [await status(door.url, key) for key in (door.key, "hush", None)]
                outside = [await status(here.http, key) for key in (door.key, "hush", None)]
                async with duet_client.observe(door.url, key=door.key):
                    pass
        assert (inside, outside) == ([200, 401, 401], [401, 200, 401])

    for tls in (None, tls_context(*make_pair(tmp_path))):
        asyncio.run(scene(tls))
