"""A model that says a forbidden phrase, a whole server, and what a caller hears of it."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path
from typing import Any

import aiohttp
import numpy as np
import pytest
from aiohttp import web

import duet_client
from audio.formats import encode
from audio.frame_flags import FrameFlags
from audio.frames import FRAME_SAMPLES, Samples, silence
from audio.recording import open_recording
from duet_client.wire import Guardrail, SessionClosed, TranscriptAppend, TranscriptFinal, Word
from server.guardrails.delivery import UNGUARDED, Policy
from server.guardrails.rules import Rules, make_rule
from tests.server.scripted_model import Heard, Script, live_call, moshi_call, say, scripted_server
from tests.server.serving import WAIT_S, Talker, talking, tone

SCRIPT = say((5, "well the code is red fox seven you see"), (60, "now something else"))
"""The phrase `red fox` sounds in frames 21 to 28, its turn ends with frame 40, the next begins at 60."""
FORBIDDEN = range(21, 29)
FIRST_TURN, SECOND_TURN = range(5, 41), range(60, 72)
FRAMES = 80
ONCE_QUIET = range(22, 41)
"""Opus takes its time to become silent."""
ENOUGH = 6
"""`fox` is written from frame 24 on in two pieces, so that frame 26 tells: 5 after the phrase's first sound,
6 after its first piece."""


def policy(holdback: int = 0, **values: Any) -> Policy:
    rule = {"name": "animals", "listen": ["agent_text"], "phrases": ["Red fox"], "action": "mute"} | values
    return Policy(Rules((make_rule(rule),)), holdback)


def live(policy: Policy, script: Script = SCRIPT, frames: int = FRAMES, **start: Any) -> Heard:
    async def scene() -> Heard:
        async with scripted_server(script, policy) as address:
            return await live_call(address, frames, **start)

    return asyncio.run(scene())


def moshi(policy: Policy, script: Script = SCRIPT, answers: int = FRAMES) -> Heard:
    async def scene() -> Heard:
        async with scripted_server(script, policy) as address:
            return await moshi_call(address, FRAMES + policy.holdback_frames, answers)

    return asyncio.run(scene())


def samples(*frames: int) -> slice:
    return slice(frames[0] * FRAME_SAMPLES, (frames[-1] + 1) * FRAME_SAMPLES)


def scripted(frame: int) -> Any:
    return np.frombuffer(encode("audio/pcm", SCRIPT.sound(frame)), "<i2")


def test_the_script_is_what_the_tests_say_it_is() -> None:
    assert SCRIPT.span("red", "fox") == FORBIDDEN
    assert SCRIPT.span("well", "see") == FIRST_TURN
    assert SCRIPT.span("now", "else") == SECOND_TURN


def test_with_enough_hold_back_nothing_of_the_phrase_is_heard_and_the_next_turn_is() -> None:
    heard = live(policy(ENOUGH))
    assert len(heard.audio) == FRAMES
    assert heard.loud() == {*range(5, 20), *SECOND_TURN}
    assert all(np.array_equal(heard.audio[n], scripted(n)) for n in heard.loud())
    assert heard.text == " well the code is now something else"
    assert heard.codes().count("guardrail_muted") == 1
    assert heard.events[-1]["reason"] == "close_requested"


@pytest.mark.parametrize("holdback", [0, 2, 5])
def test_with_less_of_it_only_what_was_sent_before_the_match_leaks(holdback: int) -> None:
    heard = live(policy(holdback))
    assert heard.loud() == {*range(5, 26 - holdback), *SECOND_TURN}


def test_hold_back_alone_changes_nothing_that_is_heard() -> None:
    straight, held = live(UNGUARDED), live(Policy(Rules(), 25))
    assert np.array_equal(straight.audio, held.audio)
    texts = [
        [event for event in heard.events if event["type"] == "session.output_transcript.delta"]
        for heard in (straight, held)
    ]
    for event in [*texts[0], *texts[1]]:
        del event["event_id"]
    assert texts[0] == texts[1]


def test_a_rule_that_does_not_match_changes_nothing_bit_for_bit() -> None:
    assert np.array_equal(live(UNGUARDED).audio, live(policy(phrases=["red foxes", "fox red"])).audio)


def test_an_end_closes_with_content_and_nothing_of_the_phrase_leaves() -> None:
    heard = live(policy(ENOUGH, action="end"))
    assert heard.loud() == set(range(5, 20))
    told = [code for code in heard.codes() if code != "input_dropped"]  # what was sent by then and not heard
    assert told == ["guardrail_ended"]
    assert heard.events[-1]["type"] == "session.closed"
    assert heard.events[-1]["reason"] == "content"
    assert heard.close_code == 1008
    assert heard.text == " well the code is"


class Hushed(Script):
    """The script with silence where the guardrail puts it."""

    __slots__ = ()

    def sound(self, frame: int) -> Samples:
        return silence() if FORBIDDEN.start - 1 <= frame < FIRST_TURN.stop else Script.sound(self, frame)


def test_on_the_moshi_wire_the_caller_hears_what_a_model_that_stops_there_would_say() -> None:
    expected = moshi(UNGUARDED, Hushed(SCRIPT.words, SCRIPT.lead))
    heard = moshi(policy(ENOUGH))
    assert np.array_equal(heard.audio, expected.audio)
    assert np.abs(heard.audio[samples(*ONCE_QUIET)]).max() < 1e-3
    assert np.abs(heard.audio[samples(*SECOND_TURN)]).max() > 0.2


def test_an_end_on_the_moshi_wire_closes_with_1008() -> None:
    heard = moshi(policy(ENOUGH, action="end"))
    assert heard.close_code == 1008
    assert np.abs(heard.audio[samples(*ONCE_QUIET)]).max() < 1e-3


def test_the_recording_is_what_the_caller_heard_and_names_the_rule(tmp_path: Path) -> None:
    async def scene() -> Heard:
        async with scripted_server(SCRIPT, policy(ENOUGH), tmp_path, record="all") as address:
            return await live_call(address, FRAMES)

    heard = asyncio.run(scene())
    (path,) = tmp_path.glob("sess_*.flac")
    recording = open_recording(path)
    assert np.array_equal(recording.samples[:, 1], heard.audio.reshape(-1).astype(np.float32) / 32768)
    silenced = [n for n, flags in enumerate(recording.flags) if FrameFlags.GUARDED in flags]
    assert silenced == [*range(20, 51)]
    assert recording.metadata["guardrails"] == {
        "hits": [{"rule": "animals", "listen": "agent_text", "action": "mute", "at_ms": 26 * 80}],
        "count": 1,
        "silenced_frames": 31,
    }


def test_a_webhook_is_posted_with_the_session_and_what_matched() -> None:
    bodies: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def take(request: web.Request) -> web.Response:
        bodies.put_nowait(json.loads(await request.text()))
        return web.Response()

    async def scene() -> tuple[dict[str, Any], Heard]:
        app = web.Application()
        app.router.add_post("/hook", take)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        url = f"http://127.0.0.1:{runner.addresses[0][1]}/hook"
        async with scripted_server(SCRIPT, policy(action="webhook", url=url)) as address:
            heard = await live_call(address, FRAMES)
            body = await asyncio.wait_for(bodies.get(), WAIT_S)
        await runner.cleanup()
        return body, heard

    body, heard = asyncio.run(scene())
    assert body == {
        "rule": "animals",
        "listen": "agent_text",
        "action": "webhook",
        "at_ms": 2080,
        "channel": "agent",
        "text": "red fox",
        "session_id": heard.events[-1]["session"]["id"],
    }
    assert heard.loud() == {*FIRST_TURN, *SECOND_TURN}


async def overheard(address: str, client: Talker, words: tuple[Word, ...]) -> list[Any]:
    """What a transcriber that hears these words of the user's is told until the call is over."""
    told: list[Any] = []
    session = client.session["id"]
    async with duet_client.attach(f"http://{address}", session, audio="events", transcribe=True) as observer:
        await observer.send(TranscriptAppend("user", words, words[-1].end_ms))
        async for event in observer:
            told.append(event)
            if isinstance(event, SessionClosed):
                await observer.send(TranscriptFinal("nobody", words[-1].end_ms))
    return told


