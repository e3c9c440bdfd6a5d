"""A small checkpoint with seeded random weights, in the folder layout that moshi's loaders take.

It exercises every part of a real checkpoint and says nothing sensible: for tests and benchmarks that
need speed, not words. `python -m model.untrained FOLDER` writes one. Refuses to know the runtime;
whoever loads it goes through `checkpoint` like any other.
"""

from __future__ import annotations

import fcntl
import glob
import io
import json
import math
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sentencepiece
import torch
from moshi.models import MimiModel, loaders
from safetensors import SafetensorError
from safetensors.torch import save_file
from torch import Tensor, nn

from audio.frames import FRAME_RATE, FRAME_SAMPLES, SAMPLE_RATE
from model.cache import cache_folder
from model.config import ModelError

NAME = "duet-untrained"
SEED = 20261129
VERSION = 2
"""Part of the folder's name: a change of recipe makes a new folder, never mends an old one."""

BOOKS = 8
BINS = 256
TEXT_CARD = 128
LATENT = 32

_DRAFT = "-draft-"

SEANET: dict[str, Any] = {
    "channels": 1,
    "dimension": 64,
    "causal": True,
    "n_filters": 8,
    "n_residual_layers": 1,
    "activation": "ELU",
    "compress": 2,
    "dilation_base": 2,
    "disable_norm_outer_blocks": 0,
    "kernel_size": 7,
    "residual_kernel_size": 3,
    "last_kernel_size": 3,
    "norm": "none",
    "pad_mode": "constant",
    "ratios": [15, 8, 8],
    "true_skip": True,
}
MIMI_CONFIG: dict[str, Any] = {
    "sample_rate": SAMPLE_RATE,
    "channels": 1,
    "frame_rate": FRAME_RATE,
    "seanet": SEANET,
    "quantizer": {
        "dimension": LATENT,
        "n_q": BOOKS,
        "bins": BINS,
        "input_dimension": SEANET["dimension"],
        "output_dimension": SEANET["dimension"],
    },
    "transformer": {
        "d_model": SEANET["dimension"],
        "num_heads": 2,
        "num_layers": 1,
        "causal": True,
        "layer_scale": 0.2,
        "context": 50,
        "conv_layout": True,
        "max_period": 10000,
        "gating": "none",
        "norm": "layer_norm",
        "positional_embedding": "rope",
        "dim_feedforward": 128,
        "input_dimension": SEANET["dimension"],
        "output_dimensions": [SEANET["dimension"]],
    },
}
LM_CONFIG: dict[str, Any] = {
    "dim": 128,
    "text_card": TEXT_CARD,
    "existing_text_padding_id": 3,
    "n_q": 2 * BOOKS,
    "dep_q": BOOKS,
    "card": BINS,
    "num_heads": 4,
    "num_layers": 2,
    "hidden_scale": 4.125,
    "causal": True,
    "layer_scale": None,
    "context": 500,
    "max_period": 10000,
    "gating": "silu",
    "norm": "rms_norm_f32",
    "positional_embedding": "rope",
    "depformer_dim": 64,
    "depformer_dim_feedforward": 192,
    "depformer_num_heads": 2,
    "depformer_num_layers": 1,
    "depformer_layer_scale": None,
    "depformer_multi_linear": True,
    "depformer_context": BOOKS,
    "depformer_max_period": 10000,
    "depformer_gating": "silu",
    "depformer_pos_emb": "none",
    "depformer_weights_per_step": True,
    "delays": [0, 0, *[1] * (BOOKS - 1), 0, *[1] * (BOOKS - 1)],
}
FILES = {
    "moshi_name": "model.safetensors",
    "mimi_name": "mimi.safetensors",
    "mimi_config_name": "mimi.json",
    "tokenizer_name": "tokenizer.model",
}
CORPUS = """\
hello there, how are you today? i am well, thank you for asking.
what is the time? it is a quarter past nine in the morning.
please turn on the lights in the kitchen and close the door.
tell me a story about a fox, a river and a very old bridge.
yes, no, maybe, of course, i do not know, could you say that again?
one two three four five six seven eight nine ten eleven twelve.
"""


def default_folder() -> Path:
    """Where the generated checkpoint is kept between starts."""
    try:
        return cache_folder() / f"untrained-v{VERSION}"
    except RuntimeError as error:
        raise ModelError("no home folder to keep the untrained checkpoint in: set XDG_CACHE_HOME") from error


