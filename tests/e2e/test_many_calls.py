"""Many calls on one model over real sockets: nobody hears anybody else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import soundfile

from audio.frames import FRAME_SAMPLES
from tests.e2e.running_server import Pcm, Played, RunningServer, babble, play, running_server

SPEECH = Path(__file__).parents[3] / "shared" / "data" / "input_assistant.wav"
CALLS = 8


@pytest.fixture(scope="module")
def server(small_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("many")
    with running_server(small_model, folder, "--capacity", str(CALLS), "--pace", "free") as server:
        yield server


def speech() -> Pcm:
    """The 40 s of a person asking an assistant questions."""
    audio, rate = soundfile.read(SPEECH, dtype="int16")
    assert rate == 24000
    samples: Pcm = audio
    return samples


async def together(url: str, sounds: list[Pcm]) -> list[Played]:
    return await asyncio.gather(*(play(url, sound, store=True) for sound in sounds))


def same(a: Pcm, b: Pcm) -> bool:
    """To the last bit of 16: a batch of another size adds its float32 numbers up in another order."""
    return a.shape == b.shape and int(np.abs(a.astype(np.int32) - b).max()) <= 1


def check_frames_and_recordings(server: RunningServer, calls: list[Played]) -> None:
    """One frame out per frame in, and a recording whose two channels are what went over the wire."""
    for call in calls:
        assert len(call.received) == call.frames_sent * FRAME_SAMPLES
        (path,) = server.recordings.glob(f"**/{call.session['id']}.flac")
        recorded, rate = soundfile.read(path, dtype="int16")
        assert rate == 24000
        assert recorded.shape == (call.frames_sent * FRAME_SAMPLES, 2)
        assert np.array_equal(recorded[:, 1], call.received)
        metadata = json.loads(path.with_suffix(".json").read_text())
        assert metadata["status"] == "finished"
        assert metadata["frames"] == call.frames_sent


@pytest.mark.skipif(not SPEECH.exists(), reason="the recordings of real people are not here")
def test_eight_calls_of_forty_seconds_each_equal_the_same_call_alone(server: RunningServer) -> None:
    (alone,) = asyncio.run(together(server.url, [speech()]))
    calls = asyncio.run(together(server.url, [speech()] * CALLS))
    assert alone.frames_sent == 500
    check_frames_and_recordings(server, [alone, *calls])
    for call in calls:
        assert same(call.received, alone.received)


def test_eight_calls_with_eight_sounds_do_not_hear_each_other(server: RunningServer) -> None:
    sounds = [babble(seed, 4.0) for seed in range(CALLS)]
    crowd = asyncio.run(together(server.url, sounds))
    check_frames_and_recordings(server, crowd)
    assert len({call.received.tobytes() for call in crowd}) == CALLS
    for seed in (0, 5):
        (alone,) = asyncio.run(together(server.url, [sounds[seed]]))
        assert same(crowd[seed].received, alone.received)


def test_the_same_seed_gives_the_same_call_over_the_socket(server: RunningServer) -> None:
    first, again = (asyncio.run(play(server.url, babble(3, 2.0))) for _ in range(2))
    assert np.array_equal(first.received, again.received)
    assert first.received.std() > 100  # it says something
