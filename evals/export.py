"""`python -m evals export RUN_DIR -o DIR --format NAME...`: a scored run for other tools.

Exit codes: 0 all is written, 2 what was asked cannot be done, 3 some conversations could not be
written in some format (one line each).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

from tqdm import tqdm

from evals.conversation import InputError
from evals.labels import segments_of, tiers_of, word_segments
from evals.pool import CONVERSATIONS
from evals.readers.discover import discover
from evals.readers.sources import load
from evals.results import ConversationResult, load_conversation, load_run
from evals.writers import fdb, lines, tiers

Files = dict[str, str]
"""Text by what comes after the conversation's id in the file's name."""

FORMATS: dict[str, Callable[[ConversationResult], Files]] = {
    "ctm": lambda r: {".ctm": lines.ctm(r.id, word_segments((*r.user.words, *r.agent.words)))},
    "stm": lambda r: {".stm": lines.stm(r.id, segments_of(r))},
    "rttm": lambda r: {".rttm": lines.rttm(r.id, segments_of(r))},
    "uem": lambda r: {".uem": lines.uem(r.id, r.duration_s)},
    "seglst": lambda r: {".seglst.json": lines.seglst(r.id, segments_of(r))},
    "textgrid": lambda r: {".TextGrid": tiers.textgrid(tiers_of(r), r.duration_s)},
    "eaf": lambda r: {".eaf": tiers.eaf(tiers_of(r), f"{r.id}.wav")},
    "audacity": lambda r: {f".{name}.txt": lines.audacity(labels) for name, labels in tiers_of(r).items()},
    "vtt": lambda r: {".vtt": lines.vtt(segments_of(r))},
    "srt": lambda r: {".srt": lines.srt(segments_of(r))},
}
FDB_V2 = "fdb-v2"
FDB_FORMATS = (*(f"fdb-v1:{task}" for task in fdb.TASKS), FDB_V2)


class _Refused(Exception):
    """One line on what cannot be done."""


class _OneLine(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise _Refused(message)


def main(argv: list[str]) -> int:
    try:
        given = _parser().parse_args(argv)
        results = list(_files(given.run))
        problems = [line for name in given.format for line in _written(results, name, given.out)]
    except (_Refused, OSError, ValueError) as error:
        print(f"evals export: {str(error).splitlines()[0]}", file=sys.stderr)
        return 2
    for line in problems:
        print(line, file=sys.stderr)
    print(f"{len(results)} conversations as {', '.join(given.format)}: {given.out}")
    return 3 if problems else 0


def _parser() -> argparse.ArgumentParser:
    parser = _OneLine(prog="evals export", description="A scored run in the formats of other tools.")
    parser.add_argument("run", type=Path, metavar="RUN_DIR", help="what score wrote with -o")
    parser.add_argument("-o", "--out", type=Path, required=True, help="where the files go")
    names = (*FORMATS, *FDB_FORMATS)
    parser.add_argument(
        "--format",
        nargs="+",
        choices=names,
        default=["textgrid"],
        help="(default: %(default)s)",
        metavar="NAME",
    )
    return parser


def _files(run: Path) -> Iterator[Path]:
    metrics = run / "metrics.json"
    if not metrics.is_file():
        raise _Refused(f"{run} holds no metrics.json: it is not what score wrote")
    for entry in load_run(metrics.read_text("utf-8")).conversations:
        yield run / CONVERSATIONS / f"{entry.id}.json"


def _written(results: list[Path], name: str, out: Path) -> Iterator[str]:
    """Writes every conversation in one format; a line for each that cannot be."""
    out.mkdir(parents=True, exist_ok=True)
    index: list[dict[str, object]] = []
    for path in tqdm(results, desc=name, unit="conversation"):
        result = load_conversation(path.read_text("utf-8"))
        try:
            if name in FORMATS:
                for suffix, text in FORMATS[name](result).items():
                    (out / f"{result.id}{suffix}").write_text(text, "utf-8")
            else:
                index.append(_benchmark(result, name, out, len(index) + 1))
        except InputError as error:
            yield f"{result.id}: {name}: {error}"
    if index:
        (out / f"{_folder(name)}.index.json").write_text(json.dumps(index, indent=1) + "\n", "utf-8")


def _folder(name: str) -> str:
    return "v2" if name == FDB_V2 else name.partition(":")[2]


def _benchmark(result: ConversationResult, name: str, out: Path, number: int) -> dict[str, object]:
    """A numbered folder of Full-Duplex-Bench, from the sound that was scored."""
    sounds = [Path(part) for part in result.audio.split("|")]
    at = sounds[0] if len(sounds) == 1 and sounds[0].name != "conversation.wav" else sounds[0].parent
    found = discover([at], result.user_channel).sources
    source = next((s for s in found if s.sounds == tuple(sounds)), None)
    if source is None:
        raise InputError(f"its sound is no longer at {result.audio}")
    conversation = load(source)
    channels = conversation.user, conversation.agent
    folder = out / _folder(name) / str(number)
    if name == FDB_V2:
        fdb.write_v2(folder, result, channels)
        return {"folder": number, "id": result.id}
    task = next(t for t in fdb.TASKS if t == _folder(name))
    annotated = fdb.write_v1(folder, result, channels, task, conversation.annotations)
    return {"folder": number, "id": result.id, "events": "annotated" if annotated else "inferred"}
