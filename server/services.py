"""What every connection shares. Refuses to know what any of it does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from server.actions import Webhook
from server.archive import Archive
from server.metrics import Metrics
from server.phases import Phases
from server.sideband.hub import Hub
from server.switchboard import Switchboard


@dataclass(frozen=True, slots=True)
class Services:
    """outbox_s: how much audio a client may owe reading. patient: calls wait for the disk, since no clock
    drives them.

    post: takes a webhook (session id first) and sends it some time; never waits.
    """

    board: Switchboard
    metrics: Metrics
    archive: Archive
    hub: Hub
    phases: Phases
    post: Callable[[str, Webhook], None]
    outbox_s: float
    patient: bool
