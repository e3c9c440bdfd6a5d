"""The page, put together piece by piece.

Nothing in it is fetched: styles, script, plots, data and sound are inside, and the page's own
policy forbids every connection. Refuses to know how anything was measured.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Collection, Iterator
from importlib.resources import files

from evals.report.markup import Html, element, text

STYLES = ("colours.css", "report.css", "timeline.css")
SCRIPTS = ("player.js", "timeline.js", "events.js", "main.js")
LINKS = (
    ("metrics", "Model and people"),
    ("comparison", "Comparison"),
    ("plots", "Plots"),
    ("timelines", "Timelines"),
    ("events", "Events"),
    ("sources", "Sources"),
)


def _assets(names: Collection[str]) -> str:
    folder = files("evals.report") / "page"
    return "\n".join((folder / name).read_text("utf-8") for name in names)


def script() -> str:
    """All of the page's script, in one function of its own."""
    return f'(() => {{\n"use strict";\n{_assets(SCRIPTS)}}})();\n'


def policy(code: str) -> str:
    """Only this script may run, and nothing may be fetched; sound is played from the page itself."""
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "media-src blob:; img-src data:; base-uri 'none'; form-action 'none'"
    )


def page(title: str, sections: list[Html], data: Iterator[Html]) -> Iterator[str]:
    """The file's pieces, in order. data: what the script reads, in elements that it finds by id."""
    code = script()
    yield (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{text(policy(code))}">\n'
        f'<title>{text(title)}</title>\n<link rel="icon" href="data:,">\n'
        f"<style>\n{_assets(STYLES)}</style>\n</head>\n<body>\n"
    )
    yield _navigation(sections)
    for section in sections:
        yield f"{section}\n"
    yield from data
    yield f"<script>{code}</script>\n</body>\n</html>\n"


def _navigation(sections: list[Html]) -> Html:
    there = [(anchor, name) for anchor, name in LINKS if any(f' id="{anchor}"' in part for part in sections)]
    return element("nav", *(element("a", text(name), href=f"#{anchor}") for anchor, name in there)) + "\n"
