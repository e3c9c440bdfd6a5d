"""What a checkpoint can be refused for. Refuses to know checkpoints."""

from __future__ import annotations


class Unsupported(Exception):
    """A checkpoint that the compact runtime cannot run; the message names the part."""


def refuse_if(condition: bool, what: str) -> None:
    if condition:
        raise Unsupported(what)
