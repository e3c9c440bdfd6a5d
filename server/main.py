"""From the settings to a running server, and to its end on a signal.

What can go wrong cheaply goes first: files, folders and the port before the model. Whatever a person
can mend is one line and exit code 2. Refuses to know routes and sessions.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import signal
import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, nullcontext

from audio.frames import FRAME_MS
from model.config import ModelError
from model.engine import Engine
from server import listen
from server.app import Server, serve
from server.archive import prepare
from server.command_line import fail, read_command, ready_line
from server.config import ServerConfig
from server.door import Door, open_door
from server.guardrails.delivery import Policy
from server.guardrails.rules import Rules
from server.guardrails.rules_file import load_rules
from server.logs import hide_in_logs, set_up_logs
from server.settings import ConfigError
from server.sidecar_process import Launch, launch_of
from server.spool import remove_abandoned
from server.switchboard import Switchboard
from server.tls import tls_context
from server.transcripts.desk import recover_all
from server.transcripts.redaction import Redaction, load_redaction

BROKEN = 1

log = logging.getLogger("duet.server")


def main(arguments: Sequence[str]) -> None:
    """arguments: the command line without the program's name. KeyboardInterrupt is the caller's."""
    config = read_command(arguments, os.environ)
    set_up_logs(config.log_level, config.log_format)
    try:
        run(config, os.environ)
    except ConfigError as error:
        fail(error.on_command_line)
    except ModelError as error:
        fail(str(error))
    except Exception as error:
        log.debug("the server broke down", exc_info=True)
        fail(f"broke down: {type(error).__name__}: {error} (--log-level debug tells where)", BROKEN)


def run(config: ServerConfig, environment: Mapping[str, str]) -> None:
    """Serves until a signal. environment: the sidecar's too, but for the keys.

    Raises:
        ConfigError, ModelError: the server cannot start.
    """
    tls = tls_context(config.tls_cert, config.tls_key) if config.tls_cert and config.tls_key else None
    redaction = load_redaction(config.redact)
    policy = _policy(config, redaction)
    hide_in_logs(redaction.text)
    remove_abandoned()
    if config.keep != "off":
        prepare(config.recordings)
        recover_all(config.recordings)
    sockets = listen.bind(config.host, config.port)
    try:
        with _door(config) as door:
            _warn(config, sockets)
            board = Switchboard()
            engine = _load(config, board)
            serving = serve(
                config, engine, board, sockets, tls, policy=policy, redaction=redaction, door=door
            )
            launch = launch_of(door, config.sidecar_model, environment) if door else None
            asyncio.run(_serve(serving, _place(config, engine, sockets), launch, config.drain_s))
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        problem = f"{config.port} was taken by another program while the model was loaded"
        raise ConfigError("port", problem) from error
    finally:
        listen.close(sockets)


def _policy(config: ServerConfig, redaction: Redaction) -> Policy:
    """What calls are held to. What a rule matched is speech: where no words are kept, none is told."""
    rules = load_rules(config.guardrails) if config.guardrails else Rules()
    redact = redaction.text if config.keep == "full" else _nothing
    return Policy(rules, config.holdback_ms // FRAME_MS, redact)


def _nothing(_: str) -> str:
    return ""


def _door(config: ServerConfig) -> AbstractContextManager[Door | None]:
    return open_door() if config.sidecar == "managed" else nullcontext()


def _warn(config: ServerConfig, sockets: list[socket.socket]) -> None:
    """Of what is allowed and may not be meant."""
    if listen.reached_from_elsewhere(sockets) and not config.api_keys:
        log.warning("no API keys are set: whoever reaches %s can talk here", config.host)
    if config.redact is not None and config.recorded != "never":
        log.warning("--redact blanks words, not sound: recordings are kept as they are")


def _place(config: ServerConfig, engine: Engine, sockets: list[socket.socket]) -> str:
    """The line that says where the server is."""
    urls = listen.urls(config.host, sockets[0].getsockname()[1], secure=config.tls_cert is not None)
    return ready_line(urls, engine.info, engine.capacity)


def _load(config: ServerConfig, board: Switchboard) -> Engine:
    from model.opening import open_engine  # torch takes seconds to come: not before all the rest is right

    return open_engine(
        config.model,
        device=config.device,
        dtype=config.dtype,
        capacity=config.capacity,
        on_step=board.on_step,
        runtime=config.runtime,
        measured=config.admit == "measured" and config.pace == "realtime",
    )


async def _serve(
    serving: AbstractAsyncContextManager[Server], ready: str, launch: Launch | None, drain_s: float
) -> None:
    async with serving as server, server.sidecar(launch).running() if launch else nullcontext():
        signalled = _on_signals(server.stop_now)
        print(ready, flush=True)
        await signalled.wait()
        log.info("stopping: running sessions may go on for %g s; another signal ends them", drain_s)
        await server.drain()
    log.info("stopped")


def _on_signals(again: Callable[[], None]) -> asyncio.Event:
    """An event that the first signal to stop sets; each one after it calls `again`."""
    first = asyncio.Event()

    def signalled() -> None:
        if first.is_set():
            again()
        first.set()

    for each in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(each, signalled)
    return first
