"""The codec's shape, in the arguments of moshi's Mimi modules, and the weights it starts from.

12.5 frames a second, 8 books of 256. moshi's own start barely learns on little data: convolutions
start from normal weights that keep the size of what passes through (He et al. 2015), biases at 0.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from moshi.models import MimiModel, loaders
from torch import nn

from audio.frames import FRAME_RATE, SAMPLE_RATE

BOOKS = 8
BINS = 256
DIMENSION = 192
LATENT = 64
LATENT_RATE = 25
"""Hz, between encoder and downsampling."""

MIMI_CONFIG: dict[str, Any] = {
    "sample_rate": SAMPLE_RATE,
    "channels": 1,
    "frame_rate": FRAME_RATE,
    "seanet": {
        "channels": 1,
        "dimension": DIMENSION,
        "causal": True,
        "n_filters": 16,
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
        "ratios": [8, 8, 15],
        "true_skip": True,
    },
    "quantizer": {
        "dimension": LATENT,
        "n_q": BOOKS,
        "bins": BINS,
        "input_dimension": DIMENSION,
        "output_dimension": DIMENSION,
    },
    "transformer": {
        "d_model": DIMENSION,
        "num_heads": 4,
        "num_layers": 2,
        "causal": True,
        "layer_scale": 0.2,
        "context": 24,
        "conv_layout": True,
        "max_period": 10000,
        "gating": "none",
        "norm": "layer_norm",
        "positional_embedding": "rope",
        "dim_feedforward": 512,
        "input_dimension": DIMENSION,
        "output_dimensions": [DIMENSION],
    },
}

GAIN = 1.3
FIRST_GAIN = 6.0
"""Speech is quiet: the first convolution brings it to the size of 1."""
LAST_GAIN = 0.15


def fresh_codec(seed: int, config: dict[str, Any] = MIMI_CONFIG) -> MimiModel:
    """A codec that has learned nothing, the same for the same seed."""
    torch.manual_seed(seed)
    codec = loaders.get_mimi(None, config, num_codebooks=config["quantizer"]["n_q"])
    _start_convolutions(codec.encoder, first_gain=GAIN * FIRST_GAIN)
    _start_convolutions(codec.decoder, first_gain=GAIN)
    for book in (codec.quantizer.rvq_first, codec.quantizer.rvq_rest):
        width, latent = book.input_proj.weight.shape[1], book.output_proj.weight.shape[1]
        nn.init.normal_(book.input_proj.weight, std=1 / math.sqrt(width))
        nn.init.normal_(book.output_proj.weight, std=0.7 / math.sqrt(latent))
    down = codec.downsample.conv.conv.conv.weight
    nn.init.normal_(down, std=1 / math.sqrt(down.shape[1] * down.shape[2]))
    nn.init.normal_(codec.upsample.convtr.convtr.convtr.weight, mean=1.0, std=0.1)
    return codec


def _start_convolutions(room: nn.Module, first_gain: float) -> None:
    gain = first_gain
    for layer in room.modules():
        if not isinstance(layer, nn.Conv1d | nn.ConvTranspose1d):
            continue
        kernel = layer.kernel_size[0]
        fan = layer.in_channels * kernel
        if isinstance(layer, nn.ConvTranspose1d):
            fan = fan // layer.stride[0]
        last = layer.out_channels == 1
        nn.init.normal_(layer.weight, std=(LAST_GAIN if last else gain) / math.sqrt(fan))
        if layer.bias is not None:
            nn.init.zeros_(layer.bias)
        gain = GAIN
