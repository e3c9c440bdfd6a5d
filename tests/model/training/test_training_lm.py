"""The language model's training on a toy: it learns, it goes on after a stop, and it is exported whole."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from moshi.models import MimiModel
from moshi.utils.compile import no_compile

from model.config import ModelError
from model.training.lm_learner import LmLearner, LmSettings
from model.training.lm_shape import LM_CONFIG, code_vectors, fresh_lm, grown_lm
from model.training.lm_state import LmState, begin, resume
from model.training.monologue import PADDING, open_pieces, train_pieces
from model.training.quick_layers import layer_forward
from model.training.shape import fresh_codec
from model.training.train_lm import lm_step
from model.training.window_pool import WindowPool
from model.training.windows import ONSET, UNANSWERED, Window
from tests.model.training.toy import toy_config

PIECES = 40
FRAMES = 40
TOPICS = 2
SMALL = {"dim": 64, "num_layers": 2, "text_card": PIECES, "card": 16, "context": 20, "depformer_dim": 16}
CONFIG: dict[str, Any] = LM_CONFIG | SMALL | {"depformer_dim_feedforward": 32}
SETTINGS = LmSettings(steps=60, rows=2, warm_steps=5, depth_frames=20, masks=1, dropout=0.0)


@pytest.fixture(scope="module")
def codec() -> MimiModel:
    codec = fresh_codec(3, toy_config())
    for books in (codec.quantizer.rvq_first, codec.quantizer.rvq_rest):
        for layer in books.vq.layers:
            layer._codebook.embedding_sum.normal_()
            layer._codebook.cluster_usage.fill_(1)
    return codec


@pytest.fixture
def windows(tmp_path: Path) -> WindowPool:
    """Six windows in which the agent says one of two things."""
    random = np.random.default_rng(0)
    for number in range(6):
        topic = number % TOPICS
        text = np.full(FRAMES, PADDING, np.int16)
        marks = np.zeros(FRAMES, np.int8)
        labels = np.full(FRAMES, -1, np.int8)
        text[20], labels[18:20], marks[20:22] = 10 + topic, topic, ONSET
        codes = random.integers(0, 16, (2, 8, FRAMES)).astype(np.int16)
        codes[0, :, 10:18] = topic
        window = Window(codes[0], codes[1], text, marks, labels, "the light" if topic else "on")
        window.keep(tmp_path / f"window-{number:06d}.npz")
    pieces = open_pieces(train_pieces(["the lights are on"] * 20, PIECES))
    pool = WindowPool(tmp_path, pieces, lambda texts: [[ord(each) % 7 for each in text] for text in texts])
    pool.refresh()
    return pool


def learner(codec: MimiModel) -> LmLearner:
    torch.set_num_threads(1)
    return LmLearner(fresh_lm(1, codec, CONFIG), TOPICS, SETTINGS)


def test_trainings_layers_say_what_moshis_own_say(codec: MimiModel) -> None:
    lm = fresh_lm(1, codec, CONFIG).eval()
    entered = torch.randn(2, FRAMES, CONFIG["dim"], generator=torch.Generator().manual_seed(2))
    with no_compile(), torch.no_grad():
        wanted = lm.transformer(entered)
        for layer in lm.transformer.layers:
            layer.forward = partial(layer_forward, layer)
        assert torch.allclose(lm.transformer(entered), wanted, rtol=0, atol=1e-5)


def go_on(pool: WindowPool, state: LmState, steps: int) -> list[dict[str, float]]:
    with no_compile():
        return [lm_step(pool, state) for _ in range(steps)]


def test_codes_that_sound_alike_begin_alike(codec: MimiModel) -> None:
    lm = fresh_lm(1, codec, CONFIG)
    vectors = code_vectors(codec)[2]
    begun = lm.emb[2].weight[: len(vectors)]
    apart = torch.cdist(vectors, vectors).flatten()
    spread = torch.cdist(begun, begun).flatten().detach()
    assert torch.corrcoef(torch.stack([apart, spread]))[0, 1] > 0.9


def test_a_grown_model_says_what_the_shallower_one_said(codec: MimiModel) -> None:
    small = fresh_lm(1, codec, CONFIG)
    grown = grown_lm(2, codec, small.state_dict(), CONFIG | {"num_layers": 4})
    codes = torch.randint(0, 16, (2, 17, 30), generator=torch.Generator().manual_seed(0))
    with no_compile(), torch.no_grad():
        before, after = small.forward_text(codes), grown.forward_text(codes)
    assert len(grown.transformer.layers) == 4
    for old, new in zip(before, after, strict=True):
        assert torch.equal(old, new)


def test_a_model_of_another_width_cannot_be_grown(codec: MimiModel) -> None:
    narrow = fresh_lm(1, codec, CONFIG | {"dim": 32}).state_dict()
    with pytest.raises(ModelError, match="of another shape"):
        grown_lm(2, codec, narrow, CONFIG)


def test_to_begin_in_a_pause_costs_as_many_times_more_as_the_settings_say(
    codec: MimiModel, windows: WindowPool
) -> None:
    batch = windows.draw(np.random.default_rng(0), 2)
    model, logits = learner(codec), torch.zeros(2, FRAMES, PIECES)
    logits[:, 5, 7] = 50.0  # it begins to speak in frame 5
    wanted = torch.full((2, FRAMES), PADDING)
    batch.marks.fill_(0)
    batch.labels.fill_(-1)
    idle, _ = model._text(logits, wanted, batch)
    batch.labels[:, 5] = TOPICS
    hurt, _ = model._text(logits, wanted, batch)
    usual = (FRAMES - 1) * SETTINGS.quiet_text
    weights = (
        SETTINGS.pause_text / (usual + SETTINGS.pause_text),
        SETTINGS.quiet_text / (usual + SETTINGS.quiet_text),
    )
    rest = float(np.log(PIECES))
    assert float(hurt) == pytest.approx(weights[0] * 50 + (1 - weights[0]) * rest, rel=1e-3)
    assert float(idle) == pytest.approx(weights[1] * 50 + (1 - weights[1]) * rest, rel=1e-3)


def test_every_weight_is_learned_once_and_only_matrices_are_decayed(codec: MimiModel) -> None:
    state = begin(learner(codec), CONFIG)
    groups = [group for optimiser in state.optimisers for group in optimiser.param_groups]
    names = {id(value): name for name, value in state.learner.named_parameters()}
    learned = [names[id(value)] for group in groups for value in group["params"]]
    decayed = {names[id(value)] for group in groups if group["weight_decay"] for value in group["params"]}
    assert sorted(learned) == sorted(names.values())
    assert not [name for name in decayed if "emb" in name or "norm" in name or name.endswith("bias")]


def test_it_learns_what_to_answer(codec: MimiModel, windows: WindowPool) -> None:
    logs = go_on(windows, begin(learner(codec), CONFIG), SETTINGS.steps)
    assert np.mean([log["loss"] for log in logs[-5:]]) < 0.6 * np.mean([log["loss"] for log in logs[:5]])


def test_a_kept_run_goes_on_as_if_it_had_not_stopped(
    codec: MimiModel, windows: WindowPool, tmp_path: Path
) -> None:
    state = begin(learner(codec), CONFIG)
    go_on(windows, state, 3)
    state.keep(tmp_path / "lm.pt")
    uses = windows._uses.copy()
    one = go_on(windows, state, 2)
    windows._uses = uses
    again = resume(tmp_path / "lm.pt", learner(codec), CONFIG)
    assert go_on(windows, again, 2) == one


def test_a_model_of_another_shape_is_refused(codec: MimiModel, tmp_path: Path) -> None:
    state = begin(learner(codec), CONFIG)
    state.keep(tmp_path / "lm.pt")
    with pytest.raises(ModelError, match="another shape"):
        resume(tmp_path / "lm.pt", learner(codec), CONFIG | {"context": 21})


def test_a_window_without_answers_teaches_only_hearing(codec: MimiModel, windows: WindowPool) -> None:
    batch = windows.draw(np.random.default_rng(0), 2)
    batch.marks.fill_(UNANSWERED)
    with no_compile():
        _, parts = learner(codec).loss(batch, torch.Generator().manual_seed(0))
    assert parts["text"] == parts["audio"] == 0
    assert parts["words"] > 0
    assert parts["sounds"] > 0


def test_windows_that_were_used_least_come_first(windows: WindowPool) -> None:
    random = np.random.default_rng(0)
    drawn = torch.cat([windows.draw(random, 2).codes for _ in range(3)])
    assert len({tuple(row.flatten().tolist()) for row in drawn}) == 6
