"""The command line's words and what each command prints. Defaults come from where they live."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from contextlib import suppress
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from duet_client import __version__
from duet_client.address import DEFAULT_SERVER, KEY_VARIABLE, content_url
from duet_client.bench import BenchPlan, BenchResult, run_bench
from duet_client.devices import Microphone, open_devices
from duet_client.errors import CommandError
from duet_client.media import RATE, read_recording
from duet_client.pcm import Pcm16
from duet_client.play import Played, play
from duet_client.progress import Progress
from duet_client.session import connect
from duet_client.speaker import PlayBuffer
from duet_client.talk import converse
from duet_client.wire import DuetOptions, Info

_PLAN = BenchPlan()
TAIL_MAX_S = 600.0
_WHAT = f"Talk to a Duet server. An API key is taken from the variable {KEY_VARIABLE}."
_FREE = "sending as fast as the server answers; that is real time unless it runs with --pace free"


class _OneLine(argparse.ArgumentParser):
    """Says what is wrong in one line, without the usage before it."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"duet_client: {message}\n")


def parse(argv: list[str] | None) -> argparse.Namespace:
    parser = _OneLine(prog="python -m duet_client", description=_WHAT)
    parser.add_argument("--version", action="version", version=f"duet_client {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    common = _OneLine(add_help=False)
    common.add_argument("--server", default=DEFAULT_SERVER, help="base address (default: %(default)s)")
    _file_arguments(commands.add_parser("file", parents=[common], help="play a recording, keep both sides"))
    talk = commands.add_parser("talk", parents=[common], help="microphone and loudspeaker")
    _sampling_arguments(talk)
    _bench_arguments(commands.add_parser("bench", parents=[common], help="latency of many calls at once"))
    return parser.parse_args(argv)


def run(arguments: argparse.Namespace) -> int:
    """Run what `parse` found; returns the exit code."""
    commands = {"file": _file, "talk": _talk, "bench": _bench}
    return commands[arguments.command](arguments)


def _file_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("input", type=Path, metavar="IN", help="recording to play")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="OUT.wav", help="what to write")
    parser.add_argument("--channel", type=int, default=0, help="of IN, from 0 (default: %(default)s)")
    parser.add_argument(
        "--tail", type=float, default=0.0, metavar="SECONDS", help="of silence after IN, for the answer"
    )
    parser.add_argument("--store", action="store_true", help="the server keeps a recording of its own, too")
    parser.add_argument("--as-fast-as-possible", action="store_true", help="do not pace; see --pace free")
    _sampling_arguments(parser)


def _sampling_arguments(parser: argparse.ArgumentParser) -> None:
    for option in fields(DuetOptions):
        number = float if "temperature" in option.name else int
        parser.add_argument("--" + option.name.replace("_", "-"), type=number, help="default: the server's")


def _bench_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--calls", type=int, default=_PLAN.calls, help="default: %(default)s")
    parser.add_argument("--seconds", type=float, default=_PLAN.seconds, help="default: %(default)g")
    parser.add_argument("--audio", type=Path, help="what every call says (default: synthetic)")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")


def _sampling(arguments: argparse.Namespace) -> DuetOptions:
    return DuetOptions(**{option.name: getattr(arguments, option.name) for option in fields(DuetOptions)})


def _file(arguments: argparse.Namespace) -> int:
    _check_output(arguments.input, arguments.output)
    if not 0 <= arguments.tail <= TAIL_MAX_S:
        raise CommandError(f"--tail must be 0 to {TAIL_MAX_S:g} seconds, not {arguments.tail:g}")
    pcm, channels = read_recording(arguments.input, arguments.channel)
    pcm = np.concatenate([pcm, np.zeros(round(arguments.tail * RATE), pcm.dtype)])
    if channels > 1:
        _say(f"{arguments.input} has {channels} channels; playing channel {arguments.channel}")
    if arguments.as_fast_as_possible:
        _say(_FREE)
    started = time.monotonic()
    kept: list[Played] = []
    try:
        _play(arguments, pcm, started, kept)
    except KeyboardInterrupt:
        _say(f"duet_client: interrupted; {_what_is_kept(kept)}")
        return 130
    (played,) = kept
    if played.missing_s:
        _say(f"{played.missing_s:.2f} s have audio on one channel only, the other is silent there")
    if arguments.store:
        _say_where(arguments.server, played.session)
    if played.error:
        raise CommandError(f"{played.error}; {played.seconds:.2f} s are kept in {played.recording}")
    took = time.monotonic() - started
    _say(f"{played.seconds:.2f} s in {took:.2f} s: {played.recording}, {played.transcript}")
    return 0


