"""Transcripts that disturb nobody: written aside, by the policy, redacted before they touch the disk."""

from __future__ import annotations

import logging
import resource
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from duet_client.wire import WireError
from server.transcripts.desk import WAITING
from server.transcripts.redaction import Redaction, load_redaction
from tests.server.transcripts.keeping import ID, WAIT_S, desk, lines, talk, whole, word


def everything(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_each_word_is_a_line_with_its_channel_source_times_and_probability(tmp_path: Path) -> None:
    with desk(tmp_path) as made:
        entry = made.desk.open(ID, {})
        talk(entry)
        entry.close("close_requested", 50)
    hello = {"channel": "user", "source": "whisper", "word": "Hello"}
    assert lines(tmp_path)[0] == hello | {"start_ms": 100, "end_ms": 300, "probability": 0.9}
    told = [(each["channel"], each["source"], each.get("word", each.get("text"))) for each in lines(tmp_path)]
    assert told == [
        ("user", "whisper", "Hello"),
        ("user", "whisper", "there."),
        ("agent", "whisper", "Hi."),
        ("agent", "model", "Hi"),
    ]


def test_a_call_that_ended_has_its_words_and_later_the_last_pass(tmp_path: Path) -> None:
    with desk(tmp_path) as made:
        entry = made.desk.open(ID, {"wire": "live"})
        talk(entry)
        entry.close("close_requested", 50)
        entry.utterance("user", 80, 620, [word("Hallo", 100), word("there!", 400)])
        entry.restart()  # its transcriber was killed; another begins anew
        entry.utterance("user", 80, 620, [word("Hello,", 100), word("there.", 400)])
        waiting = made.desk.is_writing(ID)
        entry.final("tiny.en", 4_000)
        assert (waiting, made.desk.is_writing(ID)) == (True, False)
    content = whole(tmp_path)
    told = {name: content[name] for name in ("status", "keep", "wire", "reason", "frames", "duration_ms")}
    assert told == {
        "status": "final",
        "keep": "full",
        "wire": "live",
        "reason": "close_requested",
        "frames": 50,
        "duration_ms": 4_000,
    }
    assert content["transcriber"] == {"model": "tiny.en"}
    assert [each["text"] for each in content["utterances"]] == ["Hello, there."]
    assert [each["text"] for each in content["agent_text"]] == ["Hi"]
    assert content["guardrails"] == {
        "hits": 1,
        "first": [{"rule": "manners", "listen": "user", "action": "flag", "at_ms": 640}],
    }
    assert content["disagreement"] == {"episodes": 0, "worst": None, "first": []}


def test_without_a_last_pass_the_live_words_are_the_transcript(tmp_path: Path) -> None:
    with desk(tmp_path, wants_final=False) as made:
        entry = made.desk.open(ID, {})
        talk(entry)
        entry.close("connection_lost", 50)
        assert not made.desk.is_writing(ID)
    assert whole(tmp_path)["status"] == "closed"
    assert [each["text"] for each in whole(tmp_path)["utterances"]] == ["Hello there.", "Hi."]


def test_with_metadata_there_are_counts_and_times_and_no_word_on_disk(tmp_path: Path) -> None:
    with desk(tmp_path, keep="metadata") as made:
        entry = made.desk.open(ID, {})
        talk(entry)
        entry.close("close_requested", 50)
        entry.utterance("user", 80, 620, [word("Hello,", 100)])
        entry.final("tiny.en", 4_000)
    assert [path.name for path in tmp_path.iterdir()] == [f"{ID}.transcript.json"]
    content = whole(tmp_path)
    assert content["counts"] == {
        "user": {"words": 2, "spoken_ms": 400},
        "agent": {"words": 1, "spoken_ms": 200, "written_words": 1},
    }
    assert content["guardrails"]["hits"] == 1
    assert not any(text in everything(tmp_path) for text in (b"Hello", b"there", b"Hi"))


def test_with_off_nothing_is_on_disk_and_words_are_still_kept_in_order(tmp_path: Path) -> None:
    folder = tmp_path / "none"
    with desk(folder, keep="off") as made:
        entry = made.desk.open(ID, {})
        talk(entry)
        assert entry.words("user", [word("Hello", 100)], 1_000).repeated == 1
        entry.close("close_requested", 50)
        assert made.desk.find(ID) is None
        assert not made.desk.wants_final
        assert not made.desk.is_writing(ID)
    assert not folder.exists()


def test_an_end_that_is_told_twice_is_one_end(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with desk(tmp_path, wants_final=False) as made:
        entry = made.desk.open(ID, {})
        talk(entry)
        entry.close("close_requested", 50)
        entry.discard()
        entry.final("tiny.en", 4_000)
    assert whole(tmp_path)["status"] == "closed"
    assert caplog.records == []


def test_a_transcript_is_found_once_its_call_has_ended(tmp_path: Path) -> None:
    with desk(tmp_path) as made:
        entry = made.desk.open(ID, {})
        talk(entry)
        assert made.desk.find(ID) is None
        entry.close("close_requested", 50)
    assert made.desk.find(ID) == tmp_path / f"{ID}.transcript.json"
    assert made.desk.find("../" + ID) is None


def test_transcripts_are_for_their_owner_only(tmp_path: Path) -> None:
    folder = tmp_path / "calls"
    with desk(folder) as made:
        entry = made.desk.open(ID, {})
        talk(entry)
        entry.close("close_requested", 50)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    assert (modes, stat.S_IMODE(folder.stat().st_mode)) == ({0o600}, 0o700)


@contextmanager
def disk_takes(file_bytes: int) -> Iterator[None]:
    """No file of this process may grow beyond; the kernel refuses the write as it would on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_is_told_once_and_counted_and_leaves_whole_lines(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with desk(tmp_path) as made, disk_takes(1_000):
        entry = made.desk.open(ID, {})
        for n in range(40):
            entry.words("user", [word(f"w{n}", n * 300)], n * 300 + 300)
        entry.close("close_requested", 150)
        entry.discard()
        made.desk.close()
    kept = lines(tmp_path)
    assert [each["word"] for each in kept] == [f"w{n}" for n in range(len(kept))]
    assert 5 < len(kept) < 40
    assert made.metric("duet_transcript_lines_lost_total") >= 40 - len(kept)
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    assert "File too large" in caplog.text


def test_a_folder_that_cannot_be_made_costs_the_transcript_and_not_the_call(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("no folder")
    with desk(tmp_path / "file") as made:
        entry = made.desk.open(ID, {})
        talk(entry)
        assert entry.words("user", [word("more", 2_000)], 3_000).words == (word("more", 2_000),)
        entry.close("close_requested", 50)
    assert len(caplog.records) == 1
    assert made.metric("duet_transcript_lines_lost_total") >= 5


def test_a_disk_that_stands_still_holds_nobody_up_and_what_it_missed_is_counted(tmp_path: Path) -> None:
    go = threading.Event()
    with desk(tmp_path) as made:
        made.desk.hand(lambda: go.wait(WAIT_S))
        entry = made.desk.open(ID, {})
        for n in range(WAITING + 50):
            entry.words("user", [word(f"w{n}", n * 300)], n * 300 + 300)
        go.set()
        entry.close("close_requested", 5_000)
    assert len(lines(tmp_path)) == WAITING
    assert made.metric("duet_transcript_lines_lost_total") == whole(tmp_path)["lines_lost"] == 50


def secrets(tmp_path: Path) -> Redaction:
    file = tmp_path / "redact.toml"
    file.write_text("[patterns]\ncode = 'blue moon'\n")
    return load_redaction(file)


def test_what_a_pattern_covers_never_touches_the_disk_in_either_file(tmp_path: Path) -> None:
    folder, redaction = tmp_path / "calls", secrets(tmp_path)
    with desk(folder, redaction=redaction) as made:
        entry = made.desk.open(ID, {})
        entry.agent_text(1, " Once in a blu")
        entry.agent_text(2, "e moon, yes")
        entry.words("user", [word("a", 100), word("Blue", 400)], 900)
        seen_before = everything(folder) if folder.exists() else b""
        entry.words("user", [word("moon.", 1_000), word("Right", 1_300)], 1_900)
        entry.close("close_requested", 50)
        entry.utterance("user", 80, 700, [word("a", 100), word("blue", 400)])
        entry.utterance("user", 1_000, 1_700, [word("Moon.", 1_000), word("Right", 1_300)])
        entry.final("tiny.en", 4_000)
    assert [each.get("word", each.get("text")) for each in lines(folder)] == [
        *("Once", "in", "a", "[code]", "[code]", "yes"),
        *("a", "[code]", "[code]", "Right"),
    ]
    assert [each["text"] for each in whole(folder)["utterances"]] == ["a [code]", "[code] Right"]
    written = [each["text"] for each in whole(folder)["agent_text"]]
    assert written == ["Once", "in", "a", "[code]", "[code]", "yes"]
    for text in (b"blue", b"moon"):
        assert text not in (seen_before + everything(folder)).lower()


def test_the_same_words_told_by_two_transcribers_stand_once_on_disk(tmp_path: Path) -> None:
    with desk(tmp_path) as made:
        entry = made.desk.open(ID, {})
        entry.words("user", [word("one", 100)], 500)
        entry.words("user", [word("one", 110), word("two", 600)], 900)
        with pytest.raises(WireError):
            entry.words("user", [], 800)
        entry.close("close_requested", 50)
    assert [each["word"] for each in lines(tmp_path)] == ["one", "two"]
    assert made.metric("duet_transcript_words_total", channel="user") == 2
    assert made.metric("duet_transcript_words_repeated_total") == 1


def test_lag_and_words_are_signs_of_life_of_the_transcriber(tmp_path: Path) -> None:
    with desk(tmp_path, keep="off") as made:
        entry = made.desk.open(ID, {})
        before = made.desk.signs
        entry.lag(1_400, 900, "streaming")
        entry.words("user", [], 100)
        assert made.desk.signs == before + 2
    assert made.metric("transcript_lag_seconds_sum", channel="user") == 1.4
    assert made.metric("transcript_lag_seconds_bucket", channel="agent", le="1.0") == 1


def test_an_agent_that_says_other_words_than_it_writes_is_told_once_and_noted(tmp_path: Path) -> None:
    with desk(tmp_path) as made:
        entry = made.desk.open(ID, {})
        for n in range(60):
            entry.agent_text(n * 5, f" written{n}")
            entry.words("agent", [word(f"heard{n}", n * 400)], n * 400 + 400)
        (notice,) = entry.notices()
        assert (notice.code, entry.notices()) == ("transcript_disagrees", [])
        entry.close("close_requested", 400)
    assert whole(tmp_path)["disagreement"]["episodes"] == 1
    assert whole(tmp_path)["disagreement"]["worst"] == 1.0


def test_words_that_come_late_for_a_call_that_has_ended_are_kept(tmp_path: Path) -> None:
    with desk(tmp_path, redaction=secrets(tmp_path)) as made:
        entry = made.desk.open(ID, {})
        entry.words("user", [word("once", 100), word("blue", 500)], 900)
        entry.close("close_requested", 50)
        entry.words("user", [word("moon", 1_000), word("rises", 1_400)], 1_900)
        entry.discard()
        assert not made.desk.is_writing(ID)
    assert [each["word"] for each in lines(tmp_path)] == ["once", "[code]", "[code]", "rises"]
    assert whole(tmp_path)["status"] == "closed"
    assert whole(tmp_path)["utterances"][0]["text"] == "once [code] [code] rises"


@pytest.mark.parametrize("session_id", ["", ID.upper(), ID + "0", f"../{ID}", f"{ID}\n"])
def test_what_is_no_session_id_never_becomes_a_path(tmp_path: Path, session_id: str) -> None:
    with desk(tmp_path) as made, pytest.raises(ValueError, match="session_id must be"):
        made.desk.open(session_id, {})


def test_a_change_of_mode_is_logged_once_for_each_call_whatever_other_calls_tell(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    other = "sess_" + "f" * 32
    with desk(tmp_path) as made, caplog.at_level(logging.INFO, "duet"):
        ended, running = made.desk.open(ID, {}), made.desk.open(other, {})
        for _ in range(5):
            ended.lag(0, 0, "utterances")
            running.lag(0, 0, "streaming")
    assert [each for each in caplog.messages if "in mode" in each] == [
        "the transcriber hears it in mode utterances now"
    ]
