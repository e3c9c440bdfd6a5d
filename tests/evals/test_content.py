"""Rates of speech, word errors, opinions: known answers and edges."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from evals.content import normalised, word_errors
from evals.conversation import ChannelName, Conversation, InputError, Samples
from evals.extras import Extras, opinions
from evals.judge import Judge, parse_grade
from evals.words import Word
from tests.evals import golden


def spoken(texts: list[str], start: float, end: float, channel: ChannelName = "agent") -> tuple[Word, ...]:
    step = (end - start) / len(texts)
    return tuple(
        Word(text, start + n * step, start + (n + 1) * step, None, channel) for n, text in enumerate(texts)
    )


def worded(
    words: dict[ChannelName, tuple[Word, ...]], reference: dict[ChannelName, str] | None = None
) -> Conversation:
    talk = golden.conversation(user=((10.0, 12.0),), agent=((2.0, 6.0),), duration_s=15.0)
    return replace(talk, words=words, reference=reference or {})


def test_ten_words_in_four_seconds_are_150_a_minute() -> None:
    result = golden.scored(worded({"agent": spoken(["la"] * 10, 2.0, 6.0)}))
    assert golden.metric(result, "wpm_agent").value == pytest.approx(150)
    assert golden.metric(result, "wpm_fdb_agent").value == pytest.approx(150)


@pytest.mark.parametrize("texts", [[], ["la"]])
def test_fewer_than_two_words_have_no_rate(texts: list[str]) -> None:
    words = spoken(texts, 2.0, 2.5) if texts else ()
    result = golden.scored(worded({"agent": words}))
    assert golden.metric(result, "wpm_agent").value is None


def test_words_are_held_against_the_script() -> None:
    pytest.importorskip("jiwer")
    words: dict[ChannelName, tuple[Word, ...]] = {"agent": spoken(["It's", "five", "past", "Ten!"], 2.0, 6.0)}
    script: dict[ChannelName, str] = {"agent": "its ten past ten, sir"}
    found = golden.metric(golden.scored(worded(words, reference=script)), "wer_agent")
    assert (found.numerator, found.denominator) == (3, 5)


def test_an_empty_script_has_no_rate_and_an_unheard_one_is_all_wrong() -> None:
    assert word_errors(" ,. ", "hello") == (0, 0)
    assert word_errors("hello there", "") == (2, 2)
    result = golden.scored(worded({"agent": spoken(["a", "b"], 2, 3)}, reference={"agent": ""}))
    assert golden.metric(result, "wer_agent").value is None


def test_case_and_punctuation_are_no_errors() -> None:
    assert normalised("  Don’t -- STOP, “now”!") == "don't stop now"


def loudness(samples: Samples, rate: int) -> float:
    return float(len(samples) / rate)


def test_a_speech_quality_model_is_called_by_name() -> None:
    found = opinions(golden.conversation(), Extras(mos="tests.evals.test_content:loudness")).metrics
    assert {m.id: m.value for m in found} == {"mos_user": 60.0, "mos_agent": 60.0}


@pytest.mark.parametrize("name", ["nowhere:at_all", "json:nothing", "json"])
def test_a_speech_quality_model_that_is_not_there_is_named(name: str) -> None:
    with pytest.raises(InputError, match=f"MODULE:FUNCTION that can be imported, not '{name}'"):
        opinions(golden.conversation(), Extras(mos=name))


@contextmanager
def endpoint(answer: str) -> Iterator[tuple[str, list[dict[str, object]]]]:
    """An endpoint that gives every question one answer, and what it was asked."""
    asked: list[dict[str, object]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            body = json.dumps({"choices": [{"message": {"content": answer}}]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1", asked
        finally:
            server.shutdown()
            thread.join()


def test_the_judge_is_asked_once_for_the_same_words_and_sees_no_times(tmp_path: Path) -> None:
    talk = worded({"agent": spoken(["ten", "past"], 2, 3), "user": spoken(["when"], 10, 11, "user")})
    with endpoint('Sure: {"grade": 4, "why": "good"}') as (url, asked):
        extras = Extras(judge_url=url, judge_model="m", cache=tmp_path)
        for _ in range(2):
            (found,) = opinions(talk, extras).metrics
            assert (found.id, found.value) == ("judge_score", 4.0)
    assert len(asked) == 1
    messages = asked[0]["messages"]
    assert isinstance(messages, list)
    assert messages[1]["content"] == "USER:\nwhen\n\nAGENT:\nten past"


def test_without_words_the_judge_is_not_asked(tmp_path: Path) -> None:
    with endpoint("{}") as (url, asked):
        (found,) = opinions(
            golden.conversation(), Extras(judge_url=url, judge_model="m", cache=tmp_path)
        ).metrics
    assert (found.value, asked) == (None, [])


@pytest.mark.parametrize("answer", ["I like it", '{"grade": 6}', '{"why": "x"}', '{"grade": '])
def test_an_answer_without_a_grade_is_no_grade(answer: str) -> None:
    with pytest.raises(InputError, match="no grade from 0 to 5"):
        parse_grade(answer)


def test_a_judge_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the judge at http://127.0.0.1:9/v1 gave no answer"):
        Judge("http://127.0.0.1:9/v1", "m", tmp_path).score("a", "b")
