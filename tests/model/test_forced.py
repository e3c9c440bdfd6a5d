"""On the same given tokens every layer of the compact runtime makes what moshi's makes, or is named."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import torch
from moshi.models import LMModel

from model.__main__ import main
from model.capacity.sizes import PUBLISHED
from model.checkpoint import DEFAULT, load
from model.compact.language import Language
from model.timing import forced
from model.timing.forced import TEXT, compare_forced
from model.timing.layouts import small
from model.timing.parity import told

PAST_THE_CONTEXT = 30


@pytest.mark.parametrize("layout", PUBLISHED)
def test_every_layer_of_a_published_layout_agrees_past_the_end_of_its_context(layout: str) -> None:
    lm = small(layout)
    differences = compare_forced(lm, PAST_THE_CONTEXT)
    assert len(differences) == len(lm.transformer.layers) + len(lm.depformer.layers) + 2
    assert [d.told() for d in differences if not d.holds] == []
    assert sum(d.choices for d in differences) == PAST_THE_CONTEXT * (1 + lm.dep_q)


def test_personaplex_writes_sixteen_books() -> None:
    assert small("personaplex-7b").dep_q == 16


def test_every_layer_of_the_builtin_model_agrees() -> None:
    lm = load(DEFAULT, "cpu", torch.float32).lm
    assert [d.told() for d in compare_forced(lm, 8) if not d.holds] == []


def test_the_first_layer_that_parts_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def changed(lm: LMModel, device: Any) -> Language:
        other = copy.deepcopy(lm)
        other.transformer.layers[2].self_attn.in_projs[0].weight.data *= 1.01
        return Language(other, device)

    monkeypatch.setattr(forced, "Language", changed)
    differences = compare_forced(small("moshi-7b"), 5)
    parted = [d.part for d in differences if not d.holds]
    assert parted[:2] == ["temporal layer 2", "temporal layer 3"]
    assert TEXT in parted
    lines = told("it", differences).splitlines()
    assert lines[0] == "teacher-forced, it: parts differ"
    assert lines[1].startswith("    temporal layer 0: differs by at most")
    assert lines[3].startswith("  ! temporal layer 2: differs by at most")


def test_the_command_tells_the_calls_and_the_layers(
    small_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["model", "parity", "--model", str(small_folder), "--frames", "5"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("parity holds: 0 of ")
    assert [line.split(":")[0] for line in lines[1:]] == [
        f"teacher-forced, {small_folder}",
        "teacher-forced, the layout of moshi-7b, small",
        "teacher-forced, the layout of personaplex-7b, small",
    ]
