"""Scenario files to scenarios: finds them, reads them, and says of each mistake where and what is allowed.

Refuses to know what becomes of a scenario.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any

from duet_client.errors import CommandError
from duet_client.media import RATE, read_recording
from evals.scenario import BEHAVIOURS, CONDITIONS, EVENTS, EXPECTED, ON_TIMEOUT, Clip, Say, Scenario
from evals.scenario_fields import ScenarioError, Table, is_name, show

_DEFAULTS: dict[str, Any] = {item.name: item.default for kind in (Scenario, Say) for item in fields(kind)}
_TOP_KEYS = ("behaviour", "description", "lead_in_s", "tail_s", "limit_s", "say")
_SAY_KEYS = (*(item.name for item in fields(Say)), "channel")


def find_scenarios(paths: Iterable[Path]) -> list[Scenario]:
    """Every scenario of some files and folders (searched to the bottom), in order of name.

    Raises:
        ScenarioError: the first mistake found, none there, or two of one name.
    """
    files: list[Path] = []
    for path in paths:
        if not path.exists():
            raise ScenarioError(f"{path}: there is no such file or folder")
        files += sorted(path.rglob("*.toml")) if path.is_dir() else [path]
    if not files:
        raise ScenarioError("no scenario: give TOML files, or folders that hold some")
    by_name: dict[str, Path] = {}
    for file in dict.fromkeys(file.resolve() for file in files):
        if file.stem in by_name:
            raise ScenarioError(f"{file}: another scenario has the same name: {by_name[file.stem]}")
        by_name[file.stem] = file
    return [load_scenario(by_name[name]) for name in sorted(by_name)]


def load_scenario(path: Path) -> Scenario:
    """Raises ScenarioError, one line with file, key and what is allowed."""
    try:
        top = Table(path, "", tomllib.loads(path.read_bytes().decode()))
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ScenarioError(f"{path}: is no TOML: {error}") from None
    if path.suffix != ".toml" or not is_name(path.stem) or path.stem == "scores":
        raise ScenarioError(
            f"{path}: must be called NAME.toml, of lower-case letters, digits, - and _, and not scores.toml"
        )
    return _scenario(path, top)


def _scenario(path: Path, top: Table) -> Scenario:
    top.check_keys(_TOP_KEYS)
    top.required("behaviour", f"one of {', '.join(BEHAVIOURS)}")
    behaviour = str(top.choice("behaviour", None, BEHAVIOURS))
    numbers = {
        key: top.number(key, _DEFAULTS[key], low, high)
        for key, low, high in (("lead_in_s", 0, 60), ("tail_s", 0, 120), ("limit_s", 1, 3600))
    }
    description = top.text("description", "") or ""
    says = _says(path, top)
    values: dict[str, Any] = numbers
    digest = _digest([behaviour, numbers, *map(_facts, says)])
    return Scenario(path.stem, behaviour, says, digest, description=description, **values)


def _digest(facts: list[Any]) -> str:
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def _facts(say: Say) -> dict[str, Any]:
    """All that makes a difference, defaults too; not where the clip lies."""
    facts = {item.name: getattr(say, item.name) for item in fields(Say)}
    return facts | {"clip": say.clip.sha256}


def _says(path: Path, top: Table) -> tuple[Say, ...]:
    tables = top.get("say")
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        raise top.refuse("say", "must be one or more [[say]] tables, what the user says")
    says: list[Say] = []
    for number, data in enumerate(tables, 1):
        table = Table(path, f"say[{number}].", data)
        table.check_keys(_SAY_KEYS)
        says.append(_say(table, number, [earlier.id for earlier in says]))
    return tuple(says)


def _say(table: Table, number: int, earlier: list[str]) -> Say:
    table.required("clip", "the audio file, relative to the scenario")
    ident = str(table.name("id", f"say-{number}"))
    if ident in earlier:
        raise table.refuse("id", f'is taken: there is another "{ident}" above')
    event = str(table.choice("event", "turn", tuple(EVENTS)))
    clip = _clip(table)
    return Say(
        id=ident,
        clip=clip,
        **_cue(table, earlier),
        gain_db=table.number("gain_db", _DEFAULTS["gain_db"], -60, 20),  # type: ignore[arg-type]  # has a default
        event=event,
        expected=str(table.choice("expected", EVENTS[event], EXPECTED)),
        continues=_continues(table, earlier, event),
        pauses_s=_pauses(table, len(clip.pcm) / RATE),
        text=table.text("text", "") or "",
    )


def _cue(table: Table, earlier: list[str]) -> dict[str, Any]:
    """The fields that say when; exactly one of a time, a clip or the agent."""
    cue: dict[str, Any] = {
        "at_s": table.number("at_s", None, 0, 3600),
        "after": _reference(table, "after", earlier),
        "when": table.choice("when", None, CONDITIONS),
        "for_s": table.number("for_s", _DEFAULTS["for_s"], 0.05, 60),
        "delay_s": table.number("delay_s", _DEFAULTS["delay_s"], 0, 60),
        "timeout_s": table.number("timeout_s", _DEFAULTS["timeout_s"], 0.1, 600),
        "on_timeout": table.choice("on_timeout", _DEFAULTS["on_timeout"], ON_TIMEOUT),
    }
    timed, chained, reactive = (cue[key] is not None for key in ("at_s", "after", "when"))
    if not (timed or chained or reactive):
        raise table.refuse("at_s", "is missing: say at_s, after or when, one of them")
    if timed and (chained or reactive):
        raise table.refuse("at_s", f"stands against {'when' if reactive else 'after'}: only one of them")
    if reactive:
        table.required("for_s", f"for how long, in seconds, {cue['when']} must hold (0.05 to 60)")
    for key in () if reactive else ("for_s", "timeout_s", "on_timeout"):
        if key in table.data:
            raise table.refuse(key, f"needs when, one of {', '.join(CONDITIONS)}")
    if timed and "delay_s" in table.data:
        raise table.refuse("delay_s", "needs after or when; with at_s, move at_s")
    return cue


def _continues(table: Table, earlier: list[str], event: str) -> str | None:
    continues = _reference(table, "continues", earlier)
    if continues is not None and event != "turn":
        raise table.refuse("continues", f'needs event = "turn", not "{event}"')
    return continues


def _reference(table: Table, key: str, earlier: list[str]) -> str | None:
    value = table.get(key)
    if value is not None and value not in earlier:
        there = ", ".join(earlier) if earlier else "there is none above the first"
        raise table.refuse(key, f"must be the id of a [[say]] above ({there}), not {show(value)}")
    return None if value is None else str(value)


def _pauses(table: Table, duration_s: float) -> tuple[tuple[float, float], ...]:
    value = table.get("pauses_s")
    if value is None:
        return ()
    try:
        pauses = tuple((float(start), float(end)) for start, end in value)
    except (TypeError, ValueError):
        raise table.refuse("pauses_s", f"must be pairs [start, end] of seconds, not {show(value)}") from None
    if any(not 0 <= start < end <= duration_s for start, end in pauses):
        raise table.refuse(
            "pauses_s", f"must lie inside the clip (0 to {duration_s:.3f} s), not {show(value)}"
        )
    return pauses


def _clip(table: Table) -> Clip:
    """The clip's samples; silence or a channel that is not there is a mistake too."""
    name = table.text("clip")
    path = table.path.parent / str(name)
    channel = table.number("channel", None, 0, 63)
    if channel is not None and channel != int(channel):
        raise table.refuse("channel", f"must be a whole number, not {channel:g}")
    try:
        pcm, channels = read_recording(path, int(channel or 0))
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    except (CommandError, OSError) as error:
        raise table.refuse("clip", f"cannot be played: {error}") from None
    if channels > 1 and channel is None:
        raise table.refuse("clip", f"has {channels} channels: say which with channel (0 to {channels - 1})")
    if not pcm.any():
        raise table.refuse("clip", f"is nothing but silence: {path}")
    return Clip(path, pcm, f"{digest}/{channel or 0:g}")
