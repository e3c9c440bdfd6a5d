"""Where transcripts are kept, written on a thread of its own so that a slow or full disk delays nobody.

A call hands in its words and goes on. A call may have WAITING jobs waiting; the lines of what comes beyond
are lost and counted (`server.transcripts.scribe`). What stays of a call is the policy's to say:

    off        nothing is written; words still reach the caller, observers and guardrails
    metadata   times, counts, durations, guardrail hits and where agent and text disagree; no words
    full       all of that, every word as it comes, and the final transcript

Refuses to know wires and sockets.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from audio.frames import FRAME_MS
from duet_client.wire import Channel, LagMode, WireError, Word, write_words
from server.actions import Notice
from server.archive import CLOSE_S, SESSION_ID
from server.config import ServerConfig
from server.logs import SessionLog
from server.observation_metrics import ObservationMetrics
from server.transcripts.document import text_line, utterance, word_line
from server.transcripts.files import OPEN, WHOLE
from server.transcripts.ledger import Accepted, Ledger, Written
from server.transcripts.redaction import Redaction
from server.transcripts.scribe import Keeping, Scribe, recover
from server.worker import Worker

WAITING = 256
"""Jobs of one call: a minute of an agent that speaks without pause."""
WAITING_JOBS = 8_192
"""All calls together."""
FINAL_WORDS_MAX = 1_000_000
"""Of one final transcript: four days of speech on both channels."""
HITS_TOLD = 1_000
"""The metadata names so many guardrail hits at most; the count goes on."""

Json = dict[str, Any]
Job = Callable[[], object]

log = logging.getLogger("duet.transcripts")


class TranscriptEntry:
    """One call's transcript, as the call sees it: nothing here waits. One thread may call."""

    def __init__(self, desk: Desk, session_id: str, scribe: Scribe | None) -> None:
        self._desk = desk
        self._session_id = session_id
        self._scribe = scribe
        self._log = SessionLog(log, session_id)
        self._ledger = Ledger()
        self._room = threading.BoundedSemaphore(WAITING)
        self._skipped = 0
        self._hits: list[Json] = []
        self._hit_count = 0
        self._notices: list[Notice] = []
        self._mode: LagMode = "streaming"
        self._final: list[Json] = []
        self._final_words = 0
        self._end: Json = {}
        self._hand_over(lambda scribe: scribe.start)

    # -- while the call runs ----------------------------------------------------------------------

    def words(self, channel: Channel, words: Sequence[Word], through_ms: int) -> Accepted:
        """What a transcriber tells; see `Ledger.append`. Returns what is new.

        Raises:
            WireError: as there.
        """
        self._desk.signs += 1
        accepted = self._ledger.append(channel, words, through_ms)
        self._desk.metrics.words(channel, len(accepted.words), accepted.repeated)
        self._write([word_line(channel, word) for word in write_words(accepted.words)])
        for episode in self._ledger.disagreements():
            self._disagree(episode.worst)
        return accepted

    def agent_text(self, frame: int, text: str) -> None:
        """A piece that the model wrote in this frame."""
        self._write_text(self._ledger.agent_text(frame, text))

    def lag(self, user_ms: int, agent_ms: int, mode: LagMode) -> None:
        """How far the transcriber is behind, channel by channel."""
        self._desk.signs += 1
        self._desk.metrics.lag("user", user_ms / 1000)
        self._desk.metrics.lag("agent", agent_ms / 1000)
        if mode != self._mode:
            self._log.info("the transcriber hears it in mode %s now", mode)
            self._mode = mode

    def guarded(self, rule: str, listen: str, action: str, at_ms: int) -> None:
        """A guardrail fired."""
        self._hit_count += 1
        if len(self._hits) < HITS_TOLD:
            self._hits.append({"rule": rule, "listen": listen, "action": action, "at_ms": at_ms})

    def state(self) -> Json:
        """What a new transcriber must know: see `Ledger.state`."""
        return self._ledger.state()

    def notices(self) -> list[Notice]:
        """What observers are to be told since the last call."""
        told, self._notices = self._notices, []
        return told

    # -- when it is over --------------------------------------------------------------------------

    def close(self, reason: str, frames: int) -> None:
        """The call has ended. Until the last pass or `discard`, late words may still follow."""
        self._write_text(self._ledger.end_of_text())
        self._end = {"reason": reason, "frames": frames, "duration_ms": frames * FRAME_MS}
        if self._desk.wants_final:
            self._hand_over(lambda scribe: partial(scribe.close, self._facts()))
        else:
            self._finish()

    def restart(self) -> None:
        """Another transcriber makes the last pass, from the start."""
        self._final, self._final_words = [], 0

    def utterance(self, channel: Channel, start_ms: int, end_ms: int, words: Sequence[Word]) -> None:
        """One of the final transcript.

        Raises:
            WireError: invalid_value where that gets too long.
        """
        self._desk.signs += 1
        self._final_words += len(words)
        if self._final_words > FINAL_WORDS_MAX:
            raise WireError("invalid_value", f"a transcript has at most {FINAL_WORDS_MAX} words", "words")
        self._final.append(utterance(channel, start_ms, end_ms, write_words(tuple(words))))

    def final(self, model: str, duration_ms: int) -> None:
        """The final transcript is complete. duration_ms: of what the transcriber heard."""
        self._desk.signs += 1
        if self._desk.wants_final:
            self._log.info("final transcript: %d words in %.1f s", self._final_words, duration_ms / 1000)
            self._hand_over(lambda scribe: partial(scribe.seal, self._facts(), model, self._final))
        self._finish()

    def discard(self) -> None:
        """Nobody waits for a final transcript any more."""
        self._finish()

    def _finish(self) -> None:
        """Nothing follows; whoever says so again changes nothing."""
        self._hand_over(lambda scribe: partial(scribe.end, self._facts()))
        self._scribe, self._final = None, []
        self._desk.forget(self._session_id)

    def _facts(self) -> Json:
        agreement = self._ledger.agreement
        return {
            **self._end,
            "guardrails": {"hits": self._hit_count, "first": list(self._hits)},
            "disagreement": {
                "episodes": agreement.begun,
                "worst": None if agreement.worst is None else round(agreement.worst, 3),
                "first": [asdict(episode) for episode in agreement.episodes],
            },
        }

    # -- how it gets to the disk ------------------------------------------------------------------

    def _write_text(self, written: list[Written]) -> None:
        self._write([text_line(each.text, each.start_ms, each.end_ms) for each in written])

    def _write(self, lines: list[Json]) -> None:
        if self._scribe is None or not lines:
            return
        if not self._room.acquire(blocking=False):
            self._skipped += len(lines)
        elif self._desk.hand(partial(self._write_now, self._scribe, self._skipped, lines)):
            self._skipped = 0
        else:
            self._room.release()
            self._skipped += len(lines)

    def _write_now(self, scribe: Scribe, skipped: int, lines: list[Json]) -> None:
        try:
            scribe.skip(skipped)
            scribe.write(lines)
        finally:
            self._room.release()

    def _hand_over(self, job: Callable[[Scribe], Job]) -> None:
        """One of the few jobs of a call that are no lines, which only the desk as a whole has no room for."""
        if self._scribe is None:
            return
        skipped, self._skipped = self._skipped, 0
        if not self._desk.hand(partial(self._scribe.skip, skipped)) or not self._desk.hand(job(self._scribe)):
            self._log.error("the transcript could not be written and is left as it is")

    def _disagree(self, rate: float) -> None:
        self._desk.metrics.disagreed()
        message = f"what the agent says differs from what its model writes: {rate:.0%} of the words"
        self._notices.append(Notice("transcript_disagrees", message))
        self._log.info("%s", message)


