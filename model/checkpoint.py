"""From a name to loaded modules: a Hugging Face repository or a local folder in that layout.

Everything goes through moshi's own loaders; what this adds is one clear line for each thing that
can be missing, unreadable or of the wrong shape. Refuses to know the runtime and the engine.

Layout (moshi/models/loaders.py, CheckpointInfo): config.json (the language model's arguments, and
moshi_name, mimi_name, mimi_config_name, tokenizer_name, lora_name), the safetensors it names, and
a sentencepiece model.
"""

from __future__ import annotations

import json
import reprlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sentencepiece
import torch
from moshi.models import LMModel, MimiModel, loaders
from moshi.run_inference import get_condition_tensors
from safetensors import SafetensorError

from audio.frames import FRAME_RATE, SAMPLE_RATE
from model.config import ModelError, ModelInfo, Sampling
from model.faults import telling_line
from model.fingerprint import fingerprint
from model.hub import fetch
from model.unfilled import Unfilled

DEFAULT = "default"
BUILTIN = Path(__file__).parent / "builtin"
"""The trained pair that comes with Duet, the default: a checkpoint like any other."""

_LOADERS_RAISE = (RuntimeError, OSError, ValueError, TypeError, KeyError, AttributeError, AssertionError)
"""A config's value of the wrong type surfaces as any of these, deep inside."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A checkpoint in memory: mimi in float32, lm in the asked dtype, both in evaluation mode."""

    info: ModelInfo
    mimi: MimiModel
    lm: LMModel
    tokenizer: sentencepiece.SentencePieceProcessor
    model_type: str

    def condition_tensors(self, rows: int) -> Any:
        """What moshi feeds a conditioned model (Hibiki), for a batch of `rows`."""
        return get_condition_tensors(self.model_type, self.lm, rows, cfg_coef=1.0)


def load(name: str, device: str, dtype: torch.dtype) -> Loaded:
    """Raises ModelError with one line."""
    files = resolve(name)
    config = files.lm_config or loaders._lm_kwargs
    _check_config(config, name)
    sampling = _default_sampling(files.lm_gen_config, name)
    with _one_line(f"{name}: {_named(files.mimi_weights)} (Mimi)"):
        mimi = files.get_mimi(device=device)
    read = " and ".join(_named(path) for path in (files.moshi_weights, files.lora_weights) if path)
    with _one_line(f"{name}: {read} (language model)"), Unfilled():
        lm = files.get_moshi(device=device, dtype=dtype, fuse_lora=True)
    with _one_line(f"{name}: {_named(files.tokenizer)} (text tokenizer)"):
        tokenizer = files.get_text_tokenizer()
    _check_fit(mimi, lm, tokenizer, name)
    weights = [files.moshi_weights, files.mimi_weights, files.tokenizer, files.lora_weights]
    identity = files.model_id or {}
    info = ModelInfo(
        name=str(identity.get("name", name)),
        weights_hash=fingerprint([path for path in weights if path]),
        trained=bool(identity.get("trained", True)),
        device=device,
        dtype=str(dtype).removeprefix("torch."),
        lag_frames=max(lm.delays),
        context_frames=lm.context,
        sampling=sampling,
    )
    return Loaded(info, mimi, lm, tokenizer, files.model_type)


def resolve(name: str) -> loaders.CheckpointInfo:
    """Finds every file of a checkpoint, downloading what a repository keeps on the hub."""
    folder = BUILTIN if name == DEFAULT else Path(name)
    if _is_there(folder.is_dir, folder):
        return _from_folder(folder)
    if folder.is_absolute() or name.startswith(".") or name.count("/") != 1:
        raise ModelError(f"model {name}: no such folder, and not a Hugging Face name like kyutai/moshiko")
    return fetch(name)


def _from_folder(folder: Path) -> loaders.CheckpointInfo:
    config = read_json(folder / "config.json")
    names = {
        "moshi_weights": config.get("moshi_name", loaders.MOSHI_NAME),
        "mimi_weights": config.get("mimi_name", loaders.MIMI_NAME),
        "tokenizer": config.get("tokenizer_name", loaders.TEXT_TOKENIZER_NAME),
        "mimi_config_path": config.get("mimi_config_name"),
        "lora_weights": config.get("lora_name"),
    }
    left_out = {key for key in ("mimi_config_path", "lora_weights") if names[key] is None}
    paths = {key: _existing(folder, value) for key, value in names.items() if key not in left_out}
    if mimi_config := paths.get("mimi_config_path"):
        read_json(Path(mimi_config))
    for key in ("model_id", "lm_gen_config"):
        if not isinstance(config.get(key, {}), dict):
            raise ModelError(f"{folder / 'config.json'}: {key} must be an object")
    if config.get("lora") and not config.get("lora_name"):
        raise ModelError(f"{folder / 'config.json'}: lora is on but lora_name is missing")
    with _one_line(str(folder / "config.json")):
        return loaders.CheckpointInfo.from_hf_repo(str(folder), config_path=folder / "config.json", **paths)


