"""ELAN's .eaf: XML text in, tiers out; times are whole milliseconds. Refuses to know what the tiers mean."""

from __future__ import annotations

from xml.etree import ElementTree

from evals.conversation import InputError
from evals.labels import Label


def parse_eaf(text: str) -> dict[str, tuple[Label, ...]]:
    """Tiers by id. Raises InputError where it is none, declares entities, or a time is missing."""
    if "<!ENTITY" in text:
        raise InputError("is no ELAN file: it declares entities")
    try:
        root = ElementTree.fromstring(text)
        times = {
            slot.attrib["TIME_SLOT_ID"]: int(slot.attrib["TIME_VALUE"]) / 1000
            for slot in root.iterfind("TIME_ORDER/TIME_SLOT")
        }
        return {tier.attrib["TIER_ID"]: _labels(tier, times) for tier in root.iterfind("TIER")}
    except (ElementTree.ParseError, KeyError, ValueError) as error:
        raise InputError(f"is no ELAN file: {error}") from None


def _labels(tier: ElementTree.Element, times: dict[str, float]) -> tuple[Label, ...]:
    return tuple(
        Label(
            times[note.attrib["TIME_SLOT_REF1"]],
            times[note.attrib["TIME_SLOT_REF2"]],
            note.findtext("ANNOTATION_VALUE") or "",
        )
        for note in tier.iterfind("ANNOTATION/ALIGNABLE_ANNOTATION")
    )
