"""Drawing tokens: per-row temperature, top-k and seed, with noise that depends on nothing else.

The draw is Gumbel-max: argmax(logits + temperature * g) with g = -log(-log u) has the softmax's
distribution (Gumbel 1954), the same as moshi's argmax(p / Exp(1)). The noise u is a hash of
(seed, frame, codebook, token), not a generator's state, so a session draws the same tokens
whoever else is in the batch and whenever its steps happen. Refuses to know models and slots.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

STEP = 2.0**-24 * (1 - 2.0**-24)
"""2^24 - 0.5 is 2^24 in float32: times 2^-24 it would be 1, and the noise infinite."""
GOLDEN = 0x9E3779B9  # 2^32 / golden ratio: spreads consecutive integers
FACTORS = np.array([0x7FEB352D, 0x846CA68B], np.uint32)
_SHIFTS = np.arange(32, dtype=np.uint32)

Keys = npt.NDArray[np.uint32]


def seed_keys(seed: npt.NDArray[np.int64]) -> Keys:
    """What a session's noise hangs on in all of its frames: uint32 [B]. seed: int64 [B]."""
    return _mix_host(_mix_host(seed.astype(np.uint32)) ^ (seed >> 32).astype(np.uint32))


def noise_keys(seeds: Keys, frame: npt.NDArray[np.int64], codebooks: int) -> Keys:
    """What the noise of each row and codebook hangs on: uint32 [B, codebooks]. frame: int64 [B].

    seeds: of `seed_keys`, uint32 [B]. Codebook 0 is the text's.
    """
    key = _mix_host(seeds ^ _mix_host(frame.astype(np.uint32)))
    return _mix_host(key[:, None] ^ _spread(codebooks))


@cache
def _spread(count: int) -> Keys:
    """uint32 [count], far apart."""
    return np.arange(1, count + 1, dtype=np.uint32) * np.uint32(GOLDEN)


def _mix_host(x: Keys) -> Keys:
    """A bijective 32-bit finaliser (constants: C. Wellons, "lowbias32", 2018)."""
    x = x ^ (x >> _SHIFTS[16])
    x *= FACTORS[0]
    x ^= x >> _SHIFTS[15]
    x *= FACTORS[1]
    x ^= x >> _SHIFTS[16]
    return x


class Noise:
    """Standard Gumbel noise over a vocabulary of `card`, where the model is.

    The same finaliser in int32, whose products wrap around as they should and whose shifts repeat the
    sign, which is masked away. Constants are tensors: a Python number would be one more copy each.
    """

    def __init__(self, card: int, device: torch.device) -> None:
        self._tokens = torch.from_numpy(_spread(card).view(np.int32).copy()).to(device)
        constants = [8, 15, 16, 0xFFFFFF, 0x1FFFF, 0xFFFF, *FACTORS.view(np.int32).tolist()]
        self._8, self._15, self._16, *rest = torch.tensor(constants, dtype=torch.int32, device=device)
        self._low24, self._low17, self._low16, self._first, self._second = rest

    def __call__(self, keys: Tensor) -> Tensor:
        """keys: int32 [B, K], the bits of `noise_keys`. Returns float32 [B, K, card]."""
        keys = keys[:, :, None]
        bits = self._mix(keys ^ self._tokens)
        bits = self._mix(bits.add_(keys))
        u = (bits >> self._8).bitwise_and_(self._low24).float().add_(0.5).mul_(STEP)  # never 0 or 1
        noise: Tensor = u.log_().neg_().log_().neg_()
        return noise

    def _mix(self, x: Tensor) -> Tensor:
        x.bitwise_xor_((x >> self._16).bitwise_and_(self._low16)).mul_(self._first)
        x.bitwise_xor_((x >> self._15).bitwise_and_(self._low17)).mul_(self._second)
        mixed: Tensor = x.bitwise_xor_((x >> self._16).bitwise_and_(self._low16))
        return mixed


