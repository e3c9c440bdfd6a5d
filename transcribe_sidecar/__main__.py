"""`python -m transcribe_sidecar`: transcribes every call of a server, until it is stopped.

Runs at the lowest priority the system has, so that it takes no time from a model server beside it.

Exit codes: 2 what was asked cannot be done, 3 the Whisper model is not on this machine (to start again
changes nothing in both, and one line says why), 1 hearing failed, 130 Ctrl-C, 143 SIGTERM.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Coroutine, Sequence
from contextlib import suppress

LOWEST = 19
FAILED, CANNOT, NO_MODEL = 1, 2, 3
_LOG = logging.getLogger("transcribe_sidecar")


def main(argv: Sequence[str] | None = None) -> int:
    try:
        return _main(argv)
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


def _main(argv: Sequence[str] | None) -> int:
    from transcribe_sidecar.config import parse
    from transcribe_sidecar.errors import HearingFailed, NoModel, SidecarError

    logging.basicConfig(level=logging.WARNING, format="transcribe_sidecar: %(message)s", stream=sys.stderr)
    _LOG.setLevel(logging.INFO)
    try:
        settings = parse(argv)
        _step_back(settings.threads)
        from transcribe_sidecar.service import Service  # takes a second
        from transcribe_sidecar.whisper import LazyWhisper

        hearer = LazyWhisper(settings)
        _LOG.info("Whisper %s listens to the calls of %s", hearer.name, settings.server)
        if hearer.note:
            _LOG.info(hearer.note)
        return asyncio.run(_until_stopped(Service(settings, hearer).run()))
    except SidecarError as error:
        print(f"transcribe_sidecar: {error}", file=sys.stderr)
        return {NoModel: NO_MODEL, HearingFailed: FAILED}.get(type(error), CANNOT)


def _step_back(threads: int) -> None:
    """Behind everybody else, and no more threads than asked for, whatever numpy and the rest would take."""
    with suppress(OSError):
        os.nice(LOWEST)
    os.environ["OMP_NUM_THREADS"] = str(threads)


async def _until_stopped(run: Coroutine[None, None, None]) -> int:
    running, stopped = asyncio.create_task(run), asyncio.Event()

    def stop() -> None:
        stopped.set()
        running.cancel()

    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop)
    try:
        await running
    except asyncio.CancelledError:
        if not stopped.is_set():
            raise
    return 128 + signal.SIGTERM


if __name__ == "__main__":
    sys.exit(main())
