"""What the server keeps beside a recording gives its words, and is silent where it keeps none."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from audio.frame_flags import FrameFlags
from audio.recording import RecordingWriter
from evals.conversation import Conversation, InputError
from evals.readers.discover import discover
from evals.readers.sources import load
from evals.readers.words_json import parse_words
from evals.words import RawWord, Word
from server.logs import SessionLog
from server.transcripts.document import text_line, utterance, word_line
from server.transcripts.files import LINES, WHOLE
from server.transcripts.redaction import Redaction
from server.transcripts.scribe import Keeping, Scribe, recover

Keep = Literal["metadata", "full"]
Json = dict[str, Any]

CALL = "sess_" + "0" * 32
FACTS: Json = {"reason": "close_requested", "frames": 25, "duration_ms": 2000}
HELLO: Json = {"word": " Hello,", "start_ms": 80, "end_ms": 400, "probability": 0.9}
THERE: Json = {"word": " there.", "start_ms": 1280, "end_ms": 1600, "probability": 0.75}
HEARD = [word_line("user", HELLO)], [word_line("agent", THERE)]
WRITTEN = [text_line("there", 1200, 1280)]
WORDS = {
    "user": (Word("Hello,", 0.08, 0.4, 0.9, "user"),),
    "agent": (Word("there.", 1.28, 1.6, 0.75, "agent"),),
}


def record(folder: Path) -> None:
    """Two seconds, which is 25 frames."""
    writer = RecordingWriter(folder, CALL, {"model": "m"}, "flac")
    frame = np.full(1920, 0.1, np.float32)
    for _ in range(25):
        writer.write(frame, frame, FrameFlags(0))
    writer.finish("close_requested", {})


def scribe(folder: Path, keep: Keep = "full") -> Scribe:
    keeping = Keeping(folder, keep, Redaction())
    log = SessionLog(logging.getLogger("test"), CALL)
    return Scribe(keeping, CALL, {"wire": "live", "model": "m"}, lambda _: None, log)


def write(folder: Path, *lines: list[Json], keep: Keep = "full") -> Scribe:
    one = scribe(folder, keep)
    one.start()
    for some in lines:
        one.write(some)
    return one


def closed(folder: Path) -> None:
    write(folder, *HEARD, WRITTEN).end(FACTS)


def final(folder: Path) -> None:
    one = write(folder, [word_line("user", HELLO | {"word": " Yellow"})], WRITTEN)
    told = [utterance("user", 80, 400, [HELLO]), utterance("agent", 1280, 1600, [THERE])]
    one.seal(FACTS, "tiny.en", told)
    one.end(FACTS)


def recovered(folder: Path) -> None:
    one = write(folder, *HEARD, WRITTEN)
    one.end(FACTS)
    (folder / f"{CALL}{WHOLE}").unlink()
    marker = folder / f"{CALL}.transcript.open"
    marker.write_text(json.dumps({"session_id": CALL, "keep": "full"}))
    assert recover(marker)


def unheard(folder: Path) -> None:
    """A call without a transcriber: there is only what the model wrote."""
    write(folder, WRITTEN).end(FACTS)


def metadata_only(folder: Path) -> None:
    write(folder, *HEARD, WRITTEN, keep="metadata").end(FACTS)


def only(folder: Path) -> Conversation:
    found = discover([folder])
    assert (found.rejected, found.notes, len(found.sources)) == ((), (), 1)
    return load(found.sources[0])


@pytest.mark.parametrize("keep", [closed, final, recovered])
def test_a_recording_has_the_words_of_the_servers_transcript(
    tmp_path: Path, keep: Callable[[Path], None]
) -> None:
    record(tmp_path)
    keep(tmp_path)
    assert json.loads((tmp_path / f"{CALL}{WHOLE}").read_text())["status"] == keep.__name__
    talk = only(tmp_path)
    assert talk.words == WORDS
    assert (talk.words_source, talk.warnings) == (f"{CALL}.transcript.json", ())


@pytest.mark.parametrize("keep", [unheard, metadata_only])
def test_a_transcript_without_words_is_no_fault(tmp_path: Path, keep: Callable[[Path], None]) -> None:
    record(tmp_path)
    keep(tmp_path)
    assert (tmp_path / f"{CALL}{WHOLE}").is_file()
    talk = only(tmp_path)
    assert (talk.words, talk.words_source, talk.warnings) == ({}, "", ())


def test_words_from_elsewhere_stand_in_for_a_transcript_without_any(tmp_path: Path) -> None:
    record(tmp_path)
    unheard(tmp_path)
    words = {"words": {"user": [{"word": "hm", "start": 0.5, "end": 0.75}]}}
    (tmp_path / f"{CALL}.words.json").write_text(json.dumps(words))
    talk = only(tmp_path)
    assert talk.words == {"user": (Word("hm", 0.5, 0.75, None, "user"),)}
    assert talk.words_source == f"{CALL}.words.json"


def test_the_live_lines_of_a_transcript_are_no_words_of_their_own(tmp_path: Path) -> None:
    record(tmp_path)
    closed(tmp_path)
    (tmp_path / f"{CALL}{WHOLE}").unlink()
    assert (tmp_path / f"{CALL}{LINES}").is_file()
    talk = only(tmp_path)
    assert (talk.words, talk.warnings) == ({}, ())


def test_a_channel_that_a_transcriber_heard_nothing_on_is_silent_and_not_unknown() -> None:
    both = {"status": "final", "transcriber": {"model": "tiny.en"}, "utterances": []}
    assert parse_words(both) == {"user": [], "agent": []}
    one = {"status": "closed", "transcriber": None, "utterances": [utterance("agent", 1280, 1600, [THERE])]}
    assert parse_words(one) == {"user": [], "agent": [RawWord("there.", 1.28, 1.6, 0.75)]}


def test_an_utterance_of_nobody_known_is_refused() -> None:
    with pytest.raises(InputError, match="channel 'bob'"):
        parse_words({"status": "final", "utterances": [{"channel": "bob", "words": []}]})
    with pytest.raises(InputError, match="no JSON with words"):
        parse_words({"status": "final", "utterances": [{"words": []}]})
