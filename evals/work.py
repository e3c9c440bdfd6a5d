"""Scoring one source from start to end, in whichever process: the unit that runs side by side."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from evals.conversation import InputError
from evals.extras import Extras, opinions, prepared
from evals.fingerprints import fingerprint
from evals.pool import conversation_file, write_whole
from evals.readers.sources import Source, load
from evals.results import dump, load_conversation
from evals.scoring import Settings, score


@dataclass(frozen=True, slots=True)
class Job:
    """A source, how to score it, and where to."""

    source: Source
    settings: Settings
    extras: Extras
    out: Path


@dataclass(frozen=True, slots=True)
class Done:
    """What became of a job. reason: why it was rejected, "" if scored. kept: from an earlier run."""

    source: Source
    reason: str = ""
    warnings: tuple[str, ...] = ()
    kept: bool = False


def work(job: Job) -> Done:
    """Writes the conversation's result; never raises for what is in the input."""
    try:
        return _scored(job)
    except InputError as error:
        return Done(job.source, str(error))
    except MemoryError:
        return Done(job.source, "is too long for this machine's memory")
    except OSError as error:
        return Done(job.source, f"cannot be read or written: {error.strerror or error}")
    except Exception as error:  # one conversation that nobody thought of does not end the batch
        line = (str(error).splitlines() or [""])[0]
        return Done(job.source, f"failed in scoring, please report it: {type(error).__name__}: {line}")


def _scored(job: Job) -> Done:
    target = conversation_file(job.out, job.source.id)
    mark = fingerprint(job.source, job.settings, job.extras.facts())
    if (warnings := _kept(target, mark)) is not None:
        return Done(job.source, warnings=warnings, kept=True)
    conversation = prepared(load(job.source), job.extras)
    result = score(conversation, job.settings, opinions(conversation, job.extras))
    write_whole(target, dump(replace(result, fingerprint=mark)))
    return Done(job.source, warnings=result.warnings)


def _kept(target: Path, mark: str) -> tuple[str, ...] | None:
    """The warnings of an earlier result from the same input and settings."""
    try:
        found = load_conversation(target.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return found.warnings if found.fingerprint == mark else None
