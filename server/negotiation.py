"""What a `session.start` gets: the resolved session, and what of it cannot be had.

Pure. Refuses to know the session that will run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from duet_client.wire import Info, SessionStart, WireError
from model.config import Sampling
from server.call import SEED_BITS, Setup


@dataclass(frozen=True, slots=True)
class Agreement:
    """sampling: with every value settled. infos: what was asked for and is not given."""

    sampling: Sampling
    recorded: bool
    infos: tuple[Info, ...]


def negotiate(command: SessionStart, setup: Setup) -> Agreement:
    """Raises WireError where the session cannot start as asked."""
    names = ("default", setup.info.name)
    if command.model not in names:
        allowed = " or ".join(dict.fromkeys(names))
        raise WireError(
            "invalid_value", f"session.model must be {allowed}", "session.model", command.event_id
        )
    return Agreement(_sampling(command, setup), setup.records(command.store), tuple(_infos(command, setup)))


def describe(command: SessionStart, agreement: Agreement, setup: Setup, expires_at: int) -> dict[str, Any]:
    """The `session` of session.started and session.closed (openai/types/live/session_resource.py)."""
    info = setup.info
    return {
        "id": setup.session_id,
        "expires_at": expires_at,
        "model": info.name,
        "status": "active",
        "audio": {"format": command.audio_format.to_json(), "output": {"voice": None}},
        "instructions": None,
        "store": agreement.recorded,
        "duet": asdict(agreement.sampling)
        | {"lag_frames": info.lag_frames, "context_frames": info.context_frames, "trained": info.trained},
    }


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
    if command.instructions and command.instructions.strip():
        yield Info("instructions_unsupported", "this model takes no instructions; they were ignored")
    if command.voice is not None:
        yield Info("voice_unsupported", "this model has one voice; the one asked for was ignored")
    if command.store and not setup.records(True):
        yield Info("store_unsupported", "this server records nothing; store was ignored")
    if command.unsupported:
        names = ", ".join(command.unsupported)
        yield Info("fields_unsupported", f"this server knows nothing of, and ignored: {names}"[:500])
