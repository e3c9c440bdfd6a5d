"""Who may come in, and what the others are told."""

from __future__ import annotations

from model.step_times import Bound
from server.admission import Admission


def test_a_full_server_says_how_full_it_is_and_when_to_come_back() -> None:
    admission = Admission(capacity=2)
    for _ in range(2):
        assert admission.refusal(None) is None
        admission.take()
    refusal = admission.refusal(None)
    assert refusal is not None
    assert refusal.status == 503
    assert refusal.headers == {"Retry-After": "5"}
    assert refusal.body == {
        "error": {
            "type": "server_full",
            "message": "all 2 sessions are taken; try again in 5 s",
            "active": 2,
            "capacity": 2,
            "bound": "places",
        }
    }


def test_a_full_server_for_one_session_says_so_in_the_singular() -> None:
    refusal = Admission(capacity=1, active=1).refusal(None)
    assert refusal is not None
    assert refusal.message == "the only session is taken; try again in 5 s"


def test_a_server_with_places_that_could_not_serve_one_more_in_time_says_which_bound_was_hit() -> None:
    admission = Admission(8, Bound(2, "a step with 3 sessions takes 61 ms, the limit is 48 ms"), active=1)
    assert admission.refusal(None) is None
    admission.take()
    refusal = admission.refusal(None)
    assert refusal is not None
    assert refusal.body == {
        "error": {
            "type": "server_full",
            "message": "no further session would be on time:"
            " a step with 3 sessions takes 61 ms, the limit is 48 ms",
            "active": 2,
            "capacity": 2,
            "bound": "step_time",
        }
    }


def test_a_full_server_is_ready_all_the_same() -> None:
    assert Admission(capacity=1, active=1).unreadiness(None) is None
    unready = Admission(capacity=1, active=1, draining=True).unreadiness(None)
    assert unready is not None
    assert unready.reason == "draining"


def test_a_place_that_is_given_back_is_free_again() -> None:
    admission = Admission(capacity=1)
    admission.take()
    admission.give_back()
    assert admission.refusal(None) is None


def test_a_draining_server_lets_nobody_in_though_it_has_places() -> None:
    refusal = Admission(capacity=1, draining=True).refusal(None)
    assert refusal is not None
    assert refusal.body["error"]["type"] == "draining"


def test_a_failed_model_is_the_first_thing_told() -> None:
    refusal = Admission(capacity=1, active=1, draining=True).refusal("the model broke down")
    assert refusal is not None
    assert refusal.body["error"] == {"type": "model_failed", "message": "the model broke down"}
