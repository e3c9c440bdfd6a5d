"""The one observer that tells what was said: its words reach everybody, once; its last pass is waited for."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import duet_client
from duet_client import wire
from server.spool import PREFIX
from tests.server.serving import WAIT_S, Running, running
from tests.server.sideband.observing import (
    Listener,
    calling,
    closed,
    end,
    hear_frames,
    listening,
    say_frames,
    word,
)

HELLO, THERE, YOU = word("hello", 0), word("there", 300), word("you", 700)


@asynccontextmanager
async def transcribing(here: Running, session_id: str, **options: Any) -> AsyncIterator[Listener]:
    async with listening(here, session_id, transcribe=True, **options) as listener:
        yield listener


def append(*words: wire.Word, through_ms: int, event_id: str | None = None) -> wire.TranscriptAppend:
    return wire.TranscriptAppend("user", words, through_ms, event_id)


async def metric(here: Running, name: str) -> float:
    text = here.server._hall.metrics.render().decode()
    return float(next(line for line in text.splitlines() if line.startswith(name)).split()[-1])


async def forgotten(here: Running, session_id: str) -> None:
    """Returns once nobody can attach to it any more."""
    async with asyncio.timeout(WAIT_S):
        while here.server._hall.hub.find(session_id) is not None:  # noqa: ASYNC110  nothing to be told by
            await asyncio.sleep(0.01)


def spooled(session_id: str) -> list[str]:
    """What is kept of a call for its observers."""
    return [path.suffix for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{session_id}.*")]


def test_words_reach_the_caller_the_observers_and_the_next_transcriber() -> None:
    async def scene() -> None:
        async with running(pace="free") as here, calling(here) as client:
            session_id = client.session["id"]
            async with listening(here, session_id) as other, transcribing(here, session_id) as ear:
                await ear.observer.send(append(HELLO, THERE, through_ms=600))
                await ear.observer.send(wire.TranscriptAppend("agent", (YOU,), 900))
                told = [await other.until(wire.WordsAppended), await other.until(wire.WordsAppended)]
                deltas = [(await client.hear()) for _ in range(2)]
                async with listening(here, session_id) as late:
                    state = late.observer.attached.transcript
            assert told == [
                wire.WordsAppended("user", (HELLO, THERE), 600),
                wire.WordsAppended("agent", (YOU,), 900),
            ]
            assert [each.delta for each in other.of(wire.InputTranscriptDelta)] == [" hello", " there"]
            assert [(each["type"], each["delta"], each["start_ms"], each["end_ms"]) for each in deltas] == [
                ("session.input_transcript.delta", " hello", 0, 200),
                ("session.input_transcript.delta", " there", 300, 500),
            ]
            assert state["user"] == {"through_ms": 600, "last": wire.write_words((HELLO, THERE))}
            assert state["agent"] == {"through_ms": 900, "last": wire.write_words((YOU,))}

    asyncio.run(scene())


def test_a_successor_that_hears_again_repeats_no_word() -> None:
    async def scene() -> None:
        async with running(pace="free") as here, calling(here) as client:
            session_id = client.session["id"]
            async with listening(here, session_id) as other:
                async with transcribing(here, session_id) as killed:
                    await killed.observer.send(append(HELLO, THERE, through_ms=600))
                    await other.until(wire.WordsAppended)
                    killed.observer._link.raw.transport.abort()
                async with transcribing(here, session_id) as successor:
                    assert successor.observer.attached.transcript["user"]["through_ms"] == 600
                    await successor.observer.send(append(HELLO, THERE, YOU, through_ms=900, event_id="a"))
                    info = await successor.until(wire.Info)
                    await other.until(wire.WordsAppended)
            assert (info.code, info.client_event_id) == ("words_repeated", "a")
            assert info.message.startswith("2 words")
            assert [each.words for each in other.of(wire.WordsAppended)] == [(HELLO, THERE), (YOU,)]

    asyncio.run(scene())


def test_time_does_not_go_back() -> None:
    async def scene() -> None:
        async with running(pace="free") as here, calling(here) as client:
            async with transcribing(here, client.session["id"]) as ear:
                await ear.observer.send(append(through_ms=600))
                await ear.observer.send(append(through_ms=500, event_id="a"))
                error = await ear.until(wire.Error)
            assert (error.code, error.client_event_id) == ("out_of_order", "a")

    asyncio.run(scene())


def test_a_newer_transcriber_replaces_the_older() -> None:
    async def scene() -> None:
        async with running(pace="free") as here, calling(here) as client:
            session_id = client.session["id"]
            async with transcribing(here, session_id) as older, transcribing(here, session_id) as newer:
                with pytest.raises(duet_client.SessionLost, match="replaced") as lost:
                    await older.to_the_end()
                await newer.observer.send(append(HELLO, through_ms=600))
                assert (await newer.until(wire.WordsAppended)).words == (HELLO,)
            assert lost.value.close_code == 1008

    asyncio.run(scene())


def test_an_older_transcriber_that_is_stuck_is_replaced_too() -> None:
    async def scene() -> None:
        async with running(pace="free") as here, calling(here) as client:
            session_id = client.session["id"]
            async with transcribing(here, session_id) as stuck:
                stuck.observer._link.raw.transport.pause_reading()
                await say_frames(client, 0, 200)
                await hear_frames(client, 200)
                async with transcribing(here, session_id, from_ms=15_000) as newer:
                    await newer.frame(199)
                    await newer.observer.send(append(HELLO, through_ms=600))
                    assert (await newer.until(wire.WordsAppended)).words == (HELLO,)
                stuck.observer._link.raw.transport.abort()

    asyncio.run(scene())


def test_a_call_that_has_ended_is_heard_again_until_its_final_transcript_is_there(tmp_path: Path) -> None:
    async def scene() -> None:
        async with running(tmp_path, pace="free") as here, duet_client.observe(here.http) as calls:
            async with calling(here) as client:
                await say_frames(client, 0, 150)
                await end(client)
            session_id = client.session["id"]
            assert isinstance(await anext(calls), wire.CallStarted)
            assert await anext(calls) == wire.CallClosed(session_id, "close_requested", 150, True)
            async with duet_client.observe(here.http) as late:  # one that comes now hears the same
                assert await anext(late) == wire.CallStarted(client.session)
                assert (await closed(late)).final_wanted
            async with transcribing(here, session_id, from_ms=0) as dies:
                await dies.until(wire.SessionClosed)
                await dies.observer.send(wire.TranscriptUtterance("user", 0, 200, (word("wrong", 0),)))
            async with transcribing(here, session_id, from_ms=0) as ear:
                assert ear.observer.attached.ended
                await ear.until(wire.SessionClosed)
                assert ".wav" in spooled(session_id)
                await ear.observer.send(append(HELLO, through_ms=12_000))
                await ear.until(wire.WordsAppended)
                await ear.observer.send(wire.TranscriptUtterance("user", 0, 500, (HELLO, THERE)))
                await ear.observer.send(wire.TranscriptFinal("tiny.en", 12_000))
                await ear.to_the_end()
            assert ear.numbers == list(range(150))
            assert np.array_equal(ear.samples[::1920, 0] * 32_768, np.arange(1, 151))
            await forgotten(here, session_id)
            with pytest.raises(duet_client.NoSession):
                async with listening(here, session_id):
                    pass
        document = json.loads((tmp_path / f"{session_id}.transcript.json").read_text())
        assert "wrong" not in json.dumps(document)
        assert [each["words"] for each in document["utterances"]] == [wire.write_words((HELLO, THERE))]
        assert spooled(session_id) == []

    asyncio.run(scene())


def test_the_final_transcript_comes_after_the_call() -> None:
    async def scene() -> None:
        async with running(pace="free") as here, calling(here) as client:
            async with transcribing(here, client.session["id"]) as ear:
                await ear.observer.send(wire.TranscriptFinal("tiny.en", 80, "a"))
                error = await ear.until(wire.Error)
            assert (error.code, error.client_event_id) == ("session_open", "a")

    asyncio.run(scene())


def test_how_late_a_transcriber_is_can_be_measured() -> None:
    async def scene() -> None:
        async with running(pace="free") as here, calling(here) as client:
            async with transcribing(here, client.session["id"]) as ear:
                await ear.observer.send(wire.TranscriptLag(1_500, 250, "slower"))
                await ear.observer.send(append(HELLO, through_ms=600))
                await ear.until(wire.WordsAppended)
            assert await metric(here, 'transcript_lag_seconds_sum{channel="user"}') == 1.5
            assert await metric(here, 'transcript_lag_seconds_sum{channel="agent"}') == 0.25

    asyncio.run(scene())


def test_what_is_not_to_be_kept_is_in_no_file(tmp_path: Path) -> None:
    async def scene() -> None:
        async with running(tmp_path, pace="free", keep="off") as here, calling(here, store=True) as client:
            async with listening(here, client.session["id"], from_ms=0) as listener:
                await say_frames(client, 0, 3)
                await listener.frame(2)
                assert spooled(client.session["id"]) == []
            await end(client)
            await forgotten(here, client.session["id"])

    asyncio.run(scene())
    assert list(tmp_path.iterdir()) == []


def test_a_drain_waits_for_a_transcriber_s_last_pass(tmp_path: Path) -> None:
    async def scene() -> None:
        async with running(tmp_path, pace="free", drain_s=0.05) as here, calling(here) as client:
            session_id = client.session["id"]
            await say_frames(client, 0, 3)
            async with transcribing(here, session_id) as ear:
                draining = asyncio.create_task(here.server.drain())
                await ear.until(wire.SessionClosed)
                await ear.observer.send(wire.TranscriptUtterance("user", 0, 200, (HELLO,)))
                await ear.observer.send(wire.TranscriptFinal("tiny.en", 240))
                await ear.to_the_end()
                async with asyncio.timeout(WAIT_S):
                    await draining
        assert "hello" in (tmp_path / f"{session_id}.transcript.json").read_text()

    asyncio.run(scene())


def test_many_words_at_once_cost_the_caller_no_message() -> None:
    """As after a pause of the sidecar's: each message at its limit, several in one packet."""
    told = [
        append(*(word("so", at) for at in range(first, first + 25_600, 100)), through_ms=first + 25_600)
        for first in (0, 25_600, 51_200, 76_800)
    ]

    async def scene() -> None:
        async with running(pace="free") as here, calling(here) as client:
            for first in range(0, 1_000, 100):
                await say_frames(client, first, 100)
                await hear_frames(client, 100)
            await client.hear()  # how full the model is
            async with transcribing(here, client.session["id"]) as ear:
                for each in told:
                    ear.observer._link.raw.protocol.send_text(wire.dump_command(each).encode())
                ear.observer._link.raw.transport.write(
                    b"".join(ear.observer._link.raw.protocol.data_to_send())
                )
                deltas = [await client.hear() for _ in range(1_024)]
            assert {each["type"] for each in deltas} == {"session.input_transcript.delta"}
            assert (await end(client))[-1]["type"] == "session.closed"

    asyncio.run(scene())


