"""Webhooks: posted once, tried again, given up, counted; and never waited for."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from server.actions import Webhook
from server.guardrails.webhooks import AT_ONCE, WAITING_MOST, Webhooks

WAIT_S = 60
AT_ONCE_AGAIN = (0.0, 0.0, 0.0)


class Outcomes:
    """Counts, and can be waited for."""

    def __init__(self) -> None:
        self.all: list[str] = []
        self._changed = asyncio.Event()

    def __call__(self, outcome: str) -> None:
        self.all.append(outcome)
        self._changed.set()

    async def until(self, count: int) -> None:
        async with asyncio.timeout(WAIT_S):
            while len(self.all) < count:
                self._changed.clear()
                await self._changed.wait()


class Target:
    """Somebody's server: answers with these statuses in turn, the last one again and again."""

    def __init__(self, *statuses: int) -> None:
        self._statuses = list(statuses)
        self.bodies: list[dict[str, Any]] = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def take(self, request: web.Request) -> web.Response:
        self.bodies.append(await request.json())
        await self.gate.wait()
        status = self._statuses[0] if len(self._statuses) == 1 else self._statuses.pop(0)
        return web.Response(status=status, headers={"Location": "/elsewhere"} if status == 302 else {})


@asynccontextmanager
async def listening(target: Target) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_post("/secret-path", target.take)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/secret-path"
    finally:
        target.gate.set()
        await runner.cleanup()


def posts(target: Target, hooks: int = 1, until: int = 1) -> list[str]:
    """The outcomes of so many webhooks to the target."""

    async def scene() -> list[str]:
        outcomes = Outcomes()
        webhooks = Webhooks(outcomes, AT_ONCE_AGAIN)
        async with listening(target) as url, webhooks.open():
            for n in range(hooks):
                webhooks.post("sess_1", Webhook("r", url, {"n": n}))
            await outcomes.until(until)
        return outcomes.all

    return asyncio.run(scene())


def test_a_webhook_is_posted_once_with_its_session() -> None:
    target = Target(204)
    assert posts(target) == ["sent"]
    assert target.bodies == [{"n": 0, "session_id": "sess_1"}]


def test_a_server_in_trouble_is_asked_again_up_to_three_times() -> None:
    target = Target(503, 429, 500, 200)
    assert posts(target) == ["sent"]
    assert len(target.bodies) == 4


def test_who_stays_in_trouble_is_given_up_and_the_log_keeps_body_and_path_to_itself(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING, "duet.webhooks"):
        assert posts(Target(500)) == ["failed"]
    (record,) = caplog.records
    assert record.getMessage() == "the webhook of rule 'r' to 127.0.0.1 was failed: HTTP 500"


@pytest.mark.parametrize("status", [302, 400, 404])
def test_a_refusal_is_final(status: int) -> None:
    target = Target(status)
    assert posts(target) == ["failed"]
    assert len(target.bodies) == 1


def test_nobody_there_is_a_failure() -> None:
    async def scene() -> list[str]:
        outcomes = Outcomes()
        webhooks = Webhooks(outcomes, AT_ONCE_AGAIN)
        async with listening(Target(200)) as url:
            pass
        async with webhooks.open():
            webhooks.post("sess_1", Webhook("r", url, {}))
            await outcomes.until(1)
        return outcomes.all

    assert asyncio.run(scene()) == ["failed"]


def test_too_many_that_wait_are_dropped_and_counted() -> None:
    async def scene() -> list[str]:
        outcomes = Outcomes()
        webhooks = Webhooks(outcomes)
        for n in range(WAITING_MOST + 3):
            webhooks.post("sess_1", Webhook("r", "http://localhost:9/", {"n": n}))
        return outcomes.all

    assert asyncio.run(scene()) == ["dropped"] * 3


def test_a_server_that_stops_leaves_nothing_uncounted() -> None:
    async def scene() -> list[str]:
        outcomes = Outcomes()
        webhooks, target = Webhooks(outcomes, AT_ONCE_AGAIN), Target(200)
        target.gate.clear()
        async with listening(target) as url, webhooks.open():
            for n in range(AT_ONCE + 2):
                webhooks.post("sess_1", Webhook("r", url, {"n": n}))
        return outcomes.all

    assert asyncio.run(scene()) == ["dropped"] * (AT_ONCE + 2)


def test_an_address_that_does_not_answer_holds_up_no_other() -> None:
    async def scene() -> list[str]:
        outcomes, silent, awake = Outcomes(), Target(200), Target(200)
        webhooks = Webhooks(outcomes, AT_ONCE_AGAIN)
        silent.gate.clear()
        async with listening(silent) as dead, listening(awake) as alive, webhooks.open():
            for _ in range(AT_ONCE):
                webhooks.post("sess_1", Webhook("one", dead, {}))
            webhooks.post("sess_1", Webhook("other", alive, {}))
            await outcomes.until(1)
            assert len(awake.bodies) == 1
            silent.gate.set()
            await outcomes.until(AT_ONCE + 1)
        return outcomes.all

    assert asyncio.run(scene()) == ["sent"] * (AT_ONCE + 1)
