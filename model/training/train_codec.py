"""The command `codec`: runs the stages, keeps checkpoints, exports the averaged codec.

Progress is counted in steps, never in time: a paused or killed run goes on as if nothing had been.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tqdm import tqdm

from model.training import corpus, teacher
from model.training.crops import Batch, Pool, draw
from model.training.encodings import Encodings, encode_all
from model.training.export import export
from model.training.learner import Tensors, start_books
from model.training.make_data import CORPUS
from model.training.recipe import Recipe, Stage
from model.training.run_state import CHECKPOINT, RunState, begin, next_stage, resume

EXPORT = "codec"
LOG = "codec.jsonl"
LOG_EVERY = 50


class CodecRun:
    """One run over a folder with data. `run` goes on until every stage is done."""

    def __init__(self, folder: Path, recipe: Recipe, pool: Pool, state: RunState, device: str) -> None:
        self.folder, self.recipe, self.pool, self.state, self.device = folder, recipe, pool, state, device
        self._saved = time.monotonic()
        self._encodings = Encodings((), ())
        self._sums: dict[str, float] = {}

    def run(self) -> None:
        while self.state.stage < len(self.recipe.stages):
            self._run_stage(self.recipe.stages[self.state.stage])
            next_stage(self.state, self.recipe)
            self.keep()

    def keep(self) -> None:
        """The checkpoint and, beside it, the averaged codec as moshi loads it."""
        self.state.keep(self.folder / CHECKPOINT)
        export(self.state.average, self.state.config, self.folder / EXPORT)
        self._saved = time.monotonic()

    def step(self, stage: Stage) -> dict[str, float]:
        """One step of the stage; what it logs."""
        state = self.state
        random = self._random(state.step)
        torch.manual_seed(int(random.integers(2**62)))
        if stage.bypass_steps and state.step == stage.bypass_steps:
            self._start_books(stage)
        state.learner.set_mode(stage)
        for group in state.optimiser.param_groups:
            group["lr"] = stage.rate(state.step)
        total, log = self._loss(stage, random)
        state.optimiser.zero_grad()
        total.backward()  # type: ignore[no-untyped-call]
        if state.clip(self.recipe.clip):
            state.optimiser.step()
        state.learner.let_go()
        state.follow(self.recipe.average)
        state.step += 1
        return {"loss": total.item(), **log}

    def _run_stage(self, stage: Stage) -> None:
        if stage.decoder_only:
            self._encodings = self._encode()
        with tqdm(
            total=stage.steps, initial=self.state.step, desc=stage.name, unit="step", mininterval=5
        ) as bar:
            while self.state.step < stage.steps:
                self._log(stage, self.step(stage), bar)
                bar.update(1)
                if time.monotonic() - self._saved > self.recipe.save_every_s:
                    self.keep()

    def _loss(self, stage: Stage, random: np.random.Generator) -> tuple[torch.Tensor, dict[str, float]]:
        recipe, learner = self.recipe, self.state.learner
        if not stage.decoder_only:
            return learner.loss(self._tensors(self._draw(stage, random)), stage, self.state.step, recipe)
        rows, frames = stage.agent_crops, recipe.crop_frames
        share = stage.answers_share
        codes, wanted = self._encodings.draw(random, rows=rows, frames=frames, answers_share=share)
        return learner.from_codes(codes.to(self.device), wanted.to(self.device), stage, recipe)

    def _draw(self, stage: Stage, random: np.random.Generator) -> Batch:
        recipe = self.recipe
        return draw(
            self.pool,
            random,
            agent=stage.agent_crops,
            users=stage.user_crops,
            frames=recipe.crop_frames,
            answers_share=stage.answers_share,
        )

    def _tensors(self, batch: Batch) -> Tensors:
        parts = (batch.heard[:, None], batch.wanted, batch.taught, batch.known)
        return Tensors(*(torch.from_numpy(part).to(self.device) for part in parts))

    def _random(self, step: int) -> np.random.Generator:
        return np.random.default_rng([self.recipe.seed, self.state.stage, step])

    def _start_books(self, stage: Stage) -> None:
        learner = self.state.learner
        batches = (self._draw(stage, self._random(stage.steps + n)) for n in range(self.recipe.start_batches))
        with torch.no_grad():
            latents = [learner.latent(self._tensors(batch).heard) for batch in batches]
        flat = torch.cat([latent.transpose(1, 2).flatten(0, 1) for latent in latents]).T[None]
        crops = stage.agent_crops + stage.user_crops
        start_books(learner, flat, crops * self.recipe.crop_frames)
        self.state.restart_average()

    def _encode(self) -> Encodings:
        clips = [*self.pool.answers, *self.pool.open]
        codec = self.state.learner.codec.eval()
        with tqdm(total=len(clips), desc="encoding the agent", unit="utterance", mininterval=5) as bar:
            return encode_all(
                clips,
                lambda heard: codec.encode(heard.to(self.device)),
                seed=(self.recipe.seed, self.state.stage),
                times=self.recipe.encodings,
                least=self.recipe.crop_frames,
                progress=bar.update,
            )

    def _log(self, stage: Stage, log: dict[str, float], bar: tqdm[Any]) -> None:
        for name, value in log.items():
            self._sums[name] = self._sums.get(name, 0.0) + value
        if self.state.step % LOG_EVERY == 0:
            means = {name: round(total / LOG_EVERY, 4) for name, total in self._sums.items()}
            self._sums = {}
            bar.set_postfix(means)
            with (self.folder / LOG).open("a") as file:
                file.write(json.dumps({"stage": stage.name, "step": self.state.step, **means}) + "\n")


def train_codec(folder: Path, recipe: Recipe, *, device: str) -> None:
    """Trains on the data in the folder, from its checkpoint when there is one. Raises ModelError."""
    torch.set_num_threads(1)
    clips = teacher.clips(folder, corpus.read(folder / CORPUS))
    pool = Pool.of(clips, teacher.FEATURES)
    path = folder / CHECKPOINT
    if path.exists():
        state = resume(path, recipe, teacher.FEATURES, device)
    else:
        state = begin(recipe, teacher.FEATURES, device)
    CodecRun(folder, recipe, pool, state, device).run()
    print(f"the codec is in {folder / EXPORT}")
