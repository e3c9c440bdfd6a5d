"""The query parameters of the Moshi wire: what they ask for, and what of it cannot be had.

Names as existing Moshi and PersonaPlex clients send them. Pure; refuses to know the session.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from model.config import SEED_MAX, ModelInfo, Sampling
from server.call import SEED_BITS
from server.errors import BadParameter

_HONOURED: dict[str, tuple[str, type[int] | type[float]]] = {
    "text_temperature": ("text_temperature", float),
    "text_topk": ("text_top_k", int),
    "audio_temperature": ("audio_temperature", float),
    "audio_topk": ("audio_top_k", int),
}
_IGNORED = (
    "max_steps",
    "pad_mult",
    "repetition_penalty",
    "repetition_penalty_context",
    "text_prompt",
    "voice_prompt",
)
_NO_SEED = -1
"""PersonaPlex clients send it for "draw one"."""


@dataclass(frozen=True, slots=True)
class MoshiOptions:
    """ignored: parameters that were given and that this server cannot honour."""

    sampling: Sampling
    ignored: tuple[str, ...]


def read_query(query: Mapping[str, str], info: ModelInfo, draw_bits: Callable[[int], int]) -> MoshiOptions:
    """Raises BadParameter."""
    given = {name: value for name, value in query.items() if value.strip()}
    values: dict[str, Any] = {
        field: _number(given[name], kind) for name, (field, kind) in _HONOURED.items() if name in given
    }
    seed = _seed(given)
    values["seed"] = draw_bits(SEED_BITS) if seed is None else seed
    try:
        sampling = replace(info.sampling, **values)
    except ValueError as error:  # its first word is our name of the field
        field, _, problem = str(error).partition(" ")
        raise BadParameter(_wire_name(field), problem) from None
    return MoshiOptions(sampling, tuple(name for name in _IGNORED if name in given))


def _seed(given: Mapping[str, str]) -> int | float | str | None:
    """One seed for both kinds of tokens; a pair of seeds makes one, each pair another."""
    if "seed" in given:
        seed = _number(given["seed"], int)
        return None if seed == _NO_SEED else seed
    pair = {name: _half_seed(name, given[name]) for name in ("text_seed", "audio_seed") if name in given}
    if not pair:
        return None
    return (pair.get("text_seed", 0) << 32 | pair.get("audio_seed", 0)) & SEED_MAX


def _half_seed(name: str, text: str) -> int:
    value = _number(text, int)
    if not isinstance(value, int) or value < 0:
        raise BadParameter(name, f"must be an integer from 0, not {text[:40]!r}")
    return value


def _number(text: str, kind: type[int] | type[float]) -> int | float | str:
    """Text that is no number stays text, which Sampling refuses with its bounds."""
    try:
        return kind(text)
    except ValueError:
        return text


def _wire_name(field: str) -> str:
    return next((name for name, (ours, _) in _HONOURED.items() if ours == field), field)