@dataclass(frozen=True, slots=True)
class Threshold:
    """How to find each row's least likely candidate: by so many of the likeliest, or of the others.

    place: int64 [B, 1], which of them it is. count: 0 where the whole vocabulary is ordered.
    """

    place: Tensor
    count: int = 0
    likeliest: bool = True

    def of(self, logits: Tensor) -> Tensor:
        """[B, card] -> [B, 1]."""
        if self.count:
            ranked = logits.topk(self.count, dim=-1, largest=self.likeliest).values
        else:
            ranked = logits.sort(dim=-1, descending=True).values
        return ranked.gather(-1, self.place)


def any_threshold(top_k: Tensor, card: int) -> Threshold:
    """For rows whose top-k (int64 [B]) nobody has looked at."""
    return Threshold(torch.where((top_k <= 0) | (top_k > card), card, top_k)[:, None] - 1)


def draw_ranked(logits: Tensor, noise: Tensor, threshold: Threshold) -> Tensor:
    """logits [B, card], noise times temperature [B, card] -> int64 [B]."""
    least = threshold.of(logits)
    return (logits + noise).masked_fill_(logits < least, -torch.inf).argmax(dim=-1)


def pick_tokens(logits: Tensor, noise: Tensor, temperature: Tensor, top_k: Tensor) -> Tensor:
    """One token a row. Temperature 0 is greedy; top-k 0 is the whole vocabulary.

    logits: float32 [B, card]; noise: float32 [B, card]; temperature: float32 [B]; top_k: int64 [B].
    Returns int64 [B]. Logits tied with the k-th stay in the draw.
    """
    return draw_ranked(logits, temperature[:, None] * noise, any_threshold(top_k, logits.shape[-1]))


class BatchSampler:
    """The sampling of every row of a batch, kept where the model is, updated in place.

    Tensors keep their addresses, so that a captured CUDA graph reads the current values.
    """

    def __init__(self, rows: int, cards: tuple[int, int], dep_q: int, device: torch.device) -> None:
        """cards: of text and audio."""
        self.rows = rows
        self._seed = seed_keys(np.zeros(rows, np.int64))
        self._frame = np.zeros(rows, np.int64)
        self._keys = torch.zeros(rows, 1 + dep_q, dtype=torch.int32, device=device)
        self._top_k = torch.zeros(2, rows, dtype=torch.int64, device=device)
        self._temperature = torch.zeros(2, rows, dtype=torch.float32, device=device)
        self._text_noise, self._audio_noise = (Noise(card, device) for card in cards)

    def set_row(
        self, row: int, seed: int, temperatures: tuple[float, float], top_ks: tuple[int, int]
    ) -> None:
        """A new session's sampling; pairs are (text, audio)."""
        self._seed[row] = seed_keys(np.array([seed]))[0]
        self._frame[row] = 0
        for i in range(2):
            self._temperature[i, row] = temperatures[i]
            self._top_k[i, row] = top_ks[i]

    def begin(self) -> None:
        """Before a step: the noise of every row's next frame."""
        keys = noise_keys(self._seed, self._frame, self._keys.shape[1])
        self._keys.copy_(torch.from_numpy(keys.view(np.int32)))

    def pick_text(self, logits: Tensor) -> Tensor:
        """logits [B, text_card] -> int64 [B]."""
        noise = self._text_noise(self._keys[:, :1])
        return pick_tokens(logits.float(), noise[:, 0], self._temperature[0], self._top_k[0])

    def audio_noise(self) -> Tensor:
        """The frame's noise for every audio codebook at once: float32 [B, dep_q, card]."""
        return self._audio_noise(self._keys[:, 1:])

    def pick_audio(self, logits: Tensor, noise: Tensor) -> Tensor:
        """logits [B, card] of one codebook, its noise [B, card] -> int64 [B]."""
        return pick_tokens(logits.float(), noise, self._temperature[1], self._top_k[1])

    def advance(self, rows: npt.NDArray[np.int64]) -> None:
        """Moves the frame counter of the stepped rows on."""
        self._frame[rows] += 1
