"""How every plot looks, and how a figure becomes PNG, SVG and a piece of the page.

Colours are Okabe and Ito's, which people with the common kinds of colour blindness tell apart; no
plot relies on colour alone. In the page each colour becomes a variable of the style sheet, so that
plots follow the reader's light or dark theme. The same figure gives the same bytes.

Refuses to know what is drawn.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

INK = "#1e2227"
QUIET = "#5c6570"
LINE = "#d9d9d4"
USER = "#0072b2"
AGENT = "#d55e00"
MARK = "#009e73"
WARN = "#b3261e"
PAGE = "#fefefe"
"""Behind the plot; not pure white, so that nothing else in a figure has this colour."""

VARIABLES = {
    INK: "--ink",
    QUIET: "--quiet",
    LINE: "--line",
    USER: "--user",
    AGENT: "--agent",
    MARK: "--mark",
    WARN: "--warn",
    PAGE: "--card",
}
WIDTH_IN = 6.4
DPI = 160

_SETTINGS: Any = {
    "axes.edgecolor": QUIET,
    "axes.labelcolor": INK,
    "axes.labelsize": 9,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlelocation": "left",
    "axes.titlesize": 9.5,
    "axes.axisbelow": True,
    "figure.constrained_layout.use": True,
    "figure.facecolor": PAGE,
    "axes.facecolor": PAGE,
    "font.family": ["DejaVu Sans"],
    "font.size": 9,
    "grid.color": LINE,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "savefig.facecolor": PAGE,
    "svg.fonttype": "none",
    "text.color": INK,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
}


@contextmanager
def house_style() -> Iterator[None]:
    """Figures made and saved in here have the house's looks, whatever the user's matplotlibrc says."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_SETTINGS)
        yield


def new_figure(
    rows: int,
    height_in: float,
    *,
    columns: int = 1,
    share_x: bool = True,
    heights: Sequence[float] | None = None,
) -> tuple[Figure, Any]:
    """A figure of the house's width and its axes, as an array [rows, columns]; heights: of the rows."""
    figure = Figure(figsize=(WIDTH_IN, height_in))
    axes = figure.subplots(rows, columns, sharex=share_x, squeeze=False, height_ratios=heights)
    return figure, axes


def no_events(axes: Axes, what: str) -> None:
    """An empty panel says so, in place of an empty frame that could be read as zeros."""
    axes.text(0.5, 0.5, f"no events: {what}", transform=axes.transAxes, ha="center", va="center", color=QUIET)
    axes.set_yticks([])
    axes.tick_params(length=0, labelbottom=False)
    for spine in axes.spines.values():
        spine.set_edgecolor(LINE)


def png(figure: Figure) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=DPI, metadata={"Software": None})
    return file.getvalue()


def svg(figure: Figure, name: str) -> str:
    """A standalone SVG; `name` makes its inner ids its own."""
    file = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": name}):
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return file.getvalue().decode("utf-8")


def inline_svg(document: str, name: str, description: str) -> str:
    """The SVG as an element of the page: its colours are the page's, its ids nobody else's.

    description: what a reader who cannot see the plot is told.
    """
    element = document[document.index("<svg") :]
    for colour, variable in VARIABLES.items():
        element = element.replace(colour, f"var({variable})")
    element = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", element)
    element = re.sub(r"<metadata>.*?</metadata>", "", element, flags=re.DOTALL)
    opening = f'<svg role="img" aria-label="{description}"'
    return re.sub(
        r'^<svg([^>]*?) (width|height)="[^"]*"([^>]*?) (width|height)="[^"]*"', r"<svg\1\3", element
    ).replace("<svg", opening, 1)


def write_plot(figure: Figure, folder: Path, name: str) -> str:
    """Write `name`.png and `name`.svg into the folder; return the SVG document."""
    document = svg(figure, name)
    (folder / f"{name}.png").write_bytes(png(figure))
    (folder / f"{name}.svg").write_text(document, encoding="utf-8")
    return document
