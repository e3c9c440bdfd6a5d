"""From a composed conversation to training tokens: what is heard where, what the agent writes where."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from audio.frames import FRAME_SAMPLES, SAMPLE_RATE, Samples
from model.training.callers import Clip, paused
from model.training.dialogue import Answer, Dialogue, Heard, Placed, Said
from model.training.mixing import Place, user_channel
from model.training.monologue import PADDING
from model.training.takes import Take, TakeCodes
from model.training.windows import NEAR, ONSET, Booth, Draft, Window

FRAMES = 50
TAKE = Take("joke", 0, np.full(10 * FRAME_SAMPLES, 0.4, np.float32), ())
PLACE = Place(voice_seed=1, gain=1.0, echo=0.0, echo_delay=2_400)


def loudness(sound: Samples, start: int, end: int) -> float:
    return float(np.sqrt(np.square(sound[start:end]).mean()))


def dialogue() -> Dialogue:
    """The user speaks in the second second; the agent from frame 30 to 38, two frames cut off."""
    clip = Clip("joke", "tell me a joke", np.full(SAMPLE_RATE, 0.5, np.float32))
    heard = Heard("joke", clip.text, SAMPLE_RATE, clip=clip)
    return Dialogue(FRAMES, [Placed(heard, SAMPLE_RATE)], [Said(Answer("joke", 10, TAKE), 30, 38)])


def test_a_user_is_heard_where_the_conversation_says() -> None:
    heard = user_channel(np.random.default_rng(0), dialogue(), PLACE)
    assert len(heard) == FRAMES * FRAME_SAMPLES
    assert loudness(heard, SAMPLE_RATE, 2 * SAMPLE_RATE) > 20 * loudness(heard, 0, SAMPLE_RATE)


def test_a_user_has_one_room_and_one_line_for_all_that_is_said_short_or_long() -> None:
    sound = np.random.default_rng(5).standard_normal(SAMPLE_RATE).astype(np.float32) * np.float32(0.1)
    clips = [Clip("joke", "", sound[: SAMPLE_RATE // 2]), Clip("joke", "", sound)]
    for seed in range(40):
        placed = [Placed(Heard("joke", "", len(clip.samples), clip=clip), 0) for clip in clips]
        place = Place(voice_seed=seed, gain=1.0, echo=0.0, echo_delay=0)
        said = [user_channel(np.random.default_rng(0), Dialogue(FRAMES, [one]), place) for one in placed]
        short, long = (loudness(one, 0, SAMPLE_RATE // 2) for one in said)
        assert 0.8 < short / long < 1.25  # 2 dB; lines differ by up to 17


def test_the_agents_echo_comes_back_later_and_ends_where_it_was_cut() -> None:
    echo = Place(voice_seed=1, gain=1.0, echo=0.1, echo_delay=2_400)
    heard, without = (user_channel(np.random.default_rng(0), dialogue(), place) for place in (echo, PLACE))
    back = np.abs(heard - without)
    start, end = 30 * FRAME_SAMPLES + 2_400, 38 * FRAME_SAMPLES + 2_400
    assert back[:start].max() < 1e-6
    assert loudness(back, start, end) > 0.02
    assert loudness(back, end + SAMPLE_RATE // 2, len(back)) < 0.002


def test_outside_its_takes_the_agent_writes_silence_and_padding() -> None:
    silent = np.full((8, 1), 9, np.int16)
    codes = TakeCodes(np.arange(80, dtype=np.int16).reshape(8, 10), np.arange(10, 20, dtype=np.int16))

    def encode(heard: Tensor) -> Tensor:
        return torch.zeros(1, 8, heard.shape[2] // FRAME_SAMPLES, dtype=torch.long)

    draft = Draft(
        np.zeros(FRAMES * FRAME_SAMPLES, np.int16),
        np.array([[0, 0, 30, 38]], np.int16),
        np.full(FRAMES, -1, np.int8),
        "tell me a joke",
    )
    window = Booth({"joke": [codes]}, silent, encode, ["joke"]).window(draft)
    assert (window.agent[:, 30:38] == codes.codes[:, :8]).all()
    assert (np.delete(window.agent, range(30, 38), axis=1) == 9).all()
    assert window.text[30:38].tolist() == list(range(10, 18))
    assert set(np.delete(window.text, range(30, 38))) == {PADDING}
    assert window.marks[[26, 27, 30, 31, 32, 41, 42]].tolist() == [0, NEAR, ONSET, ONSET, NEAR, NEAR, 0]


def test_a_window_is_read_as_it_was_kept(tmp_path: Path) -> None:
    codes = np.arange(8 * FRAMES, dtype=np.int16).reshape(8, FRAMES)
    line = np.zeros(FRAMES, np.int8)
    window = Window(codes, codes + 1, codes[0], line, line - 1, "hello there")
    window.keep(tmp_path / "w.npz")
    again = Window.read(tmp_path / "w.npz")
    assert again.words == "hello there"
    assert all((getattr(again, name) == getattr(window, name)).all() for name in ("user", "agent", "labels"))


def test_a_speaker_pauses_where_the_sound_already_stops() -> None:
    tone = np.sin(np.arange(12_000) * 0.2).astype(np.float32)
    gap = np.zeros(2_400, np.float32)
    longer, (start, end) = paused(np.concatenate([tone, gap, tone]), SAMPLE_RATE)
    assert end - start >= SAMPLE_RATE - 480
    assert np.abs(longer[start:end]).max() == 0
    assert paused(tone, SAMPLE_RATE)[1] == (0, 0)