def _check_output(recording: Path, output: Path) -> None:
    if output.suffix.lower() != ".wav":
        raise CommandError(f"the output must end in .wav, not {output.name}")
    for written in (output, output.with_suffix(".json")):
        with suppress(OSError):  # one of them is not there, so they are not the same
            if recording.samefile(written):
                raise CommandError(f"{written} is the recording to play and would be overwritten")


def _play(arguments: argparse.Namespace, pcm: Pcm16, started: float, kept: list[Played]) -> None:
    """Run the call; what it wrote is appended to `kept`, whether it is interrupted or not."""
    progress = Progress(sys.stderr, len(pcm) / RATE, started)

    def told(info: Info) -> None:
        progress.finish()
        _say(f"the server says: {_one_line(info.message)}")

    try:
        asyncio.run(
            play(
                arguments.server,
                pcm,
                arguments.output,
                fast=arguments.as_fast_as_possible,
                store=arguments.store,
                sampling=_sampling(arguments),
                on_progress=lambda done_s: progress.at(done_s, time.monotonic()),
                on_info=told,
                on_kept=kept.append,
            )
        )
    finally:
        progress.finish()


def _what_is_kept(kept: list[Played]) -> str:
    if not kept:
        return "nothing had been recorded"
    return f"{kept[0].seconds:.2f} s are kept in {kept[0].recording}, {kept[0].transcript}"


def _say_where(server: str, session: dict[str, Any]) -> None:
    if session.get("store", True):  # false where the server records nothing, which its info has told
        session_id = str(session.get("id", ""))
        _say(f"the server keeps session {session_id}: {content_url(server, session_id)}")


def _one_line(text: str) -> str:
    """Somebody else's words, without what would move a terminal's cursor."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _talk(arguments: argparse.Namespace) -> int:
    try:
        asyncio.run(_conversation(arguments))
    except KeyboardInterrupt:
        _say("\nHung up.")  # the ordinary way to end it
    return 0


async def _conversation(arguments: argparse.Namespace) -> None:
    microphone, speaker = Microphone(asyncio.get_running_loop()), PlayBuffer()
    with open_devices(microphone, speaker):
        async with connect(arguments.server, sampling=_sampling(arguments)) as session:
            _say("Connected. Use headphones, or the agent hears itself. Ctrl-C hangs up.")
            await converse(session, microphone, speaker, sys.stdout, sys.stderr)
    if speaker.gaps or speaker.dropped_bytes or microphone.dropped:
        _say(
            f"{speaker.gaps} gaps, {speaker.dropped_bytes} bytes dropped, {microphone.dropped} blocks unsent"
        )


def _bench(arguments: argparse.Namespace) -> int:
    audio = None if arguments.audio is None else read_recording(arguments.audio)[0]
    try:
        plan = BenchPlan(arguments.calls, arguments.seconds)
        result = run_bench(arguments.server, plan, audio=audio)
    except ValueError as error:
        raise CommandError(str(error)) from None
    if arguments.json:
        print(json.dumps(asdict(result) | {"valid": result.valid}, indent=2))
    elif result.valid:
        print(report(result))
    for problem in result.problems:
        _say(f"not a valid measurement: {problem}")
    return 0 if result.valid else 3


def report(result: BenchResult) -> str:
    """The result as a person reads it."""
    plan, found = result.plan, result.summary
    latency, late = found.latency_ms, found.send_late_ms
    return "\n".join(
        [
            f"{plan.calls} calls, {plan.seconds:g} s measured, model {result.model}",
            f"frame latency   p50 {latency.p50:.1f}  p95 {latency.p95:.1f}  p99 {latency.p99:.1f}"
            f"  p99.9 {latency.p99_9:.1f}  max {latency.max:.1f} ms  ({latency.count} frames)",
            f"deadline misses {found.deadline_misses} over 80 ms",
            f"deficits        {found.deficits} of {found.frames_sent} frames",
            f"send lateness   p50 {late.p50:.2f}  p99 {late.p99:.2f} ms (the load generator's own)",
        ]
    )


def _say(text: str) -> None:
    print(text, file=sys.stderr)
