"""The published JSON schema of the results, derived from their dataclasses.

`python -m evals.schema` prints it; evals/schema.json is its output, which a test compares.
"""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from evals.results import SCHEMA, ConversationResult, Event, RunResult

_PLAIN = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


def schema() -> dict[str, Any]:
    """`anyOf` metrics.json, conversations/*.json, and a line of events.jsonl."""
    definitions: dict[str, Any] = {}
    roots = [_of(kind, definitions) for kind in (RunResult, ConversationResult, Event)]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": SCHEMA,
        "anyOf": roots,
        "$defs": dict(sorted(definitions.items())),
    }


def _of(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    if dataclasses.is_dataclass(kind):
        return _object(kind, definitions)
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return {"anyOf": [_of(one, definitions) for one in inner]}
    if origin is tuple:
        return _array(inner, definitions)
    if origin is dict:
        values = {} if inner[1] is Any else {"additionalProperties": _of(inner[1], definitions)}
        return {"type": "object", **values}
    return {"enum": list(inner)} if origin is Literal else {"type": _PLAIN[kind]}


def _array(inner: tuple[Any, ...], definitions: dict[str, Any]) -> dict[str, Any]:
    size = {} if inner[-1] is Ellipsis else {"minItems": len(inner), "maxItems": len(inner)}
    return {"type": "array", "items": _of(inner[0], definitions), **size}


def _object(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    name = kind.__name__
    if name not in definitions:
        definitions[name] = {}  # so that a type that holds itself ends
        hints = get_type_hints(kind, include_extras=False)
        fields = {field.name: _of(hints[field.name], definitions) for field in dataclasses.fields(kind)}
        if "schema" in fields:
            fields["schema"] = {"const": SCHEMA}
        about = " ".join((typing.cast(str, kind.__doc__) or "").split())
        definitions[name] = {
            "type": "object",
            "description": about,
            "properties": fields,
            "required": list(fields),
            "additionalProperties": False,
        }
    return {"$ref": f"#/$defs/{name}"}


if __name__ == "__main__":
    print(json.dumps(schema(), indent=1, ensure_ascii=False))
