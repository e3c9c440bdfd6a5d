"""A call's frames become windows at the right time of the session, whatever is missing, never too many."""

from __future__ import annotations

import numpy as np

from audio.frames import FRAME_MS, FRAME_SAMPLES, Samples
from duet_client.wire import Channel, TranscriptAppend, Word
from tests.transcribe_sidecar.spoken import NEEDS_FLITE, placed, silence
from transcribe_sidecar.call import HELD_MS, Call
from transcribe_sidecar.pace import STEPS
from transcribe_sidecar.resume import Standing
from transcribe_sidecar.timeline import Window

pytestmark = NEEDS_FLITE

FRESH: dict[Channel, Standing] = {"user": Standing(), "agent": Standing()}


def feed(call: Call, samples: Samples, first: int = 0) -> int:
    """Both channels get that from a frame on; returns the frame that comes next."""
    frames = samples[: len(samples) // FRAME_SAMPLES * FRAME_SAMPLES].reshape(-1, FRAME_SAMPLES)
    for index, frame in enumerate(frames, first):
        call.frame(index, {"user": frame, "agent": frame}, index * FRAME_MS / 1000)
    return first + len(frames)


def windows(call: Call, channel: Channel = "user") -> list[Window]:
    """All that is due of one channel, heard as one word each."""
    found = []
    while any(each == channel for each, _ in call.due(STEPS[-1])):
        window = call.take(channel)
        found.append(window)
        call.hear(window, (Word("word", window.runs[0].start_ms, window.runs[-1].end_ms, 0.9),))
    return found


def test_speech_on_both_sides_of_a_hole_is_where_it_belongs() -> None:
    samples, words = placed(("weather",))
    call = Call(0, FRESH)
    after = feed(call, samples)
    feed(call, samples, after + 1_001)
    call.end(0.0)
    starts = [window.runs[0].start_ms for window in windows(call)]
    expected = [words[0].start_ms, words[0].start_ms + (after + 1_001) * FRAME_MS]
    assert np.allclose(starts, expected, atol=150)


def test_frames_that_come_again_are_heard_once() -> None:
    samples, _ = placed(("weather",))
    call = Call(0, FRESH)
    feed(call, samples)
    feed(call, samples)
    call.end(0.0)
    assert len(windows(call)) == 1


def test_a_call_that_nobody_hears_asks_for_no_more_audio_after_a_while() -> None:
    samples, _ = placed(("please tell me about the weather",), pause_s=0.1)
    call, at = Call(0, FRESH), 0
    while not call.full:
        at = feed(call, samples, at)
    assert at * FRAME_MS <= HELD_MS + 3_000
    windows(call, "user")
    windows(call, "agent")
    assert not call.full


def test_silence_is_no_reason_to_stop() -> None:
    call = Call(0, FRESH)
    feed(call, silence(60))
    assert not call.full
    assert [type(message) for message in call.settle()] == [TranscriptAppend, TranscriptAppend]


def test_a_call_is_done_when_it_has_ended_and_all_is_told() -> None:
    samples, _ = placed(("weather",))
    call = Call(0, FRESH)
    feed(call, samples[: -len(silence(0.9))])
    assert not call.progress.done
    call.end(0.0)
    assert not call.progress.done
    windows(call, "user")
    windows(call, "agent")
    assert call.progress.done
