"""How long a call that has ended is waited for."""

from __future__ import annotations

from pathlib import Path

from prometheus_client import CollectorRegistry

from duet_client.wire import Channel, Word
from model.config import Sampling
from server.actions import Join
from server.call import Control
from server.endings import CLOSE_REQUESTED
from server.observation_metrics import ObservationMetrics
from server.sideband.hub import FINAL_WAIT_S, Hub
from server.transcripts.desk import Desk
from server.transcripts.redaction import Redaction
from server.transcripts.scribe import Keeping

UP_S = 86_400.0
"""How long the machine has been up when the call ends: far longer than a final transcript is waited for."""


class Call:
    """One that takes no part."""

    def control(self, command: Control) -> None: ...

    def heard(self, channel: Channel, words: tuple[Word, ...], through_ms: int) -> None: ...


def test_a_call_that_ends_before_the_first_tick_is_waited_for_as_long_as_any_other(tmp_path: Path) -> None:
    now = UP_S
    metrics = ObservationMetrics(CollectorRegistry())
    desk = Desk(Keeping(tmp_path, "full", Redaction()), True, metrics)
    hub = Hub(desk, metrics, recordings=tmp_path, is_recording=lambda _: False, spool=None, clock=lambda: now)
    try:
        feed = hub.open(Join(Sampling(), {"id": "sess_" + "0" * 32}, {}, False), Call())
        feed.close(CLOSE_REQUESTED)
        now = UP_S + FINAL_WAIT_S - 1
        hub.tick()
        assert not feed.sealed
        assert hub.find(feed.id) is feed
        now = UP_S + FINAL_WAIT_S
        hub.tick()
        assert feed.sealed
        assert hub.find(feed.id) is None
    finally:
        desk.close()
