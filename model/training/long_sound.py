"""Encoding a long sound at once, twice as fast: the convolutions take it in pieces that fit the cache.

The codes are those of the codec's own `encode` without streaming, up to rounding.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from moshi.models import MimiModel
from torch import Tensor

from audio.frames import FRAME_SAMPLES

PIECE_FRAMES = 30


def encoder_of(codec: MimiModel) -> Callable[[Tensor], Tensor]:
    """[1, 1, whole frames] -> codes [1, books, frames]."""

    def encode(heard: Tensor) -> Tensor:
        with codec.encoder.streaming(1):
            parts = [codec.encoder(part) for part in torch.split(heard, PIECE_FRAMES * FRAME_SAMPLES, dim=2)]
        (latent,) = codec.encoder_transformer(torch.cat(parts, dim=2))
        codes: Tensor = codec.quantizer.encode(codec._to_framerate(latent))
        return codes

    return encode
