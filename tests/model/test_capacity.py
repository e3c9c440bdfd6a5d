"""Sizes and bounds against the shared study's own figures, counted there from moshi's source."""

from __future__ import annotations

from pathlib import Path

import pytest

from model.__main__ import main
from model.capacity.bounds import bounds, cost_of_minute, floor_s, mean_frames
from model.capacity.cards import CARDS
from model.capacity.sizes import Sizes, sizes_of


@pytest.fixture(scope="module")
def moshi() -> Sizes:
    return sizes_of("moshi-7b", 2)


def test_the_published_model_has_the_parameters_the_study_counted(moshi: Sizes) -> None:
    assert {part.name: part.parameters for part in moshi.parts} == {
        "temporal transformer": 6_576_934_912,
        "text head": 131_072_000,
        "embeddings": 134_283_264 + 131_076_096,
        "depformer": 616_574_976,
        "depformer inputs and heads": 33_554_432 + 16_777_216,
        "depformer embeddings": 14_687_232 + 32_769_024,
    }
    assert moshi.kv_frame == 524_288
    assert moshi.read == pytest.approx(14.750e9 + 334e6, rel=0.001)
    assert moshi.codec_state == pytest.approx(16.5e6, rel=0.02)


@pytest.mark.parametrize(
    ("card", "sessions", "frames", "milliseconds"),
    [("h100", 1, 250, 4.6), ("h100", 32, 1500, 12.4), ("h200", 32, 3000, 15.6), ("h200", 64, 1500, 16.1)],
)
def test_the_floor_is_the_study_s_roofline(
    moshi: Sizes, card: str, sessions: int, frames: int, milliseconds: float
) -> None:
    assert 1000 * floor_s(moshi, CARDS[card], sessions, frames) == pytest.approx(milliseconds, rel=0.03)


@pytest.mark.parametrize(("card", "sessions"), [("h100", 41), ("h200", 81)])
def test_memory_holds_as_many_full_contexts_as_the_study_says(moshi: Sizes, card: str, sessions: int) -> None:
    assert bounds(moshi, CARDS[card], 3000, 3000).memory == sessions


@pytest.mark.parametrize(("minutes", "frames"), [(1, 375), (4, 1500), (5, 1800), (10, 2400), (20, 2700)])
def test_the_mean_context_of_a_call_grows_and_then_slides(
    moshi: Sizes, minutes: float, frames: float
) -> None:
    assert mean_frames(moshi, minutes) == pytest.approx(frames)


def test_a_call_s_minute_costs_its_share_of_the_hour() -> None:
    assert cost_of_minute(3.0, 50) == pytest.approx(0.001)
    assert cost_of_minute(3.0, 0) is None


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setattr("sys.argv", ["model", "capacity", *arguments])
    main()


def test_a_checkpoint_s_own_config_is_reported(
    small_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(monkeypatch, "--model", str(small_folder), "--gpu", "cpu", "--dtype", "float32", "--price", "0.5")
    told = capsys.readouterr().out
    assert "A session keeps 1,024 bytes of keys and values a frame for at most 24 frames" in told
    assert "cpu: sessions" in told
    assert "a call's minute" in told


def test_what_the_parts_read_adds_up_to_what_a_step_reads(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for dtype in ("float32", "bfloat16"):
        run(monkeypatch, "--dtype", dtype)
        rows = capsys.readouterr().out.split("\n\n", 1)[0].splitlines()[2:]
        *parts, total = (float(row.split()[-1]) for row in rows if not row.endswith("rows only"))
        assert sum(parts) == pytest.approx(total, abs=0.05 * (len(parts) + 1))


def test_a_model_that_is_not_there_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        run(monkeypatch, "--model", "/nowhere")
    assert ended.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1
