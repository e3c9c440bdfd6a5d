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
import ssl
from collections.abc import Callable, Sequence

from model.config import ModelError
from model.engine import Engine
from server import listen
from server.app import serve
from server.archive import prepare
from server.command_line import fail, read_command, ready_line
from server.config import ServerConfig
from server.logs import set_up_logs
from server.settings import ConfigError
from server.switchboard import Switchboard
from server.tls import tls_context

BROKEN = 1

log = logging.getLogger("duet.server")


def main(arguments: Sequence[str]) -> None:
    """arguments: the command line without the program's name. KeyboardInterrupt is the caller's."""
    config = read_command(arguments, os.environ)
    set_up_logs(config.log_level, config.log_format)
    try:
        run(config)
    except ConfigError as error:
        fail(error.on_command_line)
    except ModelError as error:
        fail(str(error))
    except Exception as error:
        log.debug("the server broke down", exc_info=True)
        fail(f"broke down: {type(error).__name__}: {error} (--log-level debug tells where)", BROKEN)


def run(config: ServerConfig) -> None:
    """Serves until a signal.

    Raises:
        ConfigError, ModelError: the server cannot start.
    """
    tls = tls_context(config.tls_cert, config.tls_key) if config.tls_cert and config.tls_key else None
    if config.record != "never":
        prepare(config.recordings)
    sockets = listen.bind(config.host, config.port)
    try:
        if listen.reached_from_elsewhere(sockets) and not config.api_keys:
            log.warning("no API keys are set: whoever reaches %s can talk here", config.host)
        board = Switchboard()
        asyncio.run(_serve(config, _load(config, board), board, sockets, tls))
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        problem = f"{config.port} was taken by another program while the model was loaded"
        raise ConfigError("port", problem) from error
    finally:
        listen.close(sockets)


def _load(config: ServerConfig, board: Switchboard) -> Engine:
    from model.opening import open_engine  # torch takes seconds to come: not before all the rest is right

    return open_engine(
        config.model,
        device=config.device,
        dtype=config.dtype,
        capacity=config.capacity,
        on_step=board.on_step,
    )


async def _serve(
    config: ServerConfig,
    engine: Engine,
    board: Switchboard,
    sockets: list[socket.socket],
    tls: ssl.SSLContext | None,
) -> None:
    async with serve(config, engine, board, sockets, tls) as server:
        signalled = _on_signals(server.stop_now)
        urls = listen.urls(config.host, sockets[0].getsockname()[1], secure=tls is not None)
        print(ready_line(urls, engine.info, engine.capacity), flush=True)
        await signalled.wait()
        log.info("stopping: running sessions may go on for %g s; another signal ends them", config.drain_s)
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
