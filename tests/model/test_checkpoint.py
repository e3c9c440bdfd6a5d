"""Loading: what works, and one clear line for each thing that does not."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from model.checkpoint import Loaded, load, resolve
from model.config import ModelError, Sampling
from model.untrained import NAME


@pytest.fixture
def folder(small_folder: Path, tmp_path: Path) -> Path:
    """A copy that a test may break."""
    return Path(shutil.copytree(small_folder, tmp_path / "copy"))


def edit(folder: Path, change: Callable[[dict[str, Any]], Any], file: str = "config.json") -> None:
    content = json.loads((folder / file).read_text())
    change(content)
    (folder / file).write_text(json.dumps(content))


def refusal(folder: Path | str) -> str:
    with pytest.raises(ModelError) as caught:
        load(str(folder), "cpu", torch.float32)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_a_local_folder_loads_with_its_name_and_facts(loaded: Loaded) -> None:
    info = loaded.info
    assert (info.name, info.trained, info.dtype, info.device) == (NAME, False, "float32", "cpu")
    assert (info.lag_frames, info.context_frames) == (1, 24)
    assert len(info.weights_hash) == 64
    assert info.sampling == Sampling()


def test_a_folder_that_does_not_name_itself_goes_by_what_it_was_asked_for_as(folder: Path) -> None:
    edit(folder, lambda c: c.pop("model_id"))
    info = load(str(folder), "cpu", torch.float32).info
    assert info.name == str(folder)
    assert info.trained


def test_the_checkpoints_own_generation_defaults_become_the_sampling(folder: Path) -> None:
    edit(folder, lambda c: c.update(lm_gen_config={"temp": 0.5, "top_k_text": 7}))
    sampling = load(str(folder), "cpu", torch.float32).info.sampling
    assert sampling == Sampling(audio_temperature=0.5, text_top_k=7)


@pytest.mark.parametrize(
    "name", ["config.json", "model.safetensors", "mimi.safetensors", "mimi.json", "tokenizer.model"]
)
def test_each_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    assert refusal(folder).startswith(f"{folder / name} is missing")


@pytest.mark.parametrize("name", ["config.json", "mimi.json"])
def test_json_that_cannot_be_read_is_named(folder: Path, name: str) -> None:
    (folder / name).write_text("{not json")
    assert refusal(folder).startswith(f"{folder / name} cannot be read: ")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("model.safetensors", "model.safetensors (language model) is not a readable safetensors file"),
        ("mimi.safetensors", "mimi.safetensors (Mimi) is not a readable safetensors file"),
        ("tokenizer.model", "tokenizer.model (text tokenizer) does not load"),
    ],
)
def test_a_truncated_file_is_named(folder: Path, name: str, words: str) -> None:
    (folder / name).write_bytes((folder / name).read_bytes()[:100])
    assert words in refusal(folder)


def test_a_tensor_of_the_wrong_shape_is_named(folder: Path) -> None:
    state = load_file(folder / "model.safetensors")
    state["text_linear.weight"] = state["text_linear.weight"][:5].clone()
    save_file(state, folder / "model.safetensors")
    message = refusal(folder)
    assert "model.safetensors (language model) does not load: size mismatch for text_linear.weight" in message


def test_a_missing_tensor_is_named(folder: Path) -> None:
    state = load_file(folder / "mimi.safetensors")
    del state["downsample.conv.conv.conv.weight"]
    save_file(state, folder / "mimi.safetensors")
    assert 'Missing key(s) in state_dict: "downsample.conv.conv.conv.weight"' in refusal(folder)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda c: c.pop("dep_q"), "config.json has no dep_q"),
        (lambda c: c.update(dep_q=16), "not a full-duplex model: of 16 codebooks it writes 16"),
        (lambda c: c.update(dep_q=0), "not a full-duplex model: of 16 codebooks it writes 0"),
        (lambda c: c.update(delays=[0, 1]), "(language model) does not load: expected 17 delays, got 2"),
        (lambda c: c.update(dimension=3), "(language model) does not load"),
        (lambda c: c.update(lm_gen_config={"cfg_coef": 2.0}), "lm_gen_config asks for cfg_coef"),
        (lambda c: c.update(lm_gen_config={"temp": -1}), "audio_temperature must be a number from 0 to 10.0"),
        (lambda c: c.update(n_q="16"), "config.json n_q must be a whole number, not '16'"),
        (lambda c: c.update(dep_q=None), "config.json dep_q must be a whole number, not None"),
        (lambda c: c.update(delays=3), "config.json delays must be a list of whole numbers, not 3"),
        (lambda c: c.update(model_id="me"), "config.json: model_id must be an object"),
        (lambda c: c.update(lm_gen_config=[]), "config.json: lm_gen_config must be an object"),
        (lambda c: c.update(conditioners="x"), "does not load: 'str' object has no attribute 'items'"),
        (lambda c: c.update(tokenizer_name=None), "file names must be text, not None"),
        (lambda c: c.update(moshi_name=5), "file names must be text, not 5"),
        (lambda c: c.update(lora=True), "lora is on but lora_name is missing"),
        (lambda c: c.update(lora=True, lora_name="lora.safetensors"), "lora.safetensors is missing"),
    ],
)
def test_each_fault_of_the_config_is_named(
    folder: Path, change: Callable[[dict[str, Any]], Any], words: str
) -> None:
    edit(folder, change)
    assert words in refusal(folder)


def test_a_codec_of_another_frame_rate_is_refused(folder: Path) -> None:
    edit(folder, lambda c: c.update(sample_rate=48000, frame_rate=25), "mimi.json")
    assert "Mimi's sample rate is 48000, but must be 24000" in refusal(folder)


def test_a_tokenizer_of_another_size_is_refused(folder: Path) -> None:
    state = load_file(folder / "model.safetensors")
    for key in ("text_emb.weight", "depformer_text_emb.weight"):
        state[key] = torch.cat([state[key], state[key][:1]])
    state["text_linear.weight"] = torch.cat([state["text_linear.weight"], state["text_linear.weight"][:1]])
    save_file(state, folder / "model.safetensors")
    edit(folder, lambda c: c.update(text_card=129))
    assert "the text tokenizer's size is 128, but must be 129" in refusal(folder)


@pytest.mark.parametrize("name", ["/nonexistent", "./here", "no-such-folder", "a/b/c"])
def test_a_name_that_is_neither_a_folder_nor_a_repository_is_refused(name: str) -> None:
    assert refusal(name).startswith(f"model {name}: no such folder, and not a Hugging Face name")


def test_a_repository_that_the_hub_does_not_give_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert "the hub did not give it" in refusal("nobody/has-this-repository")


def test_lora_weights_change_what_is_loaded(folder: Path) -> None:
    plain = load(str(folder), "cpu", torch.float32)
    name = "transformer.layers.0.gating.linear_in"
    base = plain.lm.state_dict()[f"{name}.weight"]
    rank = 2
    save_file(
        _lora_state(plain, rank)
        | {
            f"{name}.lora_A.weight": torch.ones(rank, base.shape[1]),
            f"{name}.lora_B.weight": torch.ones(base.shape[0], rank),
        },
        folder / "lora.safetensors",
    )
    edit(
        folder, lambda c: c.update(lora=True, lora_name="lora.safetensors", lora_rank=rank, lora_scaling=0.5)
    )
    fused = load(str(folder), "cpu", torch.float32)
    assert torch.allclose(fused.lm.state_dict()[f"{name}.weight"], base + 1.0)  # 0.5 x (2 ones . 2 ones)
    assert fused.info.weights_hash != plain.info.weights_hash


def test_a_lora_file_that_lacks_a_layer_is_named(folder: Path) -> None:
    state = _lora_state(load(str(folder), "cpu", torch.float32), 2)
    del state["transformer.layers.0.gating.linear_in.lora_B.weight"]
    save_file(state, folder / "lora.safetensors")
    edit(folder, lambda c: c.update(lora=True, lora_name="lora.safetensors", lora_rank=2))
    refused = refusal(folder)
    assert "model.safetensors and lora.safetensors (language model) does not load" in refused
    assert "there is no value for every weight" in refused


def _lora_state(plain: Loaded, rank: int) -> dict[str, torch.Tensor]:
    """Zero LoRA pairs for every linear layer, so that nothing stays without weights."""
    state = {}
    for name, module in plain.lm.named_modules():
        if isinstance(module, torch.nn.Linear):
            state[f"{name}.lora_A.weight"] = torch.zeros(rank, module.in_features)
            state[f"{name}.lora_B.weight"] = torch.zeros(module.out_features, rank)
    return state


def test_resolving_names_the_files_and_reads_no_weights(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"")
    assert resolve(str(folder)).moshi_weights == folder / "model.safetensors"


def test_a_name_too_long_for_a_file_is_one_line(folder: Path) -> None:
    assert "File name too long" in refusal("/" + "x" * 300)
    edit(folder, lambda c: c.update(mimi_name="x" * 300))
    assert "File name too long" in refusal(folder)
