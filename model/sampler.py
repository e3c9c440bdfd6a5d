"""Drawing tokens: per-row temperature, top-k and seed, with noise that depends on nothing else.

The draw is Gumbel-max: argmax(logits + temperature * g) with g = -log(-log u) has the softmax's
distribution (Gumbel 1954), the same as moshi's argmax(p / Exp(1)). The noise u is a hash of
(seed, frame, codebook, token), not a generator's state, so a session draws the same tokens
whoever else is in the batch and whenever its steps happen. Refuses to know models and slots.
"""

from __future__ import annotations

import torch
from torch import Tensor

_LOW_32 = 0xFFFFFFFF
_GOLDEN = 0x9E3779B9  # 2^32 / golden ratio: spreads consecutive integers


def _mix(x: Tensor) -> Tensor:
    """A bijective 32-bit finaliser (constants: C. Wellons, "lowbias32", 2018) in int64 arithmetic."""
    x = ((x ^ (x >> 16)) * 0x7FEB352D) & _LOW_32
    x = ((x ^ (x >> 15)) * 0x846CA68B) & _LOW_32
    return x ^ (x >> 16)


def gumbel_noise(seed: Tensor, frame: Tensor, codebooks: Tensor, card: int) -> Tensor:
    """Standard Gumbel noise keyed by (seed, frame, codebook, token).

    seed, frame: int64 [B]. codebooks: int64 [K]. Returns float32 [B, K, card].
    """
    key = _mix(seed & _LOW_32)
    key = _mix(key ^ ((seed >> 32) & _LOW_32))
    key = _mix(key ^ _mix(frame & _LOW_32))
    key = _mix(key[:, None] ^ ((codebooks + 1) * _GOLDEN & _LOW_32))
    token = torch.arange(1, card + 1, device=seed.device) * _GOLDEN & _LOW_32
    bits = _mix(_mix(key[:, :, None] ^ token) + key[:, :, None] & _LOW_32)
    u = ((bits >> 8).float() + 0.5) * 2.0**-24  # 24 bits fit a float32; never 0 or 1
    return -torch.log(-torch.log(u))


def pick_tokens(logits: Tensor, noise: Tensor, temperature: Tensor, top_k: Tensor) -> Tensor:
    """One token a row. Temperature 0 is greedy; top-k 0 is the whole vocabulary.

    logits: float32 [B, card]; noise: float32 [B, card]; temperature: float32 [B]; top_k: int64 [B].
    Returns int64 [B]. Logits tied with the k-th stay in the draw.
    """
    card = logits.shape[-1]
    rank = torch.where((top_k <= 0) | (top_k > card), card, top_k) - 1
    least = logits.sort(dim=-1, descending=True).values.gather(-1, rank[:, None])
    scores = logits + temperature[:, None] * noise
    return scores.masked_fill(logits < least, -torch.inf).argmax(dim=-1)


class BatchSampler:
    """The sampling of every row of a batch, kept where the model is, updated in place.

    Tensors keep their addresses, so that a captured CUDA graph reads the current values.
    """

    def __init__(self, rows: int, card: int, dep_q: int, device: torch.device) -> None:
        self.rows = rows
        self._card = card
        self._seed = torch.zeros(rows, dtype=torch.int64, device=device)
        self._frame = torch.zeros(rows, dtype=torch.int64, device=device)
        self._top_k = torch.zeros(2, rows, dtype=torch.int64, device=device)
        self._temperature = torch.zeros(2, rows, dtype=torch.float32, device=device)
        self._text_codebook = torch.zeros(1, dtype=torch.int64, device=device)
        self._audio_codebooks = torch.arange(1, dep_q + 1, device=device)

    def set_row(
        self, row: int, seed: int, temperatures: tuple[float, float], top_ks: tuple[int, int]
    ) -> None:
        """A new session's sampling; pairs are (text, audio)."""
        self._seed[row] = seed
        self._frame[row] = 0
        for i in range(2):
            self._temperature[i, row] = temperatures[i]
            self._top_k[i, row] = top_ks[i]

    def pick_text(self, logits: Tensor) -> Tensor:
        """logits [B, text_card] -> int64 [B]."""
        noise = gumbel_noise(self._seed, self._frame, self._text_codebook, logits.shape[-1])
        return pick_tokens(logits.float(), noise[:, 0], self._temperature[0], self._top_k[0])

    def audio_noise(self) -> Tensor:
        """The frame's noise for every audio codebook at once: float32 [B, dep_q, card]."""
        return gumbel_noise(self._seed, self._frame, self._audio_codebooks, self._card)

    def pick_audio(self, logits: Tensor, noise: Tensor) -> Tensor:
        """logits [B, card] of one codebook, its noise [B, card] -> int64 [B]."""
        return pick_tokens(logits.float(), noise, self._temperature[1], self._top_k[1])

    def advance(self, stepped: Tensor) -> None:
        """Moves the frame counter of the stepped rows (bool [B]) on."""
        self._frame += stepped
