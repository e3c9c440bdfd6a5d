"""What a log line looks like, and what never stands in it."""

from __future__ import annotations

import io
import json
import logging
import re
from collections.abc import Iterator

import pytest

from server.logs import SessionLog, hide_in_logs, set_up_logs, utc

log = logging.getLogger("duet.test")


@pytest.fixture(autouse=True)
def _logging_as_it_was() -> Iterator[None]:
    root, ours = logging.getLogger(), logging.getLogger("duet")
    handlers, levels = root.handlers[:], (root.level, ours.level)
    yield
    root.handlers[:] = handlers
    root.setLevel(levels[0])
    ours.setLevel(levels[1])


def written(form: str, level: str = "info") -> io.StringIO:
    stream = io.StringIO()
    set_up_logs(level, form, stream)
    return stream


def test_times_are_utc_with_milliseconds() -> None:
    assert utc(0.0) == "1970-01-01T00:00:00.000Z"
    assert utc(1_700_000_000.5) == "2023-11-14T22:13:20.500Z"


def test_a_line_of_text_has_time_level_logger_and_message() -> None:
    stream = written("text")
    log.info("the model is warm after %d s", 4)
    assert re.fullmatch(
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z INFO duet\.test the model is warm after 4 s\n",
        stream.getvalue(),
    )


@pytest.mark.parametrize("form", ["text", "json"])
def test_every_message_of_a_session_names_it(form: str) -> None:
    stream = written(form)
    session = SessionLog(log, "sess_0123")
    session.info("started")
    session.warning("slow", extra={"more": 1})
    assert [line.count("sess_0123") for line in stream.getvalue().splitlines()] == [1, 1]


def test_json_is_one_object_a_line_whatever_the_message_holds() -> None:
    stream = written("json")
    SessionLog(log, "sess_0123").error('two\nlines and "quotes" and ü')
    (line,) = stream.getvalue().splitlines()
    entry = json.loads(line)
    assert entry.pop("time").endswith("Z")
    assert entry == {
        "level": "error",
        "logger": "duet.test",
        "message": 'two\nlines and "quotes" and ü',
        "session": "sess_0123",
    }


def test_a_traceback_stays_with_its_message() -> None:
    for form in ("text", "json"):
        stream = written(form)
        try:
            raise ValueError("broken part")
        except ValueError:
            log.exception("a step failed")
        first, *rest = stream.getvalue().splitlines()
        if form == "json":
            assert rest == []
            assert "ValueError: broken part" in json.loads(first)["traceback"]
        else:
            assert first.endswith("a step failed")
            assert rest[-1] == "    ValueError: broken part"


def test_a_message_with_a_line_break_cannot_forge_a_line_of_text() -> None:
    stream = written("text")
    log.info("model %s", "x\n2026-01-01T00:00:00.000Z INFO duet forged")
    assert len(stream.getvalue().splitlines()) == 1


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_key_that_somebody_logs_with_a_header_is_hidden(form: str) -> None:
    stream = written(form)
    log.warning("Client protocols %r don't overlap", ["duet.key.aHVzaA", "duet"])
    log.warning("headers: {'Authorization': 'Bearer hush-hush', 'Host': 'here'}")
    assert "aHVzaA" not in stream.getvalue()
    assert "hush" not in stream.getvalue()
    assert "'Host': 'here'" in stream.getvalue()


def test_less_serious_messages_than_asked_for_are_left_out() -> None:
    stream = written("text", level="warning")
    log.info("small talk")
    log.warning("fire")
    assert stream.getvalue().endswith("fire\n")
    assert "small talk" not in stream.getvalue()


def test_the_small_talk_of_libraries_is_left_out() -> None:
    stream = written("text", level="debug")
    logging.getLogger("torch.anything").info("cache statistics")
    log.debug("our own")
    assert "cache" not in stream.getvalue()
    assert "our own" in stream.getvalue()


@pytest.mark.parametrize("form", ["text", "json"])
def test_what_is_to_be_redacted_stands_in_no_message_and_no_traceback(form: str) -> None:
    stream = written(form)
    hide_in_logs(lambda text: text.replace("blue moon", "[code]"))
    try:
        raise ValueError("blue moon")
    except ValueError:
        log.exception("heard %s", "blue moon")
    assert "blue moon" not in stream.getvalue().replace('raise ValueError("blue moon")', "")
    assert "heard [code]" in stream.getvalue()
