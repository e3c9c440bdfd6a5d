"""One training step of the language model: what it reads, what it must say, what it must have heard.

Three heads are thrown away afterwards. One tells the user's phonemes from a lower layer and one the words
from a middle layer (CTC, Graves et al. 2006); one tells, when the user has ended, what was asked for. They
make the model understand users whom it has not heard: the answers alone ask for understanding in one frame
out of fifty.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from moshi.models import LMModel
from moshi.models.lm_utils import _delay_sequence
from torch import Tensor, nn
from torch.nn import functional

from model.training.lm_shape import HEARING_LAYERS, SOUND_LAYERS
from model.training.monologue import PADDING
from model.training.sounds import PHONEMES
from model.training.windows import NEAR, ONSET, QUIET, UNANSWERED

SOUNDS_A_FRAME = 3
"""Steps in which phonemes are told, 37.5 a second: people say about 12."""


@dataclass(frozen=True, slots=True)
class LmSettings:
    """masks: user's stretches hidden a window, each of at most mask_frames. *_weight: parts of the loss.

    depth_frames: frames of a batch whose audio codes are learned. The agent's own past is disturbed
    a little, so that the model goes on after a slip. pause_text must be near onset_text: they weigh
    "still thinking" against "done" where nothing else tells them apart.
    """

    seed: int = 7
    steps: int = 5150
    rows: int = 8
    warm_steps: int = 100
    peak_rate: float = 2.5e-3
    last_rate: float = 0.02
    weight_decay: float = 0.1
    betas: tuple[float, float] = (0.9, 0.98)
    clip: float = 1.0
    average: float = 0.998
    dropout: float = 0.12
    noise: float = 0.1
    masks: int = 6
    mask_frames: int = 4
    book_dropout: float = 0.12
    slips: float = 0.03
    depth_frames: int = 240
    quiet_text: float = 0.1
    near_text: float = 0.5
    onset_text: float = 5.0
    pause_text: float = 3.0
    first_book: float = 3.0
    audio_weight: float = 0.4
    sounds_weight: float = 0.7
    words_weight: float = 0.5
    asked_weight: float = 0.4
    smoothing: float = 0.05


@dataclass(frozen=True, slots=True)
class LmBatch:
    """codes: int64 [rows, 1 + 2 * books, frames]. marks, labels: [rows, frames].

    words: the users' pieces one after the other; lengths: how many each row has. sounds, sound_lengths:
    the same of their phonemes.
    """

    codes: Tensor
    marks: Tensor
    labels: Tensor
    words: Tensor
    lengths: Tensor
    sounds: Tensor
    sound_lengths: Tensor


class LmLearner(nn.Module):
    """The model with its three heads."""

    def __init__(self, lm: LMModel, topics: int, settings: LmSettings) -> None:
        super().__init__()
        self.lm = lm
        self.settings = settings
        self.pause = topics
        self.sounds = nn.Linear(lm.dim, SOUNDS_A_FRAME * (len(PHONEMES) + 1))
        self.words = nn.Linear(lm.dim, lm.text_card + 1)
        self.asked = nn.Sequential(nn.Dropout(0.2), nn.Linear(lm.dim, topics + 1))
        self.norm = nn.LayerNorm(lm.dim)
        self._after: dict[int, Tensor] = {}
        for number in (SOUND_LAYERS, HEARING_LAYERS):
            layer = lm.transformer.layers[min(number, len(lm.transformer.layers)) - 1]
            layer.register_forward_hook(partial(self._keep, number))

    def _keep(self, number: int, _module: nn.Module, _inputs: Any, output: Tensor) -> None:
        self._after[number] = output

    def loss(self, batch: LmBatch, random: torch.Generator) -> tuple[Tensor, dict[str, float]]:
        """The whole loss and its parts."""
        read, wanted = self._sequences(batch, random)
        hidden, text_logits = self._think(read, random)
        text, right = self._text(text_logits, wanted[:, 0], batch)
        audio, first = self._audio(hidden, wanted, batch.marks, random)
        sounds = self._sounds(batch)
        words = self._words(batch)
        asked, told = self._asked(hidden, batch.labels)
        s = self.settings
        total = text + s.audio_weight * audio + s.asked_weight * asked
        total = total + s.sounds_weight * sounds + s.words_weight * words
        parts = {
            "text": text.item(),
            "onset": right,
            "audio": audio.item(),
            "book1": first,
            "sounds": sounds.item(),
            "words": words.item(),
            "told": told,
        }
        return total, parts

    def _sequences(self, batch: LmBatch, random: torch.Generator) -> tuple[Tensor, Tensor]:
        """What is read and what is wanted, both int64 [rows, 1 + 2 * books, frames], with moshi's delays."""
        lm, s = self.lm, self.settings
        codes = batch.codes.clone()
        rows, _, frames = codes.shape
        user = codes[:, 1 + lm.dep_q :]
        for row in range(rows):
            for _ in range(s.masks):
                start, length = torch.randint(frames, (2,), generator=random).tolist()
                user[row, :, start : start + 1 + length % s.mask_frames] = lm.zero_token_id
        dropped = torch.rand(user.shape[:2], generator=random) < s.book_dropout
        user[dropped] = lm.zero_token_id
        initial = lm._get_initial_token().expand(rows, -1, -1)
        whole = torch.cat([initial, _delay_sequence(lm.delays, codes, initial)], dim=2)
        read, wanted = whole[:, :, :-1].clone(), whole[:, :, 1:]
        agent = read[:, 1 : 1 + lm.dep_q, 2:]
        slipped = torch.rand(agent.shape, generator=random) < s.slips
        agent[slipped] = torch.randint(lm.card, (int(slipped.sum()),), generator=random)
        return read, wanted

    def _think(self, read: Tensor, random: torch.Generator) -> tuple[Tensor, Tensor]:
        """As LMModel.forward_text, with noise on what is heard and dropout: [rows, frames, width], logits."""
        lm, s = self.lm, self.settings
        agent = sum(lm.emb[book](read[:, 1 + book]) for book in range(lm.dep_q))
        heard = sum(lm.emb[book](read[:, 1 + book]) for book in range(lm.dep_q, lm.n_q))
        assert isinstance(heard, Tensor)
        heard = heard + s.noise * torch.randn(heard.shape, generator=random)
        entered = functional.dropout(lm.text_emb(read[:, 0]) + agent + heard, s.dropout, self.training)
        hidden = lm.out_norm(lm.transformer(entered))
        hidden = functional.dropout(hidden, s.dropout, self.training)
        return hidden, lm.text_linear(hidden)

    def _text(self, logits: Tensor, wanted: Tensor, batch: LmBatch) -> tuple[Tensor, float]:
        """The loss, and how many answers begin with the wanted piece."""
        s, marks = self.settings, batch.marks
        weight = torch.where(marks >= NEAR, s.near_text, s.quiet_text)
        weight = torch.where(batch.labels == self.pause, s.pause_text, weight)
        weight = torch.where(wanted != PADDING, 1.0, weight)
        onset = (marks == ONSET) & (wanted != PADDING)
        weight = torch.where(onset, s.onset_text, weight) * (marks > UNANSWERED)
        each = functional.cross_entropy(logits.float().transpose(1, 2), wanted, reduction="none")
        right = (logits.argmax(dim=-1) == wanted)[onset].float().mean()
        return (each * weight).sum() / weight.sum().clamp(min=1), float(right.nan_to_num(0.0))

    def _audio(
        self, hidden: Tensor, wanted: Tensor, marks: Tensor, random: torch.Generator
    ) -> tuple[Tensor, float]:
        """Over a few frames, nearly all of them near the agent's speech; and the first book's own loss."""
        lm, s = self.lm, self.settings
        near = (torch.where(marks >= NEAR, 1.0, 0.04) * (marks > UNANSWERED)).flatten()
        near[:: marks.shape[1]] = 0  # the delayed books are not there yet
        if not near.any():
            return hidden.sum() * 0, 0.0
        count = min(s.depth_frames, int((near > 0).sum()))
        picked = torch.multinomial(near, count, generator=random)
        chosen = wanted.transpose(1, 2).flatten(0, 1)[picked]
        logits = lm.forward_depformer_training(chosen.T[None], hidden.flatten(0, 1)[picked][None])[0]
        codes = chosen[:, 1 : 1 + lm.dep_q].T
        known = codes < lm.card
        each = functional.cross_entropy(
            logits.float().flatten(0, 1), codes.clamp(max=lm.card - 1).flatten(), reduction="none"
        ).view_as(codes)
        books = (each * known).sum(dim=1) / known.sum(dim=1).clamp(min=1)
        weight = torch.ones(lm.dep_q)
        weight[0] = s.first_book
        return (books * weight).sum() / weight.sum(), float(books[0].detach())

    def _sounds(self, batch: LmBatch) -> Tensor:
        """Phonemes are shorter than frames: each frame tells several."""
        scores = self.sounds(self.norm(self._after[SOUND_LAYERS])).float()
        scores = scores.unflatten(2, (SOUNDS_A_FRAME, -1)).flatten(1, 2)
        return _ctc(scores, batch.sounds, batch.sound_lengths)

    def _words(self, batch: LmBatch) -> Tensor:
        scores = self.words(self.norm(self._after[HEARING_LAYERS])).float()
        return _ctc(scores, batch.words, batch.lengths)

    def _asked(self, hidden: Tensor, labels: Tensor) -> tuple[Tensor, float]:
        """The loss at the frames after a request, and the share told right."""
        where = labels != QUIET
        if not where.any():
            return hidden.sum() * 0, 0.0
        logits = self.asked(hidden[where]).float()
        wanted = labels[where]
        lost = functional.cross_entropy(logits, wanted, label_smoothing=self.settings.smoothing)
        return lost, float((logits.argmax(dim=-1) == wanted).float().mean())


def _ctc(scores: Tensor, wanted: Tensor, lengths: Tensor) -> Tensor:
    """A symbol's loss; scores are [rows, steps, symbols and blank]."""
    told = scores.log_softmax(dim=-1).transpose(0, 1)
    steps = torch.full((told.shape[1],), told.shape[0])
    blank = told.shape[2] - 1
    lost = functional.ctc_loss(told, wanted, steps, lengths, blank=blank, reduction="sum", zero_infinity=True)
    return lost / lengths.sum().clamp(min=1)