class Desk:
    """The transcripts in one folder. keeping: None where nothing is kept.

    wants_final: whether the last pass over a call that has ended is waited for.
    signs: how often a transcriber gave a sign of life.
    """

    def __init__(self, keeping: Keeping | None, wants_final: bool, metrics: ObservationMetrics) -> None:
        self._keeping = keeping
        self.wants_final = wants_final and keeping is not None and keeping.keep == "full"
        self.metrics = metrics
        self.signs = 0
        self._worker = Worker("duet-transcripts", WAITING_JOBS)
        self._unfinished: dict[str, TranscriptEntry] = {}

    def open(self, session_id: str, metadata: Json) -> TranscriptEntry:
        """Starts a transcript. metadata: of the call. Raises ValueError for what is no session id."""
        if not SESSION_ID.fullmatch(session_id):
            raise ValueError(f"session_id must be sess_ and 32 hex digits, not {session_id!r}")
        scribe = None
        if self._keeping is not None:
            told = SessionLog(log, session_id)
            scribe = Scribe(self._keeping, session_id, metadata, self.metrics.lines_lost, told)
        entry = self._unfinished[session_id] = TranscriptEntry(self, session_id, scribe)
        return entry

    def is_writing(self, session_id: str) -> bool:
        """Whether its transcript is under way: the call goes on, or its last pass is waited for."""
        return session_id in self._unfinished

    def find(self, session_id: str) -> Path | None:
        """The transcript of a call that has ended; None where there is none, or none yet."""
        if self._keeping is None or not SESSION_ID.fullmatch(session_id):
            return None
        path = self._keeping.folder / f"{session_id}{WHOLE}"
        return path if path.is_file() and not path.is_symlink() else None

    def expect_no_more(self) -> None:
        """There is nobody to make a last pass."""
        self.wants_final = False

    def hand(self, job: Job) -> bool:
        return self._worker.hand(job)

    def forget(self, session_id: str) -> None:
        self._unfinished.pop(session_id, None)

    def close(self) -> None:
        """Takes nothing more, waits for no last pass and writes what it has. Blocks for CLOSE_S at most."""
        for entry in list(self._unfinished.values()):
            entry.discard()
        if not self._worker.close(CLOSE_S):
            log.error("transcripts could not all be written; the next start makes what it can of them")


def keeping_of(config: ServerConfig, redaction: Redaction) -> Keeping | None:
    """What a server that is set up like this keeps."""
    return None if config.keep == "off" else Keeping(config.recordings, config.keep, redaction)


def recover_all(folder: Path) -> None:
    """Makes whole what a killed server left; what cannot be read is logged and left alone."""
    for marker in sorted(folder.glob(f"sess_*{OPEN}")):
        told = SessionLog(log, marker.name.removesuffix(OPEN))
        try:
            if not marker.is_symlink() and recover(marker):
                told.warning("recovered the transcript of an interrupted call")
        except (OSError, ValueError, KeyError, TypeError) as error:
            told.error("a transcript cannot be recovered: %s", error)