def ensure_untrained(folder: Path | None = None) -> Path:
    """The folder, written first if it is not there; whole or not at all. Raises ModelError."""
    folder = folder or default_folder()
    try:
        if not folder.is_dir():
            folder.parent.mkdir(parents=True, exist_ok=True)
            with _alone_in(folder.parent) as alone:
                if alone:
                    _remove_drafts(folder)
                if not folder.is_dir():  # else another process made it meanwhile
                    _make(folder)
    except (OSError, SafetensorError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ModelError(f"cannot write the untrained checkpoint to {folder}: {reason}") from error
    return folder


@contextmanager
def _alone_in(parent: Path) -> Iterator[bool]:
    """One process at a time makes a checkpoint here; False where the file system knows no such lock.

    The kernel frees the lock of a process that was killed.
    """
    here = os.open(parent, os.O_RDONLY)
    try:
        try:
            fcntl.flock(here, fcntl.LOCK_EX)
        except OSError:
            yield False
        else:
            yield True
    finally:
        os.close(here)


def _remove_drafts(folder: Path) -> None:
    """What killed processes left; call it alone, for then nobody works on any draft."""
    for draft in folder.parent.glob(f"{glob.escape(folder.name)}{_DRAFT}*"):
        shutil.rmtree(draft, ignore_errors=True)


def _make(folder: Path) -> None:
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f"{folder.name}{_DRAFT}") as drafts:
        draft = Path(drafts) / folder.name
        draft.mkdir()
        write_untrained(draft)
        try:
            draft.rename(folder)
        except OSError:
            if not folder.is_dir():  # else another process finished first
                raise


def write_untrained(folder: Path, **lm_overrides: Any) -> None:
    """Writes a whole checkpoint. The global generator is left as it was.

    lm_overrides: entries of the language model's config, for checkpoints of other sizes.
    """
    lm_config = LM_CONFIG | lm_overrides
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(SEED)
        lm = loaders.get_moshi_lm(None, lm_config, device="cpu", dtype=torch.float32)
        mimi = _random_mimi()
    save_file(lm.state_dict(), folder / FILES["moshi_name"])
    save_file(mimi.state_dict(), folder / FILES["mimi_name"])
    (folder / FILES["tokenizer_name"]).write_bytes(_train_tokenizer(lm_config["text_card"]))
    (folder / FILES["mimi_config_name"]).write_text(json.dumps(MIMI_CONFIG, indent=1))
    identity = {"model_id": {"name": NAME, "trained": False}, "model_type": "moshi"}
    (folder / "config.json").write_text(json.dumps(lm_config | FILES | identity, indent=1))


def _random_mimi() -> MimiModel:
    """A codec whose codes follow its input: moshi's default init lets signals die on the way."""
    mimi = loaders.get_mimi(None, MIMI_CONFIG, num_codebooks=BOOKS)
    for module in mimi.modules():
        if isinstance(module, nn.Conv1d | nn.ConvTranspose1d):
            taps = module.weight[0].numel()
            if isinstance(module, nn.ConvTranspose1d):
                taps = module.weight.shape[0] * math.ceil(module.kernel_size[0] / module.stride[0])
                taps //= module.groups
            nn.init.normal_(module.weight, std=math.sqrt(1.5 / taps))
            if module.bias is not None:
                nn.init.zeros_(module.bias)
    _fill_codebooks(mimi)
    _calm_down(mimi)
    return mimi


def _fill_codebooks(mimi: MimiModel) -> None:
    """Centroids drawn from the residuals they will quantise, book after book."""
    latent = mimi._encode_to_unquantized_latent(_example_sound(seconds=64))
    for rvq in (mimi.quantizer.rvq_first, mimi.quantizer.rvq_rest):
        residual = rvq.input_proj(latent)[0].T
        for layer in rvq.vq.layers:
            book = layer._codebook
            picked = residual[torch.randperm(len(residual))[:BINS]]
            book.embedding_sum.copy_(picked)
            book.cluster_usage.fill_(1)
            book._initialized.fill_(1)
            residual = residual - picked[torch.cdist(residual, picked).argmin(dim=1)]


def _calm_down(mimi: MimiModel) -> None:
    """Scales the last layer so that the noise it makes is quiet: 0.01 RMS, -40 dBFS."""
    codes = torch.randint(BINS, (1, BOOKS, 50))
    last = [m for m in mimi.decoder.modules() if isinstance(m, nn.Conv1d)][-1]
    last.weight.mul_(0.01 / mimi.decode(codes).square().mean().sqrt())


def _example_sound(seconds: int) -> Tensor:
    """Noise bursts with a wandering tone at speech-like levels: float32 [1, 1, samples]."""
    samples = seconds * SAMPLE_RATE // FRAME_SAMPLES * FRAME_SAMPLES
    t = torch.arange(samples) / SAMPLE_RATE
    tone = torch.sin(2 * math.pi * (200 * t + 30 * torch.sin(2 * math.pi * 0.7 * t)))
    loudness = 0.02 + 0.15 * torch.sin(2 * math.pi * 0.31 * t).clamp(min=0)
    return (loudness * (tone + 0.5 * torch.randn(samples)))[None, None]


def _train_tokenizer(text_card: int) -> bytes:
    """A sentencepiece model with moshi's ids: 0 end-of-padding (and unknown), 3 padding."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS.splitlines()),
        model_writer=model,
        vocab_size=text_card,
        model_type="bpe",
        unk_id=0,
        bos_id=1,
        eos_id=2,
        pad_id=3,
        minloglevel=2,
    )
    return model.getvalue()


if __name__ == "__main__":
    ensure_untrained(Path(sys.argv[1]))