def test_what_a_transcriber_hears_of_the_user_can_end_the_call_and_observers_learn_why() -> None:
    words = (Word("RED", 0, 200, 0.9), Word("fox!", 200, 500, 0.9))

    async def scene() -> tuple[list[Any], Heard]:
        async with (
            scripted_server(SCRIPT, policy(listen=["user"], action="end")) as address,
            talking(f"ws://{address}/v1/live/sessions") as client,
        ):
            await client.start()
            await client.speak(tone(10))
            told = await overheard(address, client, words)
            return told, Heard(np.zeros(0), await client.hear_out(), client.close_code)

    told, caller = asyncio.run(scene())
    (hit,) = [event for event in told if isinstance(event, Guardrail)]
    assert hit == Guardrail("animals", "user", "end", 6 * 80, "red fox")
    assert caller.events[-1]["reason"] == "content"
    assert caller.close_code == 1008
    assert [e["delta"] for e in caller.events if e["type"] == "session.input_transcript.delta"] == [
        " RED",
        " fox!",
    ]


def test_the_log_and_the_metrics_name_the_rule_and_hold_no_speech(caplog: pytest.LogCaptureFixture) -> None:
    async def scene() -> str:
        async with scripted_server(SCRIPT, policy()) as address:
            await live_call(address, FRAMES)
            async with aiohttp.ClientSession(f"http://{address}") as http, http.get("/metrics") as answer:
                return await answer.text()

    with caplog.at_level(logging.INFO, "duet"):
        metrics = asyncio.run(scene())
    assert 'duet_guardrail_hits_total{action="mute",rule="animals"} 1.0' in metrics
    assert "guardrail 'animals' fired (agent_text, mute) at 2080 ms" in caplog.text
    assert "fox" not in caplog.text


@pytest.mark.parametrize("action", ["flag", "mute", "end"])
def test_rules_hear_the_words_that_a_transcriber_tells_after_the_call(tmp_path: Path, action: str) -> None:
    words = (Word("red", 0, 200, 0.9), Word("fox", 200, 500, 0.9))
    rule = policy(listen=["user"], action=action)

    async def scene() -> list[Any]:
        async with (
            scripted_server(SCRIPT, rule, recordings=tmp_path) as address,
            talking(f"ws://{address}/v1/live/sessions") as client,
        ):
            await client.start()
            async with duet_client.attach(f"http://{address}", client.session["id"], transcribe=True) as ear:
                await client.speak(tone(10))
                await client.say("session.close")
                caller = await client.hear_out()
                assert [event["type"] for event in caller].count("info") == 0
                told = []
                async for event in ear:
                    told.append(event)
                    if isinstance(event, SessionClosed):
                        await ear.send(TranscriptAppend("user", words, 500))
                        await ear.send(TranscriptFinal("nobody", 800))
                return told

    told = asyncio.run(scene())
    (hit,) = [event for event in told if isinstance(event, Guardrail)]
    assert hit == Guardrail("animals", "user", action, 6 * 80, "red fox")
    (document,) = tmp_path.glob("*.transcript.json")
    assert json.loads(document.read_text())["guardrails"]["hits"] == 1
