"""A thread of one's own: in order, bounded, and not ended by a job that fails."""

from __future__ import annotations

import threading
from functools import partial

from server.worker import Worker


def test_jobs_are_done_in_the_order_they_were_handed_in() -> None:
    worker, done = Worker("test", most=100), list[int]()
    for number in range(50):
        worker.hand(partial(done.append, number))
    assert worker.close(timeout_s=10)
    assert done == list(range(50))


def test_a_job_that_fails_does_not_keep_the_next_from_being_done() -> None:
    worker, done = Worker("test", most=10), threading.Event()
    worker.hand(lambda: 1 / 0)
    worker.hand(done.set)
    assert done.wait(60)
    worker.close(timeout_s=10)


def test_beyond_its_bound_a_job_is_refused_at_once_and_not_done() -> None:
    worker, busy, go, done = Worker("test", most=2), threading.Event(), threading.Event(), list[int]()

    def block() -> None:
        busy.set()
        go.wait(60)

    worker.hand(block)
    busy.wait(60)
    assert [worker.hand(partial(done.append, n)) for n in range(4)] == [True, True, False, False]

    go.set()
    worker.close(timeout_s=10)
    assert done == [0, 1]


def test_after_its_close_it_takes_nothing_more() -> None:
    worker = Worker("test", most=10)
    assert worker.close(timeout_s=10)
    assert not worker.hand(lambda: None)


def test_a_close_does_not_wait_for_ever() -> None:
    worker, go = Worker("test", most=10), threading.Event()
    worker.hand(partial(go.wait, 10))
    assert not worker.close(timeout_s=0.01)
    go.set()
    assert worker.close(timeout_s=10)
