"""The capacity report as text. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from model.capacity.bounds import bounds, cost_of_minute, floor_s, mean_frames
from model.capacity.cards import Card
from model.capacity.sizes import Sizes

STEPS = (1, 8, 16, 32, 64)
CONTEXTS = (0.1, 0.25, 0.5, 1.0)


def report(
    sizes: Sizes, cards: Sequence[Card], minutes: Sequence[float], price: float | None, measured: str
) -> str:
    """price: of one machine-hour, or None. measured: a paragraph of what was timed here, or nothing."""
    parts = [_weights(sizes), *(_card(sizes, card, minutes, price) for card in cards)]
    return "\n\n".join([*parts, measured] if measured else parts)


def _weights(sizes: Sizes) -> str:
    rows = [["part", "parameters", "MB", "MB read each step"]]
    for part in sizes.parts:
        reads = _mb(sizes.read_of(part)) if part.reads else "rows only"
        rows.append([part.name, f"{part.parameters:,}", _mb(part.parameters * sizes.itemsize), reads])
    rows.append(["codec (float32)", f"{sizes.codec_all // 4:,}", _mb(sizes.codec_all), _mb(sizes.codec)])
    rows.append(["in all", "", _mb(sizes.weights), _mb(sizes.read)])
    past = (
        f"A session keeps {sizes.kv_frame:,} bytes of keys and values a frame for at most {sizes.context}"
        f" frames, and {sizes.codec_state:,} bytes of codec state:"
        f" {_mb(sizes.session(sizes.context))} MB when its context is full, which is what a server sets aside"
        " for every place at its start; it grows no further."
    )
    return f"{sizes.name}\n{table(rows)}\n\n{past}"


def _card(sizes: Sizes, card: Card, minutes: Sequence[float], price: float | None) -> str:
    contexts = [max(1, int(share * sizes.context)) for share in CONTEXTS]
    rows = [["sessions", *(f"context {frames}" for frames in contexts)]]
    for sessions in STEPS:
        times = (1000 * floor_s(sizes, card, sessions, frames) for frames in contexts)
        rows.append([str(sessions), *(f"{ms:.2f} ms" for ms in times)])
    return f"{card.name}: the floor of a step\n{table(rows)}\n\n{_sessions(sizes, card, minutes, price)}"


def _sessions(sizes: Sizes, card: Card, minutes: Sequence[float], price: float | None) -> str:
    rows = [["calls of", "mean context", "by memory", "by bandwidth", "by deadline", "sessions"]]
    if price is not None:
        rows[0].append("a call's minute")
    for length in minutes:
        mean = mean_frames(sizes, length)
        found = bounds(sizes, card, mean, length * 750)
        counts = (found.memory, found.bandwidth, found.deadline, found.sessions)
        row = [f"{length:g} min", f"{mean:.0f}", *(str(max(0, count)) for count in counts)]
        if price is not None:
            cost = cost_of_minute(price, found.sessions)
            row.append("-" if cost is None else f"{cost:.5f}")
        rows.append(row)
    return f"{card.name}: sessions\n{table(rows)}"


def table(rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as they must be, the first to the left, the others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if i else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )


def _mb(count: float) -> str:
    return f"{count / 1e6:,.1f}"
