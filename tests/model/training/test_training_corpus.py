"""Spoken data on disk: a run that was stopped goes on, and nothing is spoken twice."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from model.config import ModelError
from model.training import corpus
from model.training.corpus import Said
from model.training.plan import Utterance
from tests.model.training.toy import beep, say, toy_plan


class Speaker:
    """Speaks in beeps, counts, and may lose its voice."""

    def __init__(self, until: int = 10**6) -> None:
        self.said: list[str] = []
        self.until = until

    def __call__(self, utterance: Utterance) -> Said:
        if len(self.said) == self.until:
            raise ModelError("hoarse")
        self.said.append(utterance.key)
        return say(utterance)


def render(folder: Path, planned: list[Utterance], speaker: Speaker) -> int:
    return corpus.render(folder, planned, speaker, lambda _: None, workers=1)


@pytest.fixture(autouse=True)
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "SHARD", 10)


def test_a_stopped_run_goes_on_after_its_last_whole_shard(tmp_path: Path) -> None:
    planned = toy_plan()
    with pytest.raises(ModelError, match="hoarse"):
        render(tmp_path, planned, Speaker(until=25))
    again = Speaker()
    assert render(tmp_path, planned, again) == len(planned) - 20
    assert again.said == [utterance.key for utterance in planned[20:]]
    assert [item.utterance for item in corpus.read(tmp_path)] == planned


def test_a_finished_corpus_is_left_as_it_is(tmp_path: Path) -> None:
    render(tmp_path, toy_plan(), Speaker())
    assert render(tmp_path, toy_plan(), Speaker(until=0)) == 0


def test_only_the_shard_of_a_changed_utterance_is_spoken_again(tmp_path: Path) -> None:
    planned = toy_plan()
    render(tmp_path, planned, Speaker())
    planned[13] = replace(planned[13], text="Something else.")
    speaker = Speaker()
    render(tmp_path, planned, speaker)
    assert speaker.said == [utterance.key for utterance in planned[10:20]]


def test_a_smaller_plan_leaves_nothing_of_the_larger(tmp_path: Path) -> None:
    planned = toy_plan()
    render(tmp_path, planned, Speaker())
    render(tmp_path, planned[:12], Speaker())
    assert [item.utterance for item in corpus.read(tmp_path)] == planned[:12]


def test_the_sound_comes_back_as_it_was_spoken(tmp_path: Path) -> None:
    planned = toy_plan()
    render(tmp_path, planned, Speaker())
    item = corpus.read(tmp_path)[17]
    assert np.abs(item.samples() - beep(planned[17])).max() < 2 / corpus.FULL
    assert item.words == say(planned[17]).words


def test_a_folder_without_data_says_how_to_make_it(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"make it with: python -m model\.training data"):
        corpus.read(tmp_path)
