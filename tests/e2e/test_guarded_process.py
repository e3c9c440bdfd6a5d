"""Guardrails and hold-back as the command line gives them, in a real server process."""

from __future__ import annotations

import asyncio
from pathlib import Path

from audio.frames import FRAME_SAMPLES
from duet_client.wire import Info
from tests.e2e.running_server import babble, play, running_server

RULE = """\
[[rule]]
name = "word"
listen = ["agent_text"]
regex = '[a-z]'
action = "mute"
"""


def test_the_rules_and_the_hold_back_of_the_command_line_hold_for_a_call(
    tiny_model: Path, tmp_path: Path
) -> None:
    """The untrained model writes scrambled words and hums all the time."""
    rules = tmp_path / "rules.toml"
    rules.write_text(RULE)
    options = ("--pace", "free", "--guardrails", str(rules), "--holdback-ms", "240")
    with running_server(tiny_model, tmp_path, *options) as server:
        heard = asyncio.run(play(server.url, babble(1, 3.0)))
        assert server.metric('duet_guardrail_hits_total{action="mute",rule="word"}') >= 1
    muted = [event for event in heard.events if isinstance(event, Info) and event.code == "guardrail_muted"]
    assert len(muted) == 1
    assert len(heard.received) == heard.frames_sent * FRAME_SAMPLES
    assert not heard.received[-FRAME_SAMPLES * 20 :].any()
