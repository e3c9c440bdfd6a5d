"""One call as it is heard: frames of both channels go in, windows come out, words go in, messages come out.

For a running call the messages are words as they become certain; for one that has ended they are the
utterances of the final transcript. Refuses to know sockets, threads and who hears the windows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from audio.frames import FRAME_MS, SAMPLE_RATE, Samples, silence
from audio.resample import Resampler
from duet_client.wire import Channel, SidebandCommand, TranscriptAppend, TranscriptUtterance, Word
from transcribe_sidecar.ear import Ear, Told
from transcribe_sidecar.pace import Pace
from transcribe_sidecar.resume import Standing
from transcribe_sidecar.silero import Silero
from transcribe_sidecar.timeline import CHUNK_MS, RATE, Window

HELD_MS = 32_000
"""Audio of a channel that may wait to be heard. At this, no more is taken in until some of it is heard."""
_FILL_FRAMES = 12
"""A hole in the audio is filled up with this much silence, so that what was said before it is over."""
_STEP_FRAMES = 2
_STEP_CHUNKS = _STEP_FRAMES * FRAME_MS // CHUNK_MS


class _Line:
    """A channel's way from frames at 24 kHz to its ear."""

    def __init__(self, ear: Ear) -> None:
        self.ear = ear
        self._resampler = Resampler(SAMPLE_RATE, RATE)
        self._silero = Silero()

    def push(self, frame: Samples, now: float) -> None:
        self._give(self._resampler.push(frame), now)

    def close(self, now: float) -> None:
        self._give(self._resampler.flush(), now)
        self.ear.close()

    def _give(self, samples: Samples, now: float) -> None:
        for chunk, probability in self._silero.push(samples):
            self.ear.push(chunk, probability, now)


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a call stands. untold: by channel, the beginning of speech that is not told, if there is any."""

    now_ms: int
    untold: Mapping[Channel, int | None]
    done: bool


class Call:
    """first: index of the first frame. standing: what the server has already, by channel."""

    def __init__(self, first: int, standing: Mapping[Channel, Standing], final: bool = False) -> None:
        self.final = final
        self._next = first
        self._ended = False
        self._lines = {
            channel: _Line(
                Ear(channel, first * FRAME_MS, (), 0, growing=False)
                if final
                else Ear(channel, first * FRAME_MS, each.last, each.through_ms)
            )
            for channel, each in standing.items()
        }

    @property
    def full(self) -> bool:
        """Whether so much waits to be heard that the next frames must wait, too."""
        return any(line.ear.waiting_ms >= HELD_MS for line in self._lines.values())

    @property
    def duration_ms(self) -> int:
        return self._next * FRAME_MS

    @property
    def progress(self) -> Progress:
        untold = {channel: line.ear.untold_ms for channel, line in self._lines.items()}
        return Progress(self.duration_ms, untold, self._ended and not any(self._unsettled()))

    def frame(self, index: int, samples: Mapping[Channel, Samples], now: float) -> None:
        """Take float32 [1920] of each channel. What is heard again is ignored; a hole becomes silence."""
        if index < self._next:
            return
        if index > self._next:
            self._fill(index - self._next, now)
        self._push(samples, now)
        self._next = index + 1

    def end(self, now: float) -> None:
        """The call is over: no frame follows."""
        if not self._ended:
            self._ended = True
            for line in self._lines.values():
                line.close(now)

    def due(self, pace: Pace) -> list[tuple[Channel, float]]:
        """The channels in which a window should be heard, and since when."""
        wants = [(channel, line.ear.wants(pace)) for channel, line in self._lines.items()]
        return [(channel, since) for channel, since in wants if since is not None]

    def take(self, channel: Channel) -> Window:
        return self._lines[channel].ear.take()

    def hear(self, window: Window, words: tuple[Word, ...]) -> list[SidebandCommand]:
        """What is to be sent now that a window was heard."""
        return self._messages(self._lines[window.channel].ear.hear(window, words))

    def settle(self) -> list[SidebandCommand]:
        """What is to be sent without another pass."""
        ears = [line.ear for line in self._lines.values()]
        return [
            message
            for ear in ears
            for told in (ear.settle(), ear.quiet())
            for message in self._messages(told)
        ]

    def _fill(self, hole: int, now: float) -> None:
        """Frames that never come: silence while what was said dies away, then a jump in whole chunks."""
        steps = max(0, hole - _FILL_FRAMES) // _STEP_FRAMES
        for _ in range(hole - steps * _STEP_FRAMES):
            self._push({channel: silence() for channel in self._lines}, now)
        for line in self._lines.values():
            line.ear.skip(steps * _STEP_CHUNKS)

    def _push(self, samples: Mapping[Channel, Samples], now: float) -> None:
        for channel, line in self._lines.items():
            line.push(samples[channel], now)

    def _unsettled(self) -> list[bool]:
        return [line.ear.untold_ms is not None for line in self._lines.values()]

    def _messages(self, told: Told | None) -> list[SidebandCommand]:
        if told is None:
            return []
        if not self.final:
            return [TranscriptAppend(told.channel, told.words, told.through_ms)]
        if told.utterance is None or not told.words:
            return []
        start, end = told.utterance
        return [TranscriptUtterance(told.channel, start, end, told.words)]
