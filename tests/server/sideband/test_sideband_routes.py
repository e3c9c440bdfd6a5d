"""Who may observe what, how that is refused, and who hears of which calls."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import aiohttp
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

import duet_client
from duet_client import Frame, wire
from server.sideband.feed import Feed
from tests.server.serving import running, tone
from tests.server.sideband.observing import calling, closed, end, listening, say_frames, started


def test_what_an_observer_may_not_do_is_refused_by_name() -> None:
    async def scene() -> None:
        async with running(pace="free") as here, calling(here) as client:
            async with listening(here, client.session["id"]) as listener:
                refusals = []
                for command in (
                    wire.SessionStart("default", event_id="a"),
                    wire.InputAudioAppend(b"\0\0", "b"),
                    wire.InstructionsAppend("Be brief.", event_id="c"),
                    wire.TranscriptAppend("user", (), 0, "d"),
                ):
                    await listener.observer.send(command)
                    refusals.append(await listener.until(wire.Error))
                await listener.observer._link.send(b"audio")
                refusals.append(await listener.until(wire.Error))
            assert [(each.code, each.client_event_id) for each in refusals] == [
                ("unsupported", "a"),
                ("unsupported", "b"),
                ("unsupported", "c"),
                ("not_transcriber", "d"),
                ("unexpected_binary", None),
            ]

    asyncio.run(scene())


def test_a_caller_may_not_send_what_only_a_transcriber_hears() -> None:
    async def scene() -> None:
        async with running(pace="free") as here, calling(here) as client:
            await client.say("duet.transcript.append", channel="user", words=[], through_ms=80, event_id="a")
            error = (await client.hear_until("error"))[-1]["error"]
            assert (error["code"], error["client_event_id"]) == ("unsupported", "a")

    asyncio.run(scene())


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("audio=opus", "audio"),
        ("from_ms=-1", "from_ms"),
        ("from_ms=1.5", "from_ms"),
        ("transcribe=yes", "transcribe"),
    ],
)
def test_a_wish_that_makes_no_sense_is_refused_by_its_name(query: str, field: str) -> None:
    async def scene() -> None:
        async with running() as here, calling(here) as client:
            with pytest.raises(InvalidStatus) as caught:
                await connect(f"{here.live}/{client.session['id']}/attach?{query}")
            assert caught.value.response.status_code == 400
            assert f'"param": "{field}"' in (caught.value.response.body or b"").decode()

    asyncio.run(scene())


def test_a_session_that_is_none_is_not_found_and_a_page_is_none() -> None:
    async def scene() -> None:
        async with running() as here:
            with pytest.raises(duet_client.NoSession):
                async with listening(here, "sess_" + "0" * 32):
                    pass
            async with aiohttp.ClientSession() as http:
                for path in ("/v1/live/observe", "/v1/live/sessions/x/attach"):
                    async with http.get(here.http + path) as answer:
                        assert answer.status == 426

    asyncio.run(scene())


def test_observers_show_a_key_as_everybody_does() -> None:
    async def scene() -> None:
        async with running(pace="free", api_keys=("secret",)) as here:
            with pytest.raises(duet_client.Unauthorized):
                async with duet_client.observe(here.http, key="wrong"):
                    pass
            with pytest.raises(duet_client.Unauthorized):
                async with listening(here, "sess_" + "0" * 32, key="wrong"):
                    pass
            async with (
                duet_client.observe(here.http, key="secret") as calls,
                duet_client.connect(here.http, api_key="secret") as session,
            ):
                assert (await started(calls)).session["id"] == session.id
                async with listening(here, session.id, key="secret") as listener:
                    await session.send_audio(tone(1))
                    assert (await listener.until(Frame)).index == 0

    asyncio.run(scene())


def test_who_watches_a_server_hears_of_calls_that_run_start_and_close() -> None:
    async def scene() -> None:
        async with (
            running(pace="free") as here,
            calling(here) as first,
            duet_client.observe(here.http) as calls,
        ):
            assert await anext(calls) == wire.CallStarted(first.session)
            async with calling(here) as second:
                assert await anext(calls) == wire.CallStarted(second.session)
                await say_frames(second, 0, 3)
                await end(second)
            over = wire.CallClosed(second.session["id"], "close_requested", 3, False)
            assert await anext(calls) == over
            first.cut()
            over = wire.CallClosed(first.session["id"], "connection_lost", 0, False)
            assert await anext(calls) == over

    asyncio.run(scene())


def test_a_server_that_stops_says_good_bye_to_its_observers() -> None:
    async def scene() -> None:
        async with AsyncExitStack() as stack:
            async with running(pace="free") as here:
                client = await stack.enter_async_context(calling(here))
                session_id = client.session["id"]
                calls = await stack.enter_async_context(duet_client.observe(here.http))
                listener = await stack.enter_async_context(listening(here, session_id))
                await anext(calls)
            await listener.to_the_end()  # it hears its call out
            assert [each.reason for each in listener.of(wire.SessionClosed)] == ["expired"]
            assert (await closed(calls)).reason == "shut_down"
            with pytest.raises(duet_client.SessionLost) as lost:
                await anext(calls)
            assert lost.value.close_code == 1001

    asyncio.run(scene())


def test_an_observer_whose_connection_breaks_down_is_not_told_that_the_call_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def break_down(*_: object) -> None:
        raise RuntimeError("a fault of ours")

    async def scene() -> int | None:
        async with running(pace="free") as here, calling(here) as client:
            monkeypatch.setattr(Feed, "control", break_down)
            async with listening(here, client.session["id"]) as listener:
                await listener.observer.send(wire.Mute())
                with pytest.raises(duet_client.SessionLost) as lost:
                    await listener.to_the_end()
            return lost.value.close_code

    assert asyncio.run(scene()) == 1011