def _existing(folder: Path, name: str) -> Path | str:
    """A file of the folder; a name that points to the hub is left to moshi's loader."""
    if not isinstance(name, str):
        raise ModelError(f"{folder / 'config.json'}: file names must be text, not {name!r}")
    if name.startswith("hf://"):
        return name
    path = folder / name.removeprefix("file://")
    if not _is_there(path.is_file, path):
        raise ModelError(f"{path} is missing; {folder / 'config.json'} names it")
    return path


def _is_there(look: Callable[[], bool], path: Path) -> bool:
    try:
        return look()
    except OSError as error:  # not allowed to look, or too long for a name
        raise ModelError(f"{path} cannot be read: {error.strerror}") from error


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object from a file. Raises ModelError."""
    try:
        content = json.loads(path.read_text())
    except FileNotFoundError as error:
        raise ModelError(f"{path} is missing") from error
    except (OSError, ValueError) as error:
        raise ModelError(f"{path} cannot be read: {telling_line(error)}") from error
    if not isinstance(content, dict):
        raise ModelError(f"{path} must hold a JSON object")
    return content


def _check_config(config: dict[str, Any], name: str) -> None:
    for key in ("n_q", "dep_q", "delays", "context"):
        if key not in config:
            raise ModelError(f"{name}: config.json has no {key}")
        numbers = config[key] if key == "delays" else [config[key]]
        if not isinstance(numbers, list) or not all(type(number) is int for number in numbers):
            kind = "a list of whole numbers" if key == "delays" else "a whole number"
            raise ModelError(f"{name}: config.json {key} must be {kind}, not {reprlib.repr(config[key])}")
    if not 0 < config["dep_q"] < config["n_q"]:
        raise ModelError(
            f"{name}: not a full-duplex model: of {config['n_q']} codebooks it writes {config['dep_q']};"
            " some must be the user's and some the agent's"
        )


def _default_sampling(lm_gen_config: dict[str, Any], name: str) -> Sampling:
    """What the checkpoint asks to be generated with, in moshi's argument names (LMGen)."""
    names = {
        "temp_text": "text_temperature",
        "top_k_text": "text_top_k",
        "temp": "audio_temperature",
        "top_k": "audio_top_k",
    }
    if unknown := sorted(set(lm_gen_config) - set(names)):
        raise ModelError(
            f"{name}: config.json lm_gen_config asks for {unknown[0]}, which this server cannot do"
        )
    try:
        return Sampling(**{names[key]: value for key, value in lm_gen_config.items()})
    except ValueError as error:
        raise ModelError(f"{name}: config.json lm_gen_config: {error}") from error


def _check_fit(
    mimi: MimiModel, lm: LMModel, tokenizer: sentencepiece.SentencePieceProcessor, name: str
) -> None:
    """The three parts must speak of the same frames, codes and pieces."""
    books = max(lm.dep_q, lm.n_q - lm.dep_q)
    facts = [
        ("Mimi's sample rate", mimi.sample_rate, SAMPLE_RATE),
        ("Mimi's frame rate", mimi.frame_rate, FRAME_RATE),
        ("Mimi's codebook size", mimi.cardinality, lm.card),
        ("the text tokenizer's size", tokenizer.vocab_size(), lm.text_card),
    ]
    for what, found, wanted in facts:
        if found != wanted:
            raise ModelError(f"{name}: {what} is {found}, but must be {wanted}")
    if mimi.total_codebooks < books:
        raise ModelError(
            f"{name}: Mimi has {mimi.total_codebooks} codebooks, the language model needs {books}"
        )


@contextmanager
def _one_line(what: str) -> Iterator[None]:
    """Turns whatever a loader raises into one line that names the file."""
    try:
        yield
    except torch.OutOfMemoryError as error:
        raise ModelError(f"{what} does not fit in the device's memory") from error
    except SafetensorError as error:
        raise ModelError(f"{what} is not a readable safetensors file: {telling_line(error)}") from error
    except _LOADERS_RAISE as error:
        reason = telling_line(error)
        if "meta tensor" in reason:
            reason = "there is no value for every weight"
        raise ModelError(f"{what} does not load: {reason}") from error


def _named(path: Path | str) -> str:
    return Path(path).name
