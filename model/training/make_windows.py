"""The commands `drafts` and `windows`: training conversations as sound, then as one codec's codes.

Both can be stopped and started at any time; several may run, each taking every n-th. A draft serves
any codec, so it can be made before the codec is done; one that is missing is made on the way.
"""

from __future__ import annotations

from pathlib import Path

import sentencepiece
import torch
from moshi.models import MimiModel
from moshi.utils.compile import no_compile
from tqdm import tqdm

from model.fingerprint import fingerprint
from model.training import corpus
from model.training.callers import Callers, Part, Texts
from model.training.coding import open_codec
from model.training.export import WEIGHTS
from model.training.files import write_whole
from model.training.long_sound import encoder_of
from model.training.make_data import CORPUS
from model.training.monologue import open_pieces, train_pieces
from model.training.plan import PlanSettings, open_texts
from model.training.takes import agent_takes, silent_codes, take_codes
from model.training.texts import Domain, domain, held_out_sentences, words
from model.training.windows import Booth, Draft, Studio

DRAFTS = "drafts"
TOKENIZER = "tokenizer.model"
ANSWER_WEIGHT = 30
"""How often the pieces' training hears each answer: their words become single pieces."""
SLOW_SHARE = 0.35
"""Of the conversations: those of voices too slow to speak on the spot."""


def make_drafts(folder: Path, *, count: int, part: int, parts: int) -> None:
    """Drafts part, part + parts, ... below `count` that are not there yet."""
    studio = open_studio(folder)
    where = folder / DRAFTS
    where.mkdir(parents=True, exist_ok=True)
    missing = [number for number in range(part, count, parts) if not draft_path(folder, number).exists()]
    for number in tqdm(missing, desc=f"drafts {part + 1} of {parts}", unit="draft", mininterval=10):
        studio.draft(number).keep(draft_path(folder, number))


def make_windows(folder: Path, codec_folder: Path, *, count: int, part: int, parts: int) -> None:
    """As `make_drafts`, for windows; a draft that is not there is made and not kept."""
    torch.set_num_threads(1)
    where = windows_folder(folder, codec_folder)
    where.mkdir(parents=True, exist_ok=True)
    missing = [number for number in range(part, count, parts) if not window_path(where, number).exists()]
    studio = open_studio(folder)
    with no_compile():
        booth = open_booth(folder, studio, open_codec(codec_folder))
        for number in tqdm(missing, desc=f"windows {part + 1} of {parts}", unit="window", mininterval=10):
            path = draft_path(folder, number)
            draft = Draft.read(path) if path.exists() else studio.draft(number)
            booth.window(draft).keep(window_path(where, number))


def draft_path(folder: Path, number: int) -> Path:
    return folder / DRAFTS / f"draft-{number:06d}.npz"


def windows_folder(folder: Path, codec_folder: Path) -> Path:
    return folder / f"windows-{fingerprint([codec_folder / WEIGHTS])[:12]}"


def window_path(where: Path, number: int) -> Path:
    return where / f"window-{number:06d}.npz"


def open_studio(folder: Path, part: Part = "train") -> Studio:
    """Raises ModelError when the folder has no data."""
    spoken = corpus.read(folder / CORPUS)
    content = domain()
    return Studio(
        callers=Callers(Texts(content.topics, part, _open_texts()), spoken, SLOW_SHARE),
        takes=agent_takes(spoken),
        topics=topic_names(content),
        intents=[intent.name for intent in content.intents],
    )


def open_booth(folder: Path, studio: Studio, codec: MimiModel) -> Booth:
    """Encodes the agent's takes."""
    encode, pieces = encoder_of(codec), open_tokenizer(folder)
    takes = tqdm(studio.takes.items(), desc="the agent's takes", unit="topic", mininterval=5)
    codes = {topic: [take_codes(take, encode, pieces) for take in among] for topic, among in takes}
    return Booth(codes, silent_codes(encode), encode, studio.topics)


def topic_names(content: Domain) -> list[str]:
    """The labels, in order."""
    return [topic.name for topic in content.topics]


def open_tokenizer(folder: Path) -> sentencepiece.SentencePieceProcessor:
    """The agent's pieces, trained once and kept in the folder."""
    path = folder / TOKENIZER
    if not path.exists():
        content = domain()
        texts = [
            text for topic in content.topics for text in (*topic.answers * ANSWER_WEIGHT, *topic.phrasings)
        ]
        model = train_pieces([*texts, *_open_texts()])
        write_whole(path, lambda file: file.write(model))
    return open_pieces(path.read_bytes())


def _open_texts() -> list[str]:
    """Sentences that users say and the agent does not understand."""
    return sorted(set(open_texts(PlanSettings(), words(), held_out_sentences())))
