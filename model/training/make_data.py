"""The command `data`: plans, speaks, and lets the teacher listen; with progress bars.

Running it again makes only what is missing.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tqdm import tqdm

from audio.frames import SAMPLE_RATE
from model.config import ModelError
from model.training import corpus, speech, teacher
from model.training.plan import PlanSettings, plan
from model.training.texts import domain, held_out_sentences, words

CORPUS = "corpus"
SETTINGS = PlanSettings()


def make_data(folder: Path, *, workers: int, settings: PlanSettings = SETTINGS) -> None:
    """Raises ModelError when a synthesiser is missing or fails."""
    if lacking := speech.missing():
        raise ModelError(f"speaking needs {', '.join(lacking)}")
    planned = plan(settings, domain(), words(), held_out_sentences())
    with tqdm(total=len(planned), desc="speaking", unit="utterance") as bar:
        made = corpus.render(folder / CORPUS, planned, speech.speak, bar.update, workers)
    spoken = corpus.read(folder / CORPUS)
    samples: Counter[str] = Counter()
    for item in spoken:
        samples[f"{item.utterance.role}, {item.utterance.split}"] += len(item.pcm)
    print(f"{made} utterances spoken, {len(planned) - made} were there")
    for kind, total in sorted(samples.items()):
        print(f"{kind}: {total / SAMPLE_RATE / 60:.1f} min")
    with tqdm(total=len(spoken), desc="teacher", unit="utterance") as bar:
        teacher.listen(folder, spoken, bar.update)
