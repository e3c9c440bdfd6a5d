"""Writes the report: reads each conversation once, draws the plots, then writes the page.

In memory are the page's own data and sound, the latter bounded by the limit that the caller sets.
A page is written under another name first, so that a report is whole or not there.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tqdm import tqdm

from evals.report import payload
from evals.report.gather import Gathered, RunFolder
from evals.report.markup import Html, data_block, sound_block
from evals.report.page import page
from evals.report.section_compare import compare_section
from evals.report.section_events import events_section, player, timeline_section
from evals.report.section_head import head
from evals.report.section_metrics import metrics_section, sources_section
from evals.report.section_plots import plots_of, plots_section
from evals.report.shelf import SoundShelf
from evals.report.sound import PEAKS_PER_S, Sound
from evals.results import ConversationResult, RunResult
from evals.thresholds import Thresholds


def write_report(this: RunFolder, other: RunFolder | None, out: Path, audio_limit_mb: float) -> str:
    """Writes `out` and the plots beside it; returns one line about what was written.

    Raises:
        BadRun: a run's file cannot be read.
        OSError: the report cannot be written.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    shelf = SoundShelf((this.path, this.path.parent), audio_limit_mb * 1e6)
    contents = Contents()
    count = len(this.run.conversations)
    for number, result in enumerate(tqdm(this.conversations(), "report", count, disable=None)):
        contents.add(result)
        shelf.offer(number, result)
    for number, sound in shelf.sounds():
        contents.add_sound(number, sound)
    sections = _sections(this.run, contents, shelf.told(), other, out.parent)
    draft = out.with_name(out.name + ".part")
    with draft.open("w", encoding="utf-8", newline="\n") as file:
        for piece in page(f"Conversations: {this.run.name}", sections, contents.data()):
            file.write(piece)
    draft.replace(out)
    return f"{out}: {out.stat().st_size / 1e6:.1f} MB, sound: {shelf.told()}"


def _sections(
    run: RunResult, contents: Contents, sound_note: str, other: RunFolder | None, folder: Path
) -> list[Html]:
    plots = plots_of(run, contents.gathered, other.run if other else None)
    return [
        head(run, sound_note, rate_events_min(run)),
        metrics_section(run, rate_events_min(run)),
        _comparison(contents.gathered, other, folder) if other else "",
        plots_section(plots, folder),
        timeline_section(run, contents.types),
        events_section(run, contents.types),
        sources_section(run),
        player(),
    ]


def _comparison(gathered: Gathered, other: RunFolder, folder: Path) -> Html:
    theirs = Gathered()
    for result in other.conversations():
        theirs.add(result)
    return compare_section(gathered, theirs, other.run, folder)


def rate_events_min(run: RunResult) -> float:
    """Below so many events a rate is shown in grey: the strictest limit that the run was scored with."""
    limits = [method.thresholds.get("rate_events_min") for method in run.methods]
    known = [limit for limit in limits if isinstance(limit, int | float)]
    return max(known, default=Thresholds().rate_events_min)


@dataclass
class Contents:
    """What the page's script reads, and what the plots are drawn from."""

    gathered: Gathered = field(default_factory=Gathered)
    types: dict[str, None] = field(default_factory=dict)
    blocks: list[Html] = field(default_factory=list)
    conversations: list[dict[str, object]] = field(default_factory=list)

    def add(self, result: ConversationResult) -> None:
        number = len(self.conversations)
        self.gathered.add(result)
        self.types |= dict.fromkeys(event.type for event in result.events)
        self.conversations.append({"id": result.id, "duration": result.duration_s})
        self.blocks.append(data_block(f"lanes-{number}", payload.lanes(result)))
        self.blocks.append(data_block(f"events-{number}", [payload.event(one) for one in result.events]))

    def add_sound(self, number: int, sound: Sound) -> None:
        self.blocks.append(data_block(f"peaks-{number}", payload.peaks(sound)))
        self.blocks.append(sound_block(f"sound-{number}", base64.b64encode(sound.opus).decode()))

    def data(self) -> Iterator[Html]:
        yield data_block("index", {"conversations": self.conversations, "peaks_per_second": PEAKS_PER_S})
        yield from self.blocks
