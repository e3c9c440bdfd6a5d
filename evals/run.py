"""`python -m evals run SCENARIOS`: has the conversations, keeps them, counts them, and scores them.

Exit codes: 0 every conversation is there, 2 what was asked cannot be done (one line says why), 3 some
conversations failed (the same command tries those again), 130 interrupted (the same command goes on).
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, NoReturn

from tqdm import tqdm

from duet_client.address import DEFAULT_SERVER, KEY_VARIABLE
from duet_client.errors import CommandError, DuetError
from duet_client.wire import DuetOptions
from evals.activity import DETECTORS
from evals.driver.batch import Batch
from evals.driver.cues import Timing
from evals.driver.ledger import Ledger
from evals.driver.server_facts import server_facts
from evals.driver.settings import LATE_MAX_MS, RANGES, Plan, RunSettings, plan
from evals.offline import own_server
from evals.scenario_fields import ScenarioError
from evals.scenario_reader import find_scenarios
from evals.score import main as score
from evals.scoring import Settings

_RUN, _TIMING = RunSettings(), Timing()
DEFAULT_OUT = Path("recordings/evals")

_HELP = {
    "takes": "conversations per scenario, take k with the seed SEED + k - 1",
    "at_once": "conversations at the same time",
    "seed": "of the first take",
    "stall_s": "give a server up that says nothing for so long",
    "playout_lead_s": "how long the modelled jitter buffer holds a first piece",
    "lead_in_s": "silence before the scenario (default: the scenario's own)",
    "tail_s": "silence after its last word (default: the scenario's own)",
    "greeting_wait_s": "after the lead-in, how long to wait for the end of a greeting",
    "agent_threshold_dbfs": "level from which the agent speaks, for cues (scoring has its own)",
}


class _OneLine(argparse.ArgumentParser):
    """Says what is wrong in one line, without the usage before it."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"evals run: {message}\n")


def main(argv: list[str]) -> int:
    options = _parse(argv)
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: our server goes too
    try:
        report = _run(options)
    except (DuetError, ScenarioError, ValueError) as error:
        print(f"evals run: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("evals run: interrupted; the same command goes on from here", file=sys.stderr)
        return 130
    finally:
        signal.signal(signal.SIGTERM, before)
    _say(report, options.output)
    scored = 0 if options.no_score else _score(options)
    return 3 if report["counts"]["failed"] or report["counts"]["missing"] else scored


def _parse(argv: list[str]) -> argparse.Namespace:
    parser = _OneLine(prog="python -m evals run", description=__doc__)
    parser.add_argument("scenarios", type=Path, nargs="+", metavar="SCENARIOS", help="TOML files, or folders")
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--server", default=DEFAULT_SERVER, help=f"base address (default: %(default)s); key: {KEY_VARIABLE}"
    )
    where.add_argument(
        "--offline", metavar="MODEL", help="start a server of its own with this model, and do not wait"
    )
    parser.add_argument(
        "-o", "--output", type=Path, default=DEFAULT_OUT, help="folder (default: %(default)s)"
    )
    parser.add_argument("--no-score", action="store_true", help="only have the conversations")
    parser.add_argument(
        "--activity",
        choices=DETECTORS,
        default=Settings().detector,
        help="for the score (default: %(default)s)",
    )
    for name, text in _HELP.items():
        default = getattr(_RUN, name) if hasattr(_RUN, name) else getattr(_TIMING, name)
        kind = int if isinstance(default, int) and not isinstance(default, bool) else float
        shown = "" if default is None else f" (default: {default:g})"
        parser.add_argument(_option(name), type=kind, default=default, help=text + shown)
    for option in fields(DuetOptions):
        if option.name != "seed":
            number = float if "temperature" in option.name else int
            parser.add_argument(_option(option.name), type=number, help="default: the server's")
    return parser.parse_args(argv)


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def _settings(options: argparse.Namespace) -> RunSettings:
    given = vars(options)
    timing = Timing(**{item.name: given[item.name] for item in fields(Timing)})
    sampling = DuetOptions(
        **{item.name: given[item.name] for item in fields(DuetOptions) if item.name != "seed"}
    )
    own = {name: given[name] for name in RANGES if hasattr(_RUN, name)}
    pace: Any = "lockstep" if options.offline else "realtime"
    return RunSettings(pace=pace, timing=timing, sampling=sampling, **own)


def _run(options: argparse.Namespace) -> dict[str, Any]:
    settings = _settings(options)
    plans = plan(find_scenarios(options.scenarios), settings)
    with _server(options, settings) as server:
        facts = server_facts(server)
        if facts.get("capacity", settings.at_once) < settings.at_once:
            raise CommandError(
                f"--at-once {settings.at_once} is more than the {facts['capacity']} sessions the server has"
            )
        ledger = Ledger(options.output, settings, None if options.offline else server, facts)
        with _Bar(plans) as bar:
            batch = Batch(server, options.output, ledger, bar.at)
            return asyncio.run(batch.run(plans, settings.at_once))


def _score(options: argparse.Namespace) -> int:
    """The whole folder, into `scores` in it; every failed conversation is among its rejected."""
    return score([str(options.output), "-o", str(options.output / "scores"), "--activity", options.activity])


@contextmanager
def _server(options: argparse.Namespace, settings: RunSettings) -> Iterator[str]:
    if options.offline is None:
        yield options.server
    else:
        if sys.stderr.isatty():
            print(f"starting a server with the model {options.offline} ...", file=sys.stderr)
        with own_server(options.offline, settings.at_once) as address:
            yield address


class _Bar:
    """Seconds of conversation that are over, of about how many; silent where there is no terminal."""

    def __init__(self, plans: list[Plan]) -> None:
        self._nominal = {each.id: each.nominal_s for each in plans}
        self._at = dict.fromkeys(self._nominal, 0.0)
        total = sum(self._nominal.values())
        self._bar = tqdm(
            total=total, unit="s", desc="conversations", disable=None, bar_format=_BAR_FORMAT, leave=False
        )

    def __enter__(self) -> _Bar:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def at(self, ident: str, seconds: float) -> None:
        seconds = min(seconds, self._nominal[ident])
        self._bar.update(seconds - self._at[ident])
        self._at[ident] = seconds


_BAR_FORMAT = "{desc}: {percentage:3.0f}%|{bar}| {n:.0f} of about {total:.0f} s [{elapsed}, {remaining} left]"


def _say(report: dict[str, Any], out: Path) -> None:
    counts = report["counts"]
    told = ", ".join(f"{counts[name]} {name.replace('_', ' ')}" for name in counts if counts[name])
    print(f"{told}: {out / 'run.json'}")
    if counts["late_sender"]:
        print(
            f"in {counts['late_sender']} of them frames left late (p99 over {LATE_MAX_MS:g} ms):"
            " this machine was too busy, and their timing is not to be relied on"
        )
    for entry in report["conversations"]:
        if entry["error"]:
            print(f"  {entry['id']}: {entry['status']}: {entry['error']}")
