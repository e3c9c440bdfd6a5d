"""Are the words in the codes? A small classifier from an utterance's codes to its intent.

Trained on the training voices, asked about voices it never heard. Codes come to it as the codec's
own vectors: with embeddings to learn from so few utterances it knows those by heart (1.00 of them)
and no other voice (0.08). What it can tell, a language model on the same codes can learn; what it
cannot, may still be there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from audio.frames import FRAME_SAMPLES, Samples
from model.training import vary
from model.training.corpus import Spoken
from model.training.crops import cut

Said = npt.NDArray[np.float16]
"""[frames, width]: the sum of the codebooks' vectors that the codes name."""


@dataclass(frozen=True, slots=True)
class ProbeSettings:
    seed: int = 5
    utterances: int = 6000
    """Of training at most; those of the natural voices first, the others drawn."""
    encodings: int = 1
    """Of each training utterance, varied anew each time."""
    another: float = 0.5
    """The chance that a training utterance is heard as of another speaker."""
    width: int = 160
    layers: int = 4
    epochs: int = 30
    batch: int = 64
    peak_rate: float = 2e-3
    weight_decay: float = 0.05
    dropout: float = 0.3
    noise: float = 0.3
    """Added in training to vectors that vary by 1."""
    masked: float = 0.3
    """The chance that a stretch of up to a third of the frames is hidden in training."""
    smoothing: float = 0.05


@dataclass(frozen=True, slots=True)
class Example:
    """said: what the codes of one encoding say. label: the intent's number."""

    spoken: Spoken
    said: Said
    label: int


class Probe(nn.Module):
    """[batch, frames, vector] and [batch, frames, 1] of where there is any -> [batch, intents]."""

    def __init__(self, settings: ProbeSettings, known: Sequence[Example], intents: int) -> None:
        super().__init__()
        heard = torch.from_numpy(np.concatenate([example.said for example in known])).float()
        self.middle: Tensor
        self.spread: Tensor
        self.register_buffer("middle", heard.mean(dim=0))
        self.register_buffer("spread", heard.std(dim=0) + 1e-5)
        width = settings.width
        self.enter = nn.Linear(heard.shape[1], width)
        count = range(settings.layers)
        self.convolutions = nn.ModuleList(nn.Conv1d(width, width, 5, padding=2) for _ in count)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in count)
        self.dropout = nn.Dropout(settings.dropout)
        self.leave = nn.Linear(2 * width, intents)
        self.noise, self.masked = settings.noise, settings.masked

    def _shown(self, said: Tensor) -> Tensor:
        """[batch, frames, 1]: 0 where a stretch is hidden, 1 elsewhere."""
        rows, frames = said.shape[:2]
        length = torch.rand(rows, 1) * frames / 3 * (torch.rand(rows, 1) < self.masked)
        start = torch.rand(rows, 1) * (frames - length)
        at = torch.arange(frames)
        return 1.0 - ((at >= start) & (at < start + length)).float()[..., None]

    def forward(self, said: Tensor, mask: Tensor) -> Tensor:
        said = (said - self.middle) / self.spread
        if self.training:
            said = (said + self.noise * torch.randn_like(said)) * self._shown(said)
        hidden = self.enter(said) * mask
        for convolution, norm in zip(self.convolutions, self.norms, strict=True):
            mixed = functional.gelu(convolution(norm(hidden).transpose(1, 2))).transpose(1, 2)
            hidden = hidden + self.dropout(mixed) * mask
        most = hidden.masked_fill(mask == 0, -1e4).amax(dim=1)
        mean = hidden.sum(dim=1) / mask.sum(dim=1)
        return torch.as_tensor(self.leave(self.dropout(torch.cat([most, mean], dim=1))))


def examples(
    spoken: Sequence[Spoken],
    intents: Sequence[str],
    encode: Callable[[Samples], Said],
    *,
    times: int,
    seed: int,
    another: float = 0.0,
) -> Iterator[Example]:
    """`times` encodings of each utterance, each in a room, level and place of its own.

    another: the chance that it is heard as of another speaker.
    """
    for number, item in enumerate(spoken):
        random = np.random.default_rng([seed, number])
        for _ in range(times):
            lead, tail = random.integers(FRAME_SAMPLES, 4 * FRAME_SAMPLES, size=2)
            sound = item.samples()
            if random.random() < another:
                sound = vary.another_speaker(random, sound)
            sound = vary.voice_of_a_user(random, sound)
            sound = cut(sound, -int(lead), len(sound) + int(lead) + int(tail))
            heard = np.clip(sound + vary.noise(random, len(sound)), -1, 1)
            yield Example(item, encode(heard), intents.index(item.utterance.topic))


def train_probe(
    known: Sequence[Example], intents: int, settings: ProbeSettings, progress: Callable[[int], object]
) -> Probe:
    """`progress` hears of every epoch."""
    torch.manual_seed(settings.seed)
    random = np.random.default_rng(settings.seed)
    probe = Probe(settings, known, intents)
    steps = settings.epochs * -(-len(known) // settings.batch)
    optimiser = torch.optim.AdamW(
        probe.parameters(), lr=settings.peak_rate, weight_decay=settings.weight_decay
    )
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, settings.peak_rate, steps)
    probe.train()
    for _ in range(settings.epochs):
        order = random.permutation(len(known))
        for start in range(0, len(order), settings.batch):
            rows = [known[index] for index in order[start : start + settings.batch]]
            labels = torch.tensor([row.label for row in rows])
            named = probe(*together([row.said for row in rows]))
            gap = functional.cross_entropy(named, labels, label_smoothing=settings.smoothing)
            optimiser.zero_grad()
            gap.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            schedule.step()
        progress(1)
    return probe.eval()


def told(probe: Probe, asked: Sequence[Example], batch: int) -> list[bool]:
    """For each example, whether the probe names its intent."""
    right: list[bool] = []
    with torch.no_grad():
        for start in range(0, len(asked), batch):
            rows = asked[start : start + batch]
            named = probe(*together([row.said for row in rows])).argmax(dim=1)
            right += [int(name) == row.label for name, row in zip(named, rows, strict=True)]
    return right


def together(said: Sequence[Said]) -> tuple[Tensor, Tensor]:
    """[rows, most frames, width], zeros behind the shorter ones, and 1 where there is anything."""
    most = max(len(each) for each in said)
    padded = np.zeros((len(said), most, said[0].shape[1]), np.float32)
    mask = np.zeros((len(said), most, 1), np.float32)
    for row, each in enumerate(said):
        padded[row, : len(each)] = each
        mask[row, : len(each)] = 1
    return torch.from_numpy(padded), torch.from_numpy(mask)
