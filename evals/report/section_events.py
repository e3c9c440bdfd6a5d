"""The parts that the page's script fills: the timeline of a conversation, the table of events, the player."""

from __future__ import annotations

from collections.abc import Collection

from evals.events import TYPES
from evals.report.look_of_events import look_of
from evals.report.markup import Html, element, text
from evals.results import RunResult

SECONDS_PER_ROW = (10, 20, 30, 60, 120)
FIRST_SECONDS_PER_ROW = 20
FIGURES = frozenset({"start", "length", "value"})
COLUMNS = (
    ("conversation", "conversation"),
    ("event", "name"),
    ("who", "channel"),
    ("at, s", "start"),
    ("lasts, s", "length"),
    ("value", "value"),
    ("words", "words"),
)


def timeline_section(run: RunResult, types: Collection[str]) -> Html:
    """types: those that occur, for the key to the marks."""
    conversations = (
        element("option", text(f"{entry.id} ({entry.duration_s:.0f} s)"), value=str(number))
        for number, entry in enumerate(run.conversations)
    )
    return element(
        "section",
        element("h2", "Timelines"),
        element(
            "p",
            "The user above, the agent below; pale: turns, solid: speech between silences, dashed: "
            "backchannels and greetings. Click an event to hear it, with half a second around it; click a "
            "lane to put the play head there. With the keyboard: Tab to the marks, arrows to "
            "walk, Enter to play.",
            class_="lead",
        ),
        element(
            "div",
            element("label", "conversation", element("select", *conversations, id="conversation")),
            element("label", "seconds in a row", element("select", *_row_lengths(), id="per-row")),
            class_="controls",
        ),
        element("p", id="about-conversation", class_="lead", aria_live="polite"),
        element("div", id="timeline"),
        _key(types),
        id="timelines",
    )


def _row_lengths() -> list[Html]:
    return [
        element(
            "option",
            str(seconds),
            value=str(seconds),
            selected="selected" if seconds == FIRST_SECONDS_PER_ROW else None,
        )
        for seconds in SECONDS_PER_ROW
    ]


def _key(types: Collection[str]) -> Html:
    entries = []
    for event_type in (*TYPES, *sorted(set(types) - set(TYPES))):
        if event_type in types:
            look = look_of(event_type)
            tag = element("span", text(look.code), class_=f"tag tone-{look.tone}")
            entries.append(element("li", tag, text(f" {look.name}"), title=TYPES.get(event_type, event_type)))
    return element("ul", *entries, class_="legend", aria_label="Key to the marks")


def events_section(run: RunResult, types: Collection[str]) -> Html:
    heads = [element("th", element("span", "play", class_="quiet"), scope="col")]
    heads += [
        element(
            "th",
            element("button", text(title), type="button", data_sort=key),
            scope="col",
            class_="figure" if key in FIGURES else None,
        )
        for title, key in COLUMNS
    ]
    heads.append(element("th", "remarks", scope="col"))
    grid = element(
        "table",
        element("caption", "Events"),
        element("thead", element("tr", *heads)),
        element("tbody"),
    )
    return element(
        "section",
        element("h2", "Events"),
        element("div", *_filters(run, types), class_="controls"),
        element("p", data_count="", class_="lead", role="status"),
        element("div", grid, class_="wide", tabindex="0", role="region", aria_label="Events"),
        element("p", element("button", "Show more", type="button", data_more="", hidden="hidden")),
        id="events",
    )


def _filters(run: RunResult, types: Collection[str]) -> list[Html]:
    names = sorted({look_of(event_type).name for event_type in types})
    search = '<input type="search" data-filter="text" placeholder="words, rule, id, tag">'
    doubtful = '<input type="checkbox" data-filter="doubtful">'
    return [
        element("label", "conversation", _choice("conversation", [entry.id for entry in run.conversations])),
        element("label", "event", _choice("name", names)),
        element("label", "who", _choice("channel", ["user", "agent"])),
        element("label", "text", search),
        element("label", doubtful, "only censored or not evaluable", class_="tick-box"),
    ]


def _choice(field: str, values: Collection[str]) -> Html:
    options = (element("option", text(value), value=value) for value in values)
    return element("select", element("option", "all", value=""), *options, data_filter=field)


def player() -> Html:
    return element(
        "div",
        element("button", "Play / pause", type="button", id="play-pause"),
        '<audio id="audio" controls preload="auto"></audio>',
        element("span", "Choose an event to hear it.", id="playing", role="status"),
        class_="player",
        role="region",
        aria_label="Player",
    )
