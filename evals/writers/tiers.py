"""Tiers for annotation tools: Praat TextGrid and ELAN .eaf.

A TextGrid's interval tiers fill the whole file and may not overlap, so that a tier whose labels do
is written as points at their starts.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from xml.sax.saxutils import escape, quoteattr

from evals.labels import Label, Tiers


def textgrid(tiers: Tiers, duration_s: float) -> str:
    """Long form; times to a microsecond, the gaps between labels filled with empty intervals."""
    head = [
        'File type = "ooTextFile"',
        'Object class = "TextGrid"',
        "",
        "xmin = 0",
        f"xmax = {duration_s:.6f}",
    ]
    head += ["tiers? <exists>", f"size = {len(tiers)}", "item []:"]
    body = [line for n, name in enumerate(tiers, 1) for line in _tier(n, name, tiers[name], duration_s)]
    return "\n".join([*head, *body]) + "\n"


def _tier(number: int, name: str, labels: tuple[Label, ...], duration_s: float) -> Iterator[str]:
    points = overlapping(labels)
    yield f"    item [{number}]:"
    yield f'        class = "{"TextTier" if points else "IntervalTier"}"'
    yield f"        name = {_quoted(name)}"
    yield "        xmin = 0"
    yield f"        xmax = {duration_s:.6f}"
    if points:
        yield f"        points: size = {len(labels)}"
        for n, label in enumerate(sorted(labels), 1):
            yield f"        points [{n}]:"
            yield f"            number = {label.start:.6f}"
            yield f"            mark = {_quoted(label.text)}"
        return
    filled = list(_filled(labels, duration_s))
    yield f"        intervals: size = {len(filled)}"
    for n, label in enumerate(filled, 1):
        yield f"        intervals [{n}]:"
        yield f"            xmin = {label.start:.6f}"
        yield f"            xmax = {label.end:.6f}"
        yield f"            text = {_quoted(label.text)}"


def overlapping(labels: tuple[Label, ...]) -> bool:
    """Two labels share time, or one has no length."""
    order = sorted(labels)
    return any(a.end > b.start + 1e-6 for a, b in pairwise(order)) or any(
        label.end <= label.start for label in order
    )


def _filled(labels: tuple[Label, ...], duration_s: float) -> Iterator[Label]:
    at = 0.0
    for label in sorted(labels):
        if label.start > at + 1e-6:
            yield Label(at, label.start)
        yield label
        at = label.end
    if duration_s > at + 1e-6 or not labels:
        yield Label(at, duration_s)


def _quoted(text: str) -> str:
    return '"' + " ".join(text.split()).replace('"', '""') + '"'


def eaf(tiers: Tiers, media: str) -> str:
    """Whole milliseconds; every label has two time slots of its own."""
    flat = [(name, label) for name, labels in tiers.items() for label in sorted(labels)]
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<ANNOTATION_DOCUMENT AUTHOR="" DATE="1970-01-01T00:00:00+00:00" FORMAT="3.0" VERSION="3.0"'
        ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
        ' xsi:noNamespaceSchemaLocation="http://www.mpi.nl/tools/elan/EAFv3.0.xsd">',
        '  <HEADER MEDIA_FILE="" TIME_UNITS="milliseconds">',
        f'    <MEDIA_DESCRIPTOR MEDIA_URL={quoteattr(media)} MIME_TYPE="audio/x-wav"/>',
        "  </HEADER>",
        "  <TIME_ORDER>",
    ]
    for n, (_, label) in enumerate(flat):
        for slot, time in ((2 * n + 1, label.start), (2 * n + 2, label.end)):
            lines.append(f'    <TIME_SLOT TIME_SLOT_ID="ts{slot}" TIME_VALUE="{round(time * 1000)}"/>')
    lines.append("  </TIME_ORDER>")
    number = 0
    for name, labels in tiers.items():
        lines.append(f'  <TIER LINGUISTIC_TYPE_REF="default-lt" TIER_ID={quoteattr(name)}>')
        for label in sorted(labels):
            lines.append(_annotation(number, label))
            number += 1
        lines.append("  </TIER>")
    lines += [
        '  <LINGUISTIC_TYPE GRAPHIC_REFERENCES="false" LINGUISTIC_TYPE_ID="default-lt"'
        ' TIME_ALIGNABLE="true"/>',
        "</ANNOTATION_DOCUMENT>",
    ]
    return "\n".join(lines) + "\n"


def _annotation(number: int, label: Label) -> str:
    slots = f'TIME_SLOT_REF1="ts{2 * number + 1}" TIME_SLOT_REF2="ts{2 * number + 2}"'
    return (
        f'    <ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="a{number + 1}" {slots}>'
        f"<ANNOTATION_VALUE>{escape(label.text)}</ANNOTATION_VALUE>"
        "</ALIGNABLE_ANNOTATION></ANNOTATION>"
    )
