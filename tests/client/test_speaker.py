"""The buffer before the loudspeaker."""

from __future__ import annotations

from duet_client.speaker import PlayBuffer


def test_playing_waits_for_its_lead_and_then_runs_dry_once() -> None:
    buffer = PlayBuffer(lead_bytes=4, limit_bytes=100)
    buffer.push(b"ab")
    assert buffer.pull(2) == b"\0\0"  # not enough to begin
    buffer.push(b"cd")
    assert buffer.pull(2) == b"ab"
    assert buffer.pull(4) == b"cd\0\0"
    assert buffer.gaps == 1
    buffer.push(b"ef")
    assert buffer.pull(2) == b"\0\0"  # the lead is built up again
    buffer.push(b"gh")
    assert buffer.pull(2) == b"ef"
    assert buffer.gaps == 1


def test_beyond_its_limit_the_oldest_whole_samples_go_and_are_counted() -> None:
    buffer = PlayBuffer(lead_bytes=2, limit_bytes=4)
    buffer.push(b"abcdefg")
    assert buffer.dropped_bytes == 4
    assert buffer.pull(2) == b"ef"
