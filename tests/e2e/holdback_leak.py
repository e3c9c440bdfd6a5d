"""How much of a forbidden phrase is heard at each hold-back, and what the hold-back costs: a table.

    python -m tests.e2e.holdback_leak                          # a scripted model that keeps Moshi's timing
    python -m tests.e2e.holdback_leak --model FOLDER --input question.wav --phrase "some words"

The second form starts a server for each hold-back, plays the recording, and needs a model that says the
phrase in answer to it (greedy, one seed). Where the phrase begins to sound is heard by Whisper there,
and known in a script. Calls run in real time. Refuses to know how the server stops a phrase.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile

from audio.frames import FRAME_MS, FRAME_SAMPLES, SAMPLE_RATE
from duet_client.session import connect
from duet_client.wire import OutputAudioDelta, OutputTranscriptDelta
from evals.asr import transcribe
from server.guardrails.delivery import UNGUARDED, Policy
from server.guardrails.rules import Rules, make_rule
from server.guardrails.words import words_of
from tests.e2e.running_server import GREEDY, Pcm, running_server
from tests.server.scripted_model import Script, say, scripted_server

HOLDBACKS_MS = (0, 160, 320, 480, 960)
PHRASES = ("stop", "red fox", "the red fox", "over the red fox")
FIRST_TURN, TURN_FRAMES = 15, 50


@dataclass(frozen=True, slots=True)
class Call:
    """received: s16 [frames, samples]. latency_ms: of each frame, last sample sent to first byte back."""

    received: Pcm
    latency_ms: list[float]
    text: str


@dataclass(frozen=True, slots=True)
class Phrase:
    """begin_ms: where its first sound is."""

    words: str
    begin_ms: int


async def call(url: str, audio: Pcm) -> Call:
    """Plays whole frames at the pace of speech and listens to the end."""
    sent: list[float] = []
    latency_ms: list[float] = []
    heard: list[bytes] = []
    text = ""
    async with connect(url, sampling=GREEDY, open_timeout_s=60) as session:

        async def speak() -> None:
            began = time.monotonic()
            for n, frame in enumerate(audio.reshape(-1, FRAME_SAMPLES), 1):
                await asyncio.sleep(max(0.0, began + n * FRAME_MS / 1000 - time.monotonic()))
                sent.append(time.monotonic())
                await session.send_audio(frame)
            await session.close()

        speaking = asyncio.create_task(speak())
        async for event in session:
            if isinstance(event, OutputAudioDelta):
                latency_ms.append((time.monotonic() - sent[len(heard)]) * 1000)
                heard.append(event.audio)
            elif isinstance(event, OutputTranscriptDelta):
                text += event.delta
        await speaking
    return Call(np.frombuffer(b"".join(heard), "<i2").reshape(-1, FRAME_SAMPLES), latency_ms, text)


def leak_ms(free: Call, guarded: Call, phrase: Phrase) -> int | None:
    """How long the phrase sounded before it was silenced; None if it never was."""
    for n in range(phrase.begin_ms // FRAME_MS, len(guarded.received)):
        if free.received[n].any() and not guarded.received[n].any():
            return max(0, n * FRAME_MS - phrase.begin_ms)
    return None


def show(phrases: list[Phrase], free: Call, guarded: dict[int, Call]) -> None:
    print("| hold-back ms | latency p50 ms |" + "".join(f" '{each.words}' leaks ms |" for each in phrases))
    print("|---|---|" + "---|" * len(phrases))
    for holdback_ms, done in guarded.items():
        leaks = [leak_ms(free, done, each) for each in phrases]
        cells = "".join(f" {'all' if leak is None else leak} |" for leak in leaks)
        print(f"| {holdback_ms} | {np.median(done.latency_ms):.0f} |{cells}")
    print(f"\nwithout rules: latency p50 {np.median(free.latency_ms):.0f} ms")


# -- the scripted model ---------------------------------------------------------------------------


def the_script() -> tuple[Script, list[Phrase]]:
    """A turn for each phrase, with a word before it and one after."""
    turns = [(FIRST_TURN + n * TURN_FRAMES, f"now {words} again") for n, words in enumerate(PHRASES)]
    script = say(*turns)
    begins = [begin + 4 for begin, _ in turns]
    return script, [Phrase(*each) for each in zip(PHRASES, (n * FRAME_MS for n in begins), strict=True)]


async def scripted() -> None:
    script, phrases = the_script()
    audio = np.zeros((FIRST_TURN + len(PHRASES) * TURN_FRAMES) * FRAME_SAMPLES, np.int16)
    rule = {"name": "leak", "listen": ["agent_text"], "phrases": list(PHRASES), "action": "mute"}
    rules = Rules((make_rule(rule),))

    async def one(policy: Policy) -> Call:
        async with scripted_server(script, policy, pace="realtime") as address:
            return await call(f"http://{address}", audio)

    policies = [Policy(rules, holdback_ms // FRAME_MS) for holdback_ms in HOLDBACKS_MS]
    free, *guarded = await asyncio.gather(*map(one, [UNGUARDED, *policies]))
    show(phrases, free, dict(zip(HOLDBACKS_MS, guarded, strict=True)))


# -- a real one -----------------------------------------------------------------------------------


@contextmanager
def server(model: str, phrase: str, holdback_ms: int | None) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as name:
        rules = Path(name) / "rules.toml"
        rules.write_text(
            f'[[rule]]\nname = "leak"\nlisten = ["agent_text"]\nphrases = ["{phrase}"]\naction = "mute"\n'
        )
        guarded = ["--guardrails", str(rules), "--holdback-ms", str(holdback_ms)]
        options = [] if holdback_ms is None else guarded
        with running_server(Path(model), Path(name), "--capacity", "1", *options) as running:
            yield running.url


def real(model: str, recording: Path, phrase: str, whisper: str) -> None:
    audio = read(recording)

    def one(holdback_ms: int | None) -> Call:
        with server(model, phrase, holdback_ms) as url:
            return asyncio.run(call(url, audio))

    free = one(None)
    begin_ms = first_sound_ms(free, phrase, whisper)
    if begin_ms is None:
        raise SystemExit(f"nobody hears {phrase!r} here. The model writes: {free.text.strip()!r}")
    phrases = [Phrase(phrase, begin_ms)]
    show(phrases, free, {holdback_ms: one(holdback_ms) for holdback_ms in HOLDBACKS_MS})


def first_sound_ms(said: Call, phrase: str, whisper: str) -> int | None:
    """Where Whisper hears the phrase begin."""
    samples = said.received.reshape(-1).astype(np.float32) / np.float32(32768)
    words = transcribe(samples, "agent", whisper, "en")
    plain, wanted = [" ".join(words_of(word.text)) for word in words], words_of(phrase)
    for n, word in enumerate(words):
        if plain[n : n + len(wanted)] == wanted:
            return round(word.start * 1000)
    return None


def read(recording: Path) -> Pcm:
    """Its first channel, whole frames."""
    samples, rate = soundfile.read(recording, dtype="int16", always_2d=True)
    if rate != SAMPLE_RATE:
        raise SystemExit(f"{recording} must have {SAMPLE_RATE} samples a second, not {rate}")
    whole: Pcm = samples[: len(samples) // FRAME_SAMPLES * FRAME_SAMPLES, 0]
    return whole


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--model", help="checkpoint folder or 'default'; without it, the scripted one")
    parser.add_argument("--input", type=Path, help="recording at 24 kHz that the model answers")
    parser.add_argument("--phrase", help="what it says in its answer")
    parser.add_argument("--whisper", default="tiny.en", help="model that hears where the phrase begins")
    options = parser.parse_args()
    if options.model is None:
        asyncio.run(scripted())
    elif options.input is None or options.phrase is None:
        parser.error("--model needs --input and --phrase")
    else:
        real(options.model, options.input, options.phrase, options.whisper)


if __name__ == "__main__":
    main()