@pytest.mark.parametrize(
    ("command", "field"),
    [
        (append(through_ms=10**12), "through_ms"),
        (append(through_ms=10**400), "through_ms"),
        (wire.TranscriptLag(0, 10**400, "slower"), "agent_ms"),
        (wire.TranscriptAppend("user", (wire.Word("so", 0, 10**400, 0.5),), 900), "words.0.end_ms"),
    ],
)
def test_a_time_that_no_call_has_is_refused_and_the_next_word_is_taken(
    command: wire.Command, field: str
) -> None:
    async def scene() -> None:
        async with running(pace="free") as here, calling(here) as client:
            async with transcribing(here, client.session["id"]) as ear:
                await ear.observer.send(command)
                await ear.observer.send(append(HELLO, through_ms=600))
                assert (await ear.until(wire.WordsAppended)).words == (HELLO,)
            (error,) = ear.of(wire.Error)
            assert (error.code, error.param) == ("invalid_value", field)

    asyncio.run(scene())


def test_a_transcriber_gets_in_however_many_others_listen() -> None:
    async def scene() -> None:
        async with running(pace="free") as here, calling(here) as client, AsyncExitStack() as others:
            session_id = client.session["id"]
            for _ in range(8):
                await others.enter_async_context(listening(here, session_id, audio="none"))
            async with transcribing(here, session_id) as ear:
                await ear.observer.send(append(HELLO, through_ms=600))
                assert (await ear.until(wire.WordsAppended)).words == (HELLO,)

    asyncio.run(scene())


def test_who_comes_to_transcribe_a_call_that_has_its_final_transcript_is_sent_home(tmp_path: Path) -> None:
    async def scene() -> None:
        async with running(tmp_path, pace="free") as here, calling(here) as client:
            session_id = client.session["id"]
            async with listening(here, session_id) as stuck, transcribing(here, session_id) as ear:
                stuck.observer._link.raw.transport.pause_reading()
                await say_frames(client, 0, 200)
                await hear_frames(client, 200)
                await end(client)
                await ear.until(wire.SessionClosed)
                await ear.observer.send(wire.TranscriptFinal("tiny.en", 16_000))
                await ear.to_the_end()
                async with transcribing(here, session_id, from_ms=15_000) as late:
                    await late.to_the_end()
                assert late.numbers == list(range(187, 200))
                stuck.observer._link.raw.transport.abort()

    asyncio.run(scene())
