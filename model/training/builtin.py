"""The command `export`: the trained pair in the layout that moshi's loaders take.

config.json, model.safetensors, mimi.safetensors, mimi.json and tokenizer.model, weights in bfloat16.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save
from torch import Tensor

from model.config import ModelError
from model.training.export import CONFIG, LM_WEIGHTS, WEIGHTS, rounded
from model.training.files import write_whole
from model.training.lm_state import CHECKPOINT, read_checkpoint
from model.training.make_windows import TOKENIZER

NAME = "duet-minny"
LM_PREFIX = "lm."
SAMPLING: dict[str, Any] = {"temp_text": 0.1, "top_k_text": 5, "temp": 0.0, "top_k": 0}
"""Chosen on the kept-back voices and phrasings of training."""
HEARD_PARTS = ("encoder.", "encoder_transformer.", "downsample.", "quantizer.")
DECODED = ".output_proj."
"""What decides which codes the language model hears; the last belongs to what makes sound of them."""


def export_pair(folder: Path, codec_folder: Path, out: Path, trained_on: Path | None = None) -> None:
    """The averaged language model and a codec.

    trained_on: the codec whose codes the model was trained on, when `codec_folder` has another
    decoder. Raises ModelError when their codes are not the same.
    """
    mimi = rounded(load_file(codec_folder / WEIGHTS))
    if trained_on:
        _check_same_codes(mimi, rounded(load_file(trained_on / WEIGHTS)), codec_folder)
    kept = read_checkpoint(folder / CHECKPOINT)
    lm = {
        name.removeprefix(LM_PREFIX): value
        for name, value in kept["average"].items()
        if name.startswith(LM_PREFIX)
    }
    names = {
        "moshi_name": LM_WEIGHTS,
        "mimi_name": WEIGHTS,
        "mimi_config_name": CONFIG,
        "tokenizer_name": TOKENIZER,
    }
    identity = {"model_id": {"name": NAME}, "model_type": "moshi", "lm_gen_config": SAMPLING}
    files = {
        LM_WEIGHTS: save(rounded(lm)),
        WEIGHTS: save(mimi),
        CONFIG: (codec_folder / CONFIG).read_bytes(),
        TOKENIZER: (folder / TOKENIZER).read_bytes(),
        "config.json": json.dumps(kept["config"] | names | identity, indent=1).encode() + b"\n",
    }
    out.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        write_whole(out / name, lambda file, content=content: file.write(content))  # type: ignore[misc]
    print(f"{out}: {sum(map(len, files.values())) / 1e6:.1f} MB, language model at step {kept['step']}")


def _check_same_codes(mimi: dict[str, Tensor], other: dict[str, Tensor], name: Path) -> None:
    for key, value in mimi.items():
        if key.startswith(HEARD_PARTS) and DECODED not in key and not torch.equal(value, other[key]):
            raise ModelError(f"{name}: {key} is not that of the codec the language model was trained on")
