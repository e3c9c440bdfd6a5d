"""The language model's shape, in the arguments of moshi's LMModel, and the weights it starts from.

Every codebook's embedding starts from the codec's own vectors: codes that sound alike begin alike.
With embeddings of its own to learn it would know the training voices by heart and no other.
"""

from __future__ import annotations

from typing import Any

import torch
from moshi.models import LMModel, MimiModel, loaders
from torch import Tensor, nn

from model.config import ModelError
from model.training.monologue import PIECES
from model.training.shape import BINS, BOOKS

CONTEXT = 250
WIDTH = 256
LAYERS = 8
SOUND_LAYERS = 4
"""After so many layers the user's phonemes must be in what the model thinks."""
HEARING_LAYERS = 6
"""And after so many the words. Both are told by heads that are thrown away."""

LM_CONFIG: dict[str, Any] = {
    "dim": WIDTH,
    "text_card": PIECES,
    "existing_text_padding_id": 3,
    "n_q": 2 * BOOKS,
    "dep_q": BOOKS,
    "card": BINS,
    "num_heads": 4,
    "num_layers": LAYERS,
    "hidden_scale": 4.125,
    "causal": True,
    "layer_scale": None,
    "context": CONTEXT,
    "max_period": 10000,
    "gating": "silu",
    "norm": "rms_norm_f32",
    "positional_embedding": "rope",
    "depformer_dim": 128,
    "depformer_dim_feedforward": 384,
    "depformer_num_heads": 4,
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


def fresh_lm(seed: int, codec: MimiModel, config: dict[str, Any] = LM_CONFIG) -> LMModel:
    """A model that has learned nothing but how codes sound; the same for the same seed and codec."""
    torch.manual_seed(seed)
    lm = loaders.get_moshi_lm(None, config, device="cpu", dtype=torch.float32)
    for value in lm.parameters():
        value.requires_grad_(True)
    vectors = code_vectors(codec)
    with torch.no_grad():
        for side in range(2):
            _start(lm.emb[side * BOOKS : (side + 1) * BOOKS], vectors, lm.dim)
        _start(lm.depformer_emb, vectors[: len(lm.depformer_emb)], config["depformer_dim"])
    return lm


def grown_lm(
    seed: int, codec: MimiModel, weights: dict[str, Tensor], config: dict[str, Any] = LM_CONFIG
) -> LMModel:
    """A model that does what a shallower one with these weights did, and has new layers to learn with.

    They come after the old hearing layers and add nothing at first. Raises ModelError when all else but
    the number of layers is not alike.
    """
    lm = fresh_lm(seed, codec, config)
    mine, layers = lm.state_dict(), config["num_layers"]
    old = 1 + max(int(name.split(".")[2]) for name in weights if name.startswith(_LAYER))
    hearing = min(HEARING_LAYERS, layers)
    new = range(hearing - (layers - old), hearing)
    places = [place for place in range(layers) if place not in new]
    moved = {_moved(name, places): value.float() for name, value in weights.items()}
    for place in new:
        moved |= {name: value for name, value in mine.items() if name.startswith(f"{_LAYER}{place}.")}
        for last in _LAST:
            moved[f"{_LAYER}{place}.{last}"] = torch.zeros_like(mine[f"{_LAYER}{place}.{last}"])
    try:
        lm.load_state_dict(moved)
    except RuntimeError as error:
        raise ModelError(f"the weights to start from are of another shape: {error}") from error
    return lm


_LAYER = "transformer.layers."
_LAST = ("self_attn.out_projs.0.weight", "gating.linear_out.weight")
"""What each half of a layer ends with."""


def _moved(name: str, places: list[int]) -> str:
    if not name.startswith(_LAYER):
        return name
    number, _, rest = name.removeprefix(_LAYER).partition(".")
    return f"{_LAYER}{places[int(number)]}.{rest}"


def code_vectors(codec: MimiModel) -> list[Tensor]:
    """What each code of each book stands for: [bins, latent] a book."""
    quantizer = codec.quantizer
    layers = [*quantizer.rvq_first.vq.layers, *quantizer.rvq_rest.vq.layers]
    return [layer._codebook.embedding.detach().clone() for layer in layers]


def _start(embeddings: nn.ModuleList, vectors: list[Tensor], width: int) -> None:
    """The first book's vectors and the sum of the others' each in a random subspace, scaled to 1 / width."""
    first, rest = vectors[:1], vectors[1:]
    at = 0
    for books in (first, rest):
        if not books:
            continue
        latent = books[0].shape[1]
        turn = torch.linalg.qr(torch.randn(width, latent))[0].T
        spread = torch.stack([book.var(dim=0) for book in books]).sum(dim=0)
        for book in books:
            vector = (book - book.mean(dim=0)) / torch.sqrt(spread + 1e-6)
            weight: Any = embeddings[at].weight
            weight[: len(book)] = vector @ turn * START_SIZE
            at += 1


START_SIZE = 0.25
"""Of each dimension of what the user's codes say, before the projection."""
