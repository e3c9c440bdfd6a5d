"""The codec in training: from a batch to a loss through moshi's own modules. No files, no clock.

What it adds to Mimi and throws away later: a head that tells log-mels from the decoder's latent
(its gradient reaches the encoder without passing the decoder), and a head that tells the teacher's
features from the first codebook.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from moshi.models import MimiModel
from torch import Tensor, nn

from model.training import spectra
from model.training.recipe import Recipe, Stage
from model.training.shape import LATENT_RATE

AUX_START = -1.5
"""A quiet band's log10: where the auxiliary head starts."""


@dataclass(frozen=True, slots=True)
class Tensors:
    """A batch on the device. heard: [b, 1, samples]; wanted: [b, samples]; taught: [b, frames, features]."""

    heard: Tensor
    wanted: Tensor
    taught: Tensor
    known: Tensor


class Learner(nn.Module):
    """Mimi with its heads. `loss` gives what to minimise and what to write in the log."""

    def __init__(self, codec: MimiModel, features: int) -> None:
        super().__init__()
        width = codec.dimension
        self.codec = codec
        self.mels = nn.Conv1d(width, spectra.AUX_BANDS * spectra.AUX_RATE // LATENT_RATE, 1)
        assert self.mels.bias is not None
        nn.init.constant_(self.mels.bias, AUX_START)
        self.features = nn.Conv1d(width, features, 1)

    @property
    def books(self) -> tuple[Any, Any]:
        """The quantiser's two parts: the first codebook, and the others."""
        return self.codec.quantizer.rvq_first, self.codec.quantizer.rvq_rest

    def layers(self) -> list[Any]:
        """Every codebook, in order."""
        return [layer._codebook for book in self.books for layer in book.vq.layers]

    def latent(self, heard: Tensor) -> Tensor:
        """[b, 1, samples] -> [b, width, frames], before the quantiser."""
        embedded = self.codec.encoder(heard)
        (embedded,) = self.codec.encoder_transformer(embedded)
        return torch.as_tensor(self.codec.downsample(embedded))

    def learned(self, stage: Stage) -> list[nn.Parameter]:
        """What the stage changes."""
        if not stage.decoder_only:
            return list(self.parameters())
        sound = ("codec.decoder.", "codec.decoder_transformer.", "codec.upsample.", "mels.")
        named = list(self.named_parameters())
        return [value for name, value in named if name.startswith(sound) or "output_proj" in name]

    def set_mode(self, stage: Stage) -> None:
        """In a decoder-only stage the codebooks must not drift."""
        self.train()
        if stage.decoder_only:
            self.codec.quantizer.eval()

    def let_go(self) -> None:
        """moshi replaces unused codes by latents with their graph, which would grow for ever."""
        for layer in self.layers():
            layer.embedding_sum.detach_()
            layer.cluster_usage.detach_()

    def loss(
        self, batch: Tensors, stage: Stage, step: int, recipe: Recipe
    ) -> tuple[Tensor, dict[str, float]]:
        """One training step's loss, from sound to sound."""
        latent = self.latent(batch.heard)
        first, rest, commitment = self._quantised(latent, stage.skip_chance(step))
        sounded = stage.agent_crops + (stage.user_crops if stage.user_sound else 0)
        total, log = self.from_quantised(first + rest, batch.wanted, stage, recipe, sounded)
        taught = self._teaching_gap(first, batch)
        total = total + recipe.commitment * commitment + stage.teacher * taught
        return total, log | {"taught": taught.item(), "commitment": commitment.item()}

    def from_codes(
        self, codes: Tensor, wanted: Tensor, stage: Stage, recipe: Recipe
    ) -> tuple[Tensor, dict[str, float]]:
        """The same for codes that are kept as they are: [b, books, frames]."""
        return self.from_quantised(self.codec.quantizer.decode(codes), wanted, stage, recipe, len(codes))

    def from_quantised(
        self, quantised: Tensor, wanted: Tensor, stage: Stage, recipe: Recipe, sounded: int
    ) -> tuple[Tensor, dict[str, float]]:
        """The first `sounded` rows become sound; of the others only the log-mels are told."""
        latent = self.codec.upsample(quantised)
        (latent,) = self.codec.decoder_transformer(latent)
        made = self.codec.decoder(latent[:sounded])[:, 0]
        gap = spectra.distance(made, wanted[:sounded])
        auxiliary = (self.mels(latent) - spectra.log_mels(wanted, LATENT_RATE)).abs().mean()
        total = gap.spectral + stage.waveform * gap.waveform + recipe.auxiliary * auxiliary
        return total, {"mel": gap.mel.item(), "auxiliary": auxiliary.item()}

    def _quantised(self, latent: Tensor, skip_chance: float) -> tuple[Tensor, Tensor, Tensor]:
        """What the first book says, what the others say, and the commitment penalty."""
        if skip_chance >= 1.0:
            first, rest = (book.output_proj(book.input_proj(latent)) for book in self.books)
            return first, rest, latent.new_zeros(())
        parts = []
        for book in self.books:
            book.no_quantization_rate = skip_chance
            parts.append(book(latent, self.codec.frame_rate))
        first, rest = parts
        others = len(self.layers()) - 1
        penalty = (first.penalty + others * rest.penalty) / (1 + others)
        return first.x, rest.x, torch.as_tensor(penalty)

    def _teaching_gap(self, first: Tensor, batch: Tensors) -> Tensor:
        """Mean squared error over the frames that the teacher knows; its features vary by 1."""
        error: Tensor = (self.features(first).transpose(1, 2) - batch.taught) ** 2
        frames = batch.known.sum().clamp(min=1)
        return (error.mean(dim=2) * batch.known).sum() / frames


def start_books(learner: Learner, latents: Tensor, frames_a_step: int) -> None:
    """k-means for every codebook, one after the other, on [1, width, frames] of latents.

    moshi's codebooks start from the first training batch, which is far too small here; then their
    usage counts are scaled to what the steps to come would have left.
    """
    learner.codec.quantizer.train()
    for layer in learner.layers():
        layer._initialized.zero_()
        layer._cached_initialized = False
    with torch.no_grad():
        for _ in range(len(learner.layers())):
            for book in learner.books:
                book.no_quantization_rate = 0.0
                book(latents, learner.codec.frame_rate)
        scale = frames_a_step / (1 - learner.layers()[0].decay) / latents.shape[-1]
        for layer in learner.layers():
            layer.cluster_usage *= scale
            layer.embedding_sum *= scale
            layer.register_buffer("_embedding", None, persistent=False)
