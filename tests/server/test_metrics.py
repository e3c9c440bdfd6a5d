"""What Prometheus reads after things happened."""

from __future__ import annotations

import numpy as np
from prometheus_client.parser import text_string_to_metric_families

from model.engine import FrameResult, StepReport, Ticket
from server.metrics import CONTENT_TYPE, Metrics


def samples(metrics: Metrics) -> dict[tuple[str, ...], float]:
    """Everything rendered, as {(name, label values...): value}."""
    families = text_string_to_metric_families(metrics.render().decode())
    return {(s.name, *s.labels.values()): s.value for family in families for s in family.samples}


def report(results: int, joined: int = 0, join_s: float = 0.0) -> StepReport:
    frame = FrameResult(Ticket(0, 0), 0, np.zeros(1920, np.float32), "", 3, 0.0)
    return StepReport((frame,) * results, 10.0, 10.075, 0.01, 0.04, 0.02, 0.005, joined, join_s)


def test_active_sessions_are_those_that_started_and_did_not_end() -> None:
    metrics = Metrics(capacity=8)
    for _ in range(3):
        metrics.session_started()
    metrics.session_ended("close_requested")
    seen = samples(metrics)
    assert seen[("duet_sessions_active",)] == 2
    assert seen[("duet_sessions_capacity",)] == 8
    assert seen[("duet_sessions_ended_total", "close_requested")] == 1


def test_lag_has_a_histogram_for_each_channel_fine_enough_for_its_median() -> None:
    metrics = Metrics(8)
    for seconds in (1.2, 1.4, 1.8, 90):
        metrics.observation.lag("user", seconds)
    seen = samples(metrics)
    assert [seen[("transcript_lag_seconds_bucket", "user", le)] for le in ("1.0", "1.5", "2.0", "60.0")] == [
        0, 2, 3, 3,
    ]  # fmt: skip
    assert seen[("transcript_lag_seconds_count", "user")] == 4


def test_observers_their_gaps_and_the_sidecar_are_counted() -> None:
    metrics = Metrics(8)
    told = metrics.observation
    told.observer_came()
    told.observer_came()
    told.observer_left()
    told.observer_missed(125)
    told.sidecar_up(True)
    told.sidecar_restarted()
    told.guardrail_hit("manners", "mute")
    seen = samples(metrics)
    assert seen[("duet_observers",)] == 1
    assert (seen[("duet_observer_gaps_total",)], seen[("duet_observer_frames_missed_total",)]) == (1, 125)
    assert (seen[("duet_sidecar_up",)], seen[("duet_sidecar_restarts_total",)]) == (1, 1)
    assert seen[("duet_guardrail_hits_total", "mute", "manners")] == 1


def test_refusals_are_counted_by_reason() -> None:
    metrics = Metrics(8)
    for reason in ("server_full", "server_full", "wrong_api_key"):
        metrics.refused(reason)
    seen = samples(metrics)
    assert seen[("duet_sessions_refused_total", "server_full")] == 2
    assert seen[("duet_sessions_refused_total", "wrong_api_key")] == 1


def test_a_step_shows_where_its_time_went() -> None:
    metrics = Metrics(8)
    metrics.step(report(results=2))
    seen = samples(metrics)
    sums = {stage: round(seen[("duet_step_seconds_sum", stage)], 6) for stage in ("encode", "lm", "total")}
    assert sums == {"encode": 0.01, "lm": 0.04, "total": 0.075}
    assert seen[("duet_step_seconds_bucket", "0.07", "total")] == 0
    assert seen[("duet_step_seconds_bucket", "0.08", "total")] == 1


def test_a_round_that_only_took_sessions_in_is_a_stall_and_no_step() -> None:
    metrics = Metrics(8)
    metrics.step(report(results=0, joined=2, join_s=0.03))
    seen = samples(metrics)
    assert round(seen[("duet_join_stall_seconds_sum",)], 6) == 0.03
    assert ("duet_step_seconds_count", "total") not in seen


def test_a_frame_answered_later_than_its_own_length_misses_its_deadline() -> None:
    metrics = Metrics(8)
    for latency_s in (0.03, 0.08, 0.0801, 0.4):
        metrics.frame_out(latency_s)
    seen = samples(metrics)
    assert seen[("duet_frames_total",)] == 4
    assert seen[("duet_deadline_misses_total",)] == 2
    assert seen[("duet_frame_latency_seconds_bucket", "0.08")] == 2


def test_what_is_held_back_on_purpose_is_latency_and_no_missed_deadline() -> None:
    metrics = Metrics(8, holdback_s=0.16)
    for latency_s in (0.2, 0.24, 0.25):
        metrics.frame_out(latency_s)
    seen = samples(metrics)
    assert seen[("duet_deadline_misses_total",)] == 1
    assert seen[("duet_frame_latency_seconds_bucket", "0.16")] == 0
    assert seen[("duet_frame_latency_seconds_sum",)] == 0.69


def test_padding_dropping_and_losing_are_told_apart() -> None:
    metrics = Metrics(8)
    metrics.padded(3)
    metrics.dropped(5)
    metrics.recording_lost(7)
    seen = samples(metrics)
    assert seen[("duet_frames_padded_total",)] == 3
    assert seen[("duet_frames_dropped_total",)] == 5
    assert seen[("duet_recording_frames_lost_total",)] == 7


def test_a_full_inbox_is_the_last_bucket_before_infinity() -> None:
    metrics = Metrics(8)
    metrics.inbox_depth(25)
    seen = samples(metrics)
    assert seen[("duet_inbox_frames_bucket", "18.0")] == 0
    assert seen[("duet_inbox_frames_bucket", "25.0")] == 1


def test_two_servers_in_one_process_count_apart() -> None:
    first, second = Metrics(8), Metrics(4)
    first.session_started()
    assert samples(second)[("duet_sessions_active",)] == 0


def test_the_answer_is_the_text_form_with_the_process_memory_in_it() -> None:
    assert CONTENT_TYPE.startswith("text/plain")
    assert samples(Metrics(8))[("process_resident_memory_bytes",)] > 0
