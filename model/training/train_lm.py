"""The command `lm`: trains the language model on the windows there are and on those still being made.

Progress is counted in steps; a stopped run goes on from its last checkpoint. Which windows a step
sees depends on how many there are by then, so two runs are alike, not equal.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from moshi.utils.compile import no_compile
from safetensors.torch import load_file
from tqdm import tqdm

from model.config import ModelError
from model.training.coding import open_codec
from model.training.export import LM_WEIGHTS
from model.training.lm_learner import LmLearner, LmSettings
from model.training.lm_shape import LM_CONFIG, fresh_lm, grown_lm
from model.training.lm_state import CHECKPOINT, LmState, begin, resume
from model.training.make_windows import open_tokenizer, topic_names, windows_folder
from model.training.quick_layers import hasten
from model.training.sounds import Pronunciation
from model.training.texts import domain
from model.training.window_pool import WindowPool

LOG = "lm.jsonl"
LOG_EVERY = 50
REFRESH_EVERY = 50
KEEP_EVERY_S = 120
LEAST_WINDOWS = 16
SETTINGS = LmSettings()


def train_lm(
    folder: Path,
    codec_folder: Path,
    settings: LmSettings = SETTINGS,
    *,
    start: Path | None = None,
    threads: int = 1,
) -> None:
    """From its checkpoint when there is one; else from a pair's language model in `start`, if given.

    Raises ModelError.
    """
    torch.set_num_threads(threads)
    codec = open_codec(codec_folder)
    pool = WindowPool(windows_folder(folder, codec_folder), open_tokenizer(folder), Pronunciation())
    pool.refresh()
    if len(pool) < LEAST_WINDOWS:
        raise ModelError(
            f"{len(pool)} windows for this codec, at least {LEAST_WINDOWS} are needed; make them with:"
            " python -m model.training windows"
        )
    path = folder / CHECKPOINT
    if start and not path.exists():
        lm = grown_lm(settings.seed, codec, load_file(start / LM_WEIGHTS))
    else:
        lm = fresh_lm(settings.seed, codec)
    learner = LmLearner(lm, len(topic_names(domain())), settings)
    hasten(lm)
    state = resume(path, learner, LM_CONFIG) if path.exists() else begin(learner, LM_CONFIG)
    pool.spend(state.step * settings.rows)
    with no_compile():
        _run(folder, pool, state)
    print(f"the language model's checkpoint is {path}")


def _run(folder: Path, pool: WindowPool, state: LmState) -> None:
    settings = state.learner.settings
    saved = time.monotonic()
    sums: dict[str, float] = {}
    steps_summed = 0
    with tqdm(
        total=settings.steps, initial=state.step, desc="language model", unit="step", mininterval=5
    ) as bar:
        while state.step < settings.steps:
            if state.step % REFRESH_EVERY == 0:
                pool.refresh()
            for name, value in lm_step(pool, state).items():
                sums[name] = sums.get(name, 0.0) + value
            steps_summed += 1
            bar.update(1)
            if state.step % LOG_EVERY == 0:
                means = {name: round(total / steps_summed, 4) for name, total in sums.items()}
                _log(folder, bar, {"step": state.step, "windows": len(pool), **means})
                sums, steps_summed = {}, 0
            if time.monotonic() - saved > KEEP_EVERY_S:
                state.keep(folder / CHECKPOINT)
                saved = time.monotonic()
    state.keep(folder / CHECKPOINT)


def lm_step(pool: WindowPool, state: LmState) -> dict[str, float]:
    """One step; what it logs."""
    learner, settings = state.learner.train(), state.learner.settings
    random = np.random.default_rng([settings.seed, state.step])
    torch.manual_seed(int(random.integers(2**62)))
    generator = torch.Generator().manual_seed(int(random.integers(2**62)))
    batch = pool.draw(random, settings.rows)
    for optimiser in state.optimisers:
        for group in optimiser.param_groups:
            group["lr"] = settings.peak_rate * group["share"] * state.rate()
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=_multiplies_bfloat16()):
        total, parts = learner.loss(batch, generator)
    learner.zero_grad()
    total.backward()  # type: ignore[no-untyped-call]
    torch.nn.utils.clip_grad_norm_(learner.parameters(), settings.clip)
    for optimiser in state.optimisers:
        optimiser.step()
    state.step += 1
    state.follow()
    return {"loss": total.item(), **parts}


def _multiplies_bfloat16() -> bool:
    """A processor that cannot multiply in it takes three times as long as in float32."""
    return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


def _log(folder: Path, bar: tqdm[Any], line: dict[str, float]) -> None:
    bar.set_postfix(line)
    with (folder / LOG).open("a") as file:
        file.write(json.dumps(line) + "\n")
