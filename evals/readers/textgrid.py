"""Praat TextGrids, long and short form: text in, tiers out.

Intervals without text are silence and left out. Refuses to know what the tiers mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from evals.conversation import InputError
from evals.labels import Label

_TOKEN = re.compile(r'"(?:[^"]|"")*"|<exists>|(?<![\w\[])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w\]])')


def parse_textgrid(text: str) -> dict[str, tuple[Label, ...]]:
    """Tiers by name. Raises InputError where it is none, or ends early."""
    if "ooTextFile" not in text[:100] or "TextGrid" not in text[:200]:
        raise InputError("is no TextGrid: it does not begin as one")
    tokens = iter(_TOKEN.findall(text)[2:])
    try:
        next(tokens), next(tokens)  # the file's extent
        if next(tokens) != "<exists>":
            return {}
        return dict(_tier(tokens) for _ in range(int(next(tokens))))
    except (StopIteration, ValueError, RuntimeError):
        raise InputError("is no whole TextGrid: it ends early or a number is missing") from None


def _tier(tokens: Iterator[str]) -> tuple[str, tuple[Label, ...]]:
    kind, name = _string(next(tokens)), _string(next(tokens))
    next(tokens), next(tokens)  # the tier's extent
    found = []
    for _ in range(int(next(tokens))):
        start = float(next(tokens))
        end = float(next(tokens)) if kind == "IntervalTier" else start
        label = _string(next(tokens))
        if label or kind != "IntervalTier":
            found.append(Label(start, end, label))
    return name, tuple(found)


def _string(token: str) -> str:
    if not token.startswith('"'):
        raise ValueError(token)
    return token[1:-1].replace('""', '"')
