"""An exception's message cut to the one line that a person can act on. Refuses to know who raised it."""

from __future__ import annotations

LONGEST = 300


def telling_line(error: BaseException) -> str:
    """The first line, but of torch's loading errors the second, where the first real mismatch stands.

    An exception without a message gives its type's name.
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if not lines:
        return type(error).__name__
    wordy = lines[0].startswith("Error(s) in loading state_dict") and len(lines) > 1
    return lines[1 if wordy else 0][:LONGEST]
