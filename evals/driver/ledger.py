"""The books of a run, run.json: every conversation that was planned here, and what became of it.

One folder holds one run: the same settings on the same model. A later run adds to the books and takes
nothing out, so that no failure and no attempt is forgotten. Refuses to know how conversations are had.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from duet_client.errors import CommandError
from evals.driver import folder
from evals.driver.settings import LATE_MAX_MS, Plan, RunSettings
from evals.driver.summary import cue_timeouts

FORMAT, VERSION = "duet-run", 1
STALLED = "stalled: "


class Ledger:
    """server: what run.json calls it, None where it is one of our own. facts: of its model.

    Raises:
        CommandError: the folder holds another run, or what is no run.
    """

    def __init__(self, out: Path, settings: RunSettings, server: str | None, facts: dict[str, Any]) -> None:
        self._out, self._settings, self._server, self._facts = out, settings, server, facts
        self._entries: dict[str, dict[str, Any]] = {}
        earlier = read_run(out)
        if earlier is not None:
            self._check_same(earlier)
            self._entries = {entry["id"]: entry for entry in earlier["conversations"]}

    def planned(self, plan: Plan, session: dict[str, Any] | None) -> None:
        """session: the session.json that is there, None where the conversation is still to be had."""
        self._entries[plan.id] = _entry(plan, session)

    def write(self) -> dict[str, Any]:
        """Replaces run.json and returns what it says.

        Raises:
            CommandError: it cannot be written.
        """
        entries = [self._entries[ident] for ident in sorted(self._entries)]
        run = {
            "format": FORMAT,
            "version": VERSION,
            "server": self._server,
            "model": self._facts,
            "settings": self._settings.to_json(),
            "counts": counts(entries),
            "conversations": entries,
        }
        try:
            folder.write_json(self._out / "run.json", run)
        except OSError as problem:
            raise CommandError(f"cannot write {self._out / 'run.json'}: {problem}") from None
        return run

    def _check_same(self, earlier: dict[str, Any]) -> None:
        ours = _flat(self._settings.to_json()) | {"model": self._facts.get("model")}
        theirs = _flat(earlier["settings"]) | {"model": earlier["model"].get("model")}
        for key, value in ours.items():
            if theirs.get(key) != value:
                raise CommandError(
                    f"{self._out} holds a run with {key} {theirs.get(key)}, not {value}: choose another -o"
                )


def read_run(out: Path) -> dict[str, Any] | None:
    """The run.json of a folder, None where there is none.

    Raises:
        CommandError: it is not what a run writes.
    """
    path = out / "run.json"
    try:
        run = folder.read_json(path)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as problem:
        raise CommandError(f"cannot read {path}: {problem}") from None
    if run.get("format") != FORMAT or run.get("version") != VERSION:
        raise CommandError(f"{path} is no {FORMAT} of version {VERSION}: choose another -o")
    return run


def counts(entries: Iterable[dict[str, Any]]) -> dict[str, int]:
    """Conversations by what became of them; attempts include those of earlier runs."""
    there = list(entries)
    by_status = Counter(entry["status"] for entry in there)
    return {
        "planned": len(there),
        **{
            status: by_status[status]
            for status in (folder.COMPLETED, folder.TIMED_OUT, folder.FAILED, "missing")
        },
        **{
            name: sum(int(entry[name]) for entry in there)
            for name in ("attempts", "failed_attempts", "stalled_attempts", "cue_timeouts", "late_sender")
        },
    }


def _entry(plan: Plan, session: dict[str, Any] | None) -> dict[str, Any]:
    had = session or {"status": "missing", "failures": [], "cues": []}
    failed = had["failures"] + ([had["error"]] if had["status"] == folder.FAILED else [])
    late_ms = (had.get("live") or {}).get("send_late_p99_ms")
    return {
        "id": plan.id,
        "scenario": plan.scenario.name,
        "behaviour": plan.scenario.behaviour,
        "path": f"{plan.scenario.name}/{plan.id}",
        "status": had["status"],
        "error": had.get("error"),
        "duration_s": had.get("duration_s"),
        "attempts": had.get("attempts", 0),
        "failed_attempts": len(failed),
        "stalled_attempts": sum(error.startswith(STALLED) for error in failed),
        "cue_timeouts": cue_timeouts(had),
        "late_sender": late_ms is not None and late_ms > LATE_MAX_MS,
    }


def _flat(settings: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """One level deep: {"timing": {"tail_s": 6}} -> {"timing.tail_s": 6}."""
    flat: dict[str, Any] = {}
    for key, value in settings.items():
        flat |= _flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return flat
