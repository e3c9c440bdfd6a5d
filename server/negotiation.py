"""What a `session.start` gets: the resolved session, and what of it cannot be had.

Pure. Refuses to know the session that will run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace

from duet_client.wire import Info, SessionStart, WireError
from model.config import Sampling
from server.call import SEED_BITS, Resolved, Setup

INSTRUCTIONS = False
VOICES: tuple[str, ...] = ()
"""What calls may ask for beside their sampling: no checkpoint can be given either here, whatever it is."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """infos: what was asked for and is not given."""

    session: Resolved
    infos: tuple[Info, ...]


def negotiate(command: SessionStart, setup: Setup) -> Agreement:
    """Raises WireError where the session cannot start as asked."""
    names = ("default", setup.info.name)
    if command.model not in names:
        allowed = " or ".join(dict.fromkeys(names))
        raise WireError(
            "invalid_value", f"session.model must be {allowed}", "session.model", command.event_id
        )
    audio = command.audio_format.to_json()
    session = Resolved(_sampling(command, setup), audio, setup.records(command.store))
    return Agreement(session, tuple(_infos(command, setup)))


def _sampling(command: SessionStart, setup: Setup) -> Sampling:
    given = {name: value for name, value in asdict(command.duet).items() if value is not None}
    given.setdefault("seed", setup.draw_bits(SEED_BITS))
    try:
        return replace(setup.info.sampling, **given)
    except ValueError as error:  # its first word is the field
        field = str(error).partition(" ")[0]
        where = f"session.duet.{field}"
        raise WireError("invalid_value", f"session.duet.{error}", where, command.event_id) from None


def _infos(command: SessionStart, setup: Setup) -> Iterator[Info]:
    if command.instructions and command.instructions.strip() and not INSTRUCTIONS:
        yield Info("instructions_unsupported", "this model takes no instructions; they were ignored")
    if command.voice is not None and command.voice not in VOICES:
        yield Info("voice_unsupported", "this model has one voice; the one asked for was ignored")
    if command.store and not setup.records(True):
        yield Info("store_unsupported", "this server records nothing; store was ignored")
    if command.unsupported:
        names = ", ".join(command.unsupported)
        yield Info("fields_unsupported", f"this server knows nothing of, and ignored: {names}"[:500])
