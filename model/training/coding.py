"""A codec as the server would run it: loaded by moshi's loader, sound in frames of 80 ms.

Refuses to know what the sound says.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from moshi.models import MimiModel, loaders

from audio.frames import FRAME_SAMPLES, Samples
from model.config import ModelError
from model.training.crops import cut
from model.training.export import CONFIG, WEIGHTS
from model.training.shape import LATENT_RATE
from model.training.spectra import log_mels

LEAD_FRAMES = 2
TAIL_FRAMES = 3
"""Silence around each utterance, as in a call."""


def open_codec(folder: Path) -> MimiModel:
    """Raises ModelError when the folder holds none."""
    for name in (WEIGHTS, CONFIG):
        if not (folder / name).is_file():
            raise ModelError(f"{folder / name} is missing")
    config = json.loads((folder / CONFIG).read_text("utf-8"))
    return loaders.get_mimi(folder / WEIGHTS, config, num_codebooks=config["quantizer"]["n_q"])


def through_streaming(codec: MimiModel, sounds: Sequence[Samples]) -> list[Samples]:
    """Each sound encoded and decoded frame by frame, all of them side by side."""
    lead = LEAD_FRAMES * FRAME_SAMPLES
    frames = LEAD_FRAMES + TAIL_FRAMES + max(-(-len(sound) // FRAME_SAMPLES) for sound in sounds)
    rows = np.stack([cut(sound, -lead, frames * FRAME_SAMPLES) for sound in sounds])
    heard = torch.from_numpy(rows)[:, None]
    parts = []
    with torch.no_grad(), codec.streaming(len(sounds)):
        for frame in torch.split(heard, FRAME_SAMPLES, dim=2):
            parts.append(codec.decode(codec.encode(frame))[:, 0])
    made = torch.cat(parts, dim=1).numpy()
    tail = TAIL_FRAMES * FRAME_SAMPLES
    return [row[: lead + len(sound) + tail] for row, sound in zip(made, sounds, strict=True)]


def said_by_codes(codec: MimiModel, sound: Samples) -> npt.NDArray[np.float16]:
    """[frames, width]: a whole sound's codes as the vectors that they stand for."""
    frames = -(-len(sound) // FRAME_SAMPLES)
    whole = torch.from_numpy(cut(sound, 0, frames * FRAME_SAMPLES))[None, None]
    with torch.no_grad():
        vectors = codec.quantizer.decode(codec.encode(whole))[0]
    said: npt.NDArray[np.float16] = vectors.T.numpy().astype(np.float16)
    return said


def said_by_sound(sound: Samples) -> npt.NDArray[np.float16]:
    """[frames, width]: the log-mels of each frame of a sound that no codec has touched."""
    frames = -(-len(sound) // FRAME_SAMPLES)
    whole = torch.from_numpy(cut(sound, 0, frames * FRAME_SAMPLES))[None]
    mels = log_mels(whole, LATENT_RATE)[0].T.reshape(frames, -1)
    said: npt.NDArray[np.float16] = mels.numpy().astype(np.float16)
    return said
