"""Pieces of HTML with everything escaped. Refuses to know what the page is about."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

Html = str
"""Text that is markup already; plain text becomes it by `text`."""


def text(plain: object) -> Html:
    """Anything as text of the page."""
    return escape(str(plain), quote=True)


def element(name: str, *content: Html, **attributes: str | None) -> Html:
    """`<name attributes>content</name>`; class_ is class, data_x is data-x; None leaves one out."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{text(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{given}>{''.join(content)}</{name}>"


def facts(pairs: Iterable[tuple[str, Html]]) -> Html:
    """A list of terms and what they are."""
    rows = (
        element("div", element("dt", text(term)), element("dd", content))
        for term, content in pairs
        if content
    )
    return element("dl", *rows, class_="facts")


def table(head: Sequence[str], rows: Iterable[Html], caption: str) -> Html:
    """A table in a box that scrolls sideways on its own; rows are `<tr>` elements.

    The first column names the row; the others are figures and stand to the right.
    """
    columns = (
        element("th", text(title), scope="col", class_="figure" if n else None)
        for n, title in enumerate(head)
    )
    inner = element(
        "table",
        element("caption", text(caption)),
        element("thead", element("tr", *columns)),
        element("tbody", *rows),
    )
    return element("div", inner, class_="wide", tabindex="0", role="region", aria_label=caption)


def data_block(identity: str, data: Any) -> Html:
    """Data for the page's script, inside the page; nothing in it can end the element."""
    content = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    harmless = content.replace("<", "\\u003c")
    return f'<script type="application/json" id="{text(identity)}">{harmless}</script>\n'


def sound_block(identity: str, base64_text: str) -> Html:
    """Sound inside the page, for its script."""
    return f'<script type="text/plain" id="{text(identity)}">{base64_text}</script>\n'
