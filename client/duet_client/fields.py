"""How a message's fields are read and written: the machinery under the tables of the wire.

A message is a dataclass and a tuple of `Field`s; reading and writing both walk that tuple, so they
cannot drift apart. Refuses to know which messages exist.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import reprlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from duet_client.errors import WireError
from duet_client.formats import AudioFormat

Read = Callable[[Any, str], Any]  # (JSON value, dotted path) -> Python value, or WireError
Write = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Kind:
    """What a field may hold: how it is read from JSON and written to it."""

    read: Read
    write: Write = lambda value: value


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a message.

    attr: the dataclass's attribute. path: dotted place in the JSON object.
    required: its absence is refused. nullable: None is written as null instead of being left out.
    """

    attr: str
    path: str
    kind: Kind
    required: bool = False
    nullable: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(self.path.split("."))


Fields = tuple[Field, ...]


def refuse(where: str, must_be: str, value: Any) -> NoReturn:
    """Raise invalid_value, naming the field, what it may hold and (shortened) what came instead."""
    shown = "null" if value is None else reprlib.repr(value)
    raise WireError("invalid_value", f"{where} must be {must_be}, not {shown}", where)


def read_fields(fields: Fields, obj: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """The attributes found in `obj`; an optional field that is absent or null is left to its default."""
    found: dict[str, Any] = {}
    for field in fields:
        where = prefix + field.path
        value, present = _lookup(obj, field.keys, prefix)
        if not present and field.required:
            raise WireError("missing_field", f"{where} is missing", where)
        if value is None and not field.required:
            continue
        found[field.attr] = field.kind.read(value, where)
    return found


def write_fields(fields: Fields, message: Any) -> dict[str, Any]:
    """The JSON object of `message`; fields that are None are left out unless nullable."""
    out: dict[str, Any] = {}
    for field in fields:
        value = getattr(message, field.attr)
        written = None if value is None else field.kind.write(value)
        if written is None and not field.nullable:
            continue
        *parents, last = field.keys
        place = out
        for key in parents:
            place = place.setdefault(key, {})
        place[last] = written
    return out


def strangers(fields: Fields, obj: dict[str, Any], above: tuple[str, ...] = ()) -> Iterator[str]:
    """Dotted names of what `obj` holds and `fields` does not know; an empty value asks for nothing."""
    known = {field.keys for field in fields}
    for key, value in obj.items():
        path = (*above, key)
        if path in known:
            continue
        if isinstance(value, dict) and any(keys[: len(path)] == path for keys in known):
            yield from strangers(fields, value, path)
        elif value is not None and value not in ([], {}):
            yield ".".join(path)


def _lookup(obj: dict[str, Any], keys: tuple[str, ...], prefix: str) -> tuple[Any, bool]:
    value: Any = obj
    for depth, key in enumerate(keys):
        if value is None:
            return None, False
        if not isinstance(value, dict):
            refuse(prefix + ".".join(keys[:depth]), "an object", value)
        if key not in value:
            return None, False
        value = value[key]
    return value, True


# -- kinds ---------------------------------------------------------------------------------------


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        refuse(where, "a string", value)
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        refuse(where, "well-formed Unicode (no lone surrogates)", value)
    return value


def _name(value: Any, where: str) -> str:
    return _text(value, where) or refuse(where, "a string that is not empty", value)


def _flag(value: Any, where: str) -> bool:
    return value if isinstance(value, bool) else refuse(where, "true or false", value)


def number(top: float | None = None) -> Kind:
    """A number from 0. top: named in a refusal; whether a number exceeds it, the server judges."""
    must_be = "a number from 0" + ("" if top is None else f" to {top}")

    def read(value: Any, where: str) -> float:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not 0 <= value <= sys.float_info.max:  # an integer may exceed any float
            refuse(where, must_be, value)
        return float(value)

    return Kind(read)


def integer(top: int | None = None) -> Kind:
    """An integer from 0. top: as for `number`."""
    must_be = "an integer from 0" + ("" if top is None else f" to {top}")

    def read(value: Any, where: str) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            refuse(where, must_be, value)
        return value

    return Kind(read)


def _object(value: Any, where: str) -> dict[str, Any]:
    return value if isinstance(value, dict) else refuse(where, "an object", value)


def _audio(value: Any, where: str) -> bytes:
    if not isinstance(value, str):
        raise WireError("invalid_audio", f"{where} must be a base64 string", where)
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError) as error:
        raise WireError("invalid_audio", f"{where} is not base64: {error}", where) from None


def _base64(value: bytes) -> str:
    return base64.b64encode(value).decode("ascii")


TEXT = Kind(_text)
NAME = Kind(_name)
FLAG = Kind(_flag)
NUMBER = number()
INTEGER = integer()
OBJECT = Kind(_object)
AUDIO = Kind(_audio, _base64)
FORMAT = Kind(AudioFormat.parse, AudioFormat.to_json)


def choice(*allowed: str) -> Kind:
    """One of a few words."""

    def read(value: Any, where: str) -> str:
        if not isinstance(value, str) or value not in allowed:
            refuse(where, "one of " + ", ".join(allowed), value)
        return value

    return Kind(read)


# -- text ----------------------------------------------------------------------------------------


def load_object(text: str) -> dict[str, Any]:
    """One strict JSON object.

    Raises:
        WireError: invalid_json for broken JSON, NaN, Infinity, numbers out of a float's range, or a
            value that is no object.
    """
    try:
        value = json.loads(text, parse_constant=_no_constant, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise WireError("invalid_json", f"the message is not valid JSON: {reason}") from None
    if not isinstance(value, dict):
        raise WireError("invalid_json", f"the message must be a JSON object, not {reprlib.repr(value)}")
    return value


def dump_object(obj: dict[str, Any]) -> str:
    """Compact JSON in ASCII, so that no text can make a WebSocket message invalid.

    Raises:
        WireError: invalid_value for NaN and infinity, which JSON does not have.
    """
    try:
        return json.dumps(obj, separators=(",", ":"), allow_nan=False)
    except ValueError:
        raise WireError("invalid_value", "numbers must be finite; NaN and infinity are not JSON") from None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"the number {reprlib.repr(text)} is out of range")
    return value
