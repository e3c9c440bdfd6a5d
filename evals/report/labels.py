"""What the report calls each metric, in which order it tells of them, and which it compares.

A metric that has no name here is shown under its id. Refuses to know any value.
"""

from __future__ import annotations

from dataclasses import dataclass

FTO_TO_AGENT = "fto_user_to_agent"
FTO_TO_USER = "fto_agent_to_user"
RESPONSE_LATENCY = "response_latency"
RESPONSE = "response"
INTERRUPTION = "interruption"
"""The last two are types of events."""


@dataclass(frozen=True, slots=True)
class Label:
    """group: the heading that it stands under. order: its place there."""

    group: str
    name: str
    order: int


_ANSWERS = "Answers"
_FLOOR = "Changes of the floor"
_BARGE_IN = "Interruptions and yielding"
_PAUSES = "Pauses and false starts"
_BACKCHANNELS = "Backchannels"
_AMOUNTS = "Amounts of speech and silence"
_FDB = "By Full-Duplex-Bench's rules"
_CONTENT = "Words"
_SOUND = "Sound and channels"
_OTHER = "Other"
GROUPS = (
    _ANSWERS,
    _FLOOR,
    _BARGE_IN,
    _PAUSES,
    _BACKCHANNELS,
    _FDB,
    _AMOUNTS,
    _CONTENT,
    _SOUND,
    _OTHER,
)
COMPARED = frozenset(
    {
        RESPONSE_LATENCY,
        "response_rate",
        "overlap_start_rate",
        "stop_latency",
        "yield_rate",
        "recovery_latency",
        "false_yield_rate",
        "false_response_rate",
        "agent_interruption_rate",
        "premature_start_rate",
        "collision_per_min",
        "backchannel_per_min",
        "wpm_agent",
        "wer_agent",
    }
)
"""What two runs are tested on, chosen beforehand: one number for each behaviour, since every metric more
makes Holm's correction harder on the rest."""

_NAMED = {
    RESPONSE_LATENCY: (_ANSWERS, "response latency"),
    "response_rate": (_ANSWERS, "user turns answered"),
    "no_response_rate": (_ANSWERS, "user turns not answered"),
    "response_share_below_0_ms": (_ANSWERS, "answers begun before the user's end"),
    "response_share_under_200_ms": (_ANSWERS, "answers under 200 ms"),
    "response_share_under_500_ms": (_ANSWERS, "answers under 500 ms"),
    "response_share_under_700_ms": (_ANSWERS, "answers under 700 ms"),
    "response_share_over_1000_ms": (_ANSWERS, "answers over 1,000 ms"),
    "response_share_over_2000_ms": (_ANSWERS, "answers over 2,000 ms"),
    "greeting_s": (_ANSWERS, "greeting (not an answer)"),
    FTO_TO_AGENT: (_FLOOR, "offset, user to agent"),
    FTO_TO_USER: (_FLOOR, "offset, agent to user"),
    "overlap_start_rate": (_FLOOR, "answers that begin in overlap"),
    "within_overlap_per_min": (_FLOOR, "turns inside the other's turn"),
    "lapse_rate": (_FLOOR, "lapses"),
    "stop_latency": (_BARGE_IN, "stop latency"),
    "yield_rate": (_BARGE_IN, "interruptions yielded to"),
    "no_yield_rate": (_BARGE_IN, "interruptions not yielded to"),
    "recovery_latency": (_BARGE_IN, "recovery latency"),
    "false_yield_rate": (_BARGE_IN, "false yields"),
    "false_response_rate": (_BARGE_IN, "false responses"),
    "agent_interruption_rate": (_BARGE_IN, "user turns the agent interrupted"),
    "agent_interruption_overlap": (_BARGE_IN, "overlap of the agent's interruptions"),
    "premature_start_rate": (_PAUSES, "pauses the agent began in"),
    "collision_per_min": (_PAUSES, "collisions"),
    "collision_resolution": (_PAUSES, "overlap until a collision is resolved"),
    "collision_agent_yield_rate": (_PAUSES, "collisions that the agent gave way in"),
    "backchannel_per_min": (_BACKCHANNELS, "agent's backchannels"),
    "backchannel_per_user_speech_min": (_BACKCHANNELS, "agent's backchannels per user's speech"),
    "backchannel_jsd": (_BACKCHANNELS, "distance to people's backchannels (JSD)"),
    "backchannel_w1": (_BACKCHANNELS, "distance to people's backchannels (W1)"),
    "takeover_windowed_turn_end": (_ANSWERS, "take-overs at a turn's end"),
    "takeover_windowed_pause": (_PAUSES, "take-overs in a pause"),
    "takeover_windowed_interruption": (_BARGE_IN, "take-overs after an interruption"),
    "fto_positive_only": (_FLOOR, "offset, user to agent, gaps only"),
    "w1_human": (_FLOOR, "distance to a human sample (W1)"),
    "fto_fdb_clamped": (_FDB, "offset, user to agent, overlaps as 0"),
    "response_latency_fdb": (_FDB, "response latency"),
    "takeover_fdb_code": (_FDB, "take-over, as its code has it"),
    "takeover_fdb_paper": (_FDB, "take-over, as its paper has it"),
    "fdb_backchannel_jsd": (_FDB, "distance to people's backchannels (JSD)"),
    "wpm_fdb_user": (_FDB, "user's words per minute"),
    "wpm_fdb_agent": (_FDB, "agent's words per minute"),
    "ipu_per_min": (_AMOUNTS, "IPUs"),
    "ipu_sec_per_min": (_AMOUNTS, "time in IPUs"),
    "pause_per_min": (_AMOUNTS, "pauses"),
    "pause_sec_per_min": (_AMOUNTS, "time in pauses"),
    "gap_per_min": (_AMOUNTS, "gaps"),
    "gap_sec_per_min": (_AMOUNTS, "time in gaps"),
    "overlap_per_min": (_AMOUNTS, "overlaps"),
    "overlap_sec_per_min": (_AMOUNTS, "time in overlaps"),
    "talk_ratio_user": (_AMOUNTS, "user speaks"),
    "talk_ratio_agent": (_AMOUNTS, "agent speaks"),
    "talk_ratio": (_AMOUNTS, "somebody speaks"),
    "overlap_ratio": (_AMOUNTS, "both speak"),
    "silence_ratio": (_AMOUNTS, "nobody speaks"),
    "wpm_user": (_CONTENT, "user's words per minute"),
    "wpm_agent": (_CONTENT, "agent's words per minute"),
    "wer_user": (_CONTENT, "word error rate, user"),
    "wer_agent": (_CONTENT, "word error rate, agent"),
    "judge_score": (_CONTENT, "judge's score"),
    "bleed_db_user": (_SOUND, "bleed into the user's channel, median"),
    "bleed_p90_db_user": (_SOUND, "bleed into the user's channel, p90"),
    "bleed_db_agent": (_SOUND, "bleed into the agent's channel, median"),
    "bleed_p90_db_agent": (_SOUND, "bleed into the agent's channel, p90"),
    "bleed_lag": (_SOUND, "lag of the bleed"),
    "dropouts_per_min": (_SOUND, "dropouts of the agent"),
    "cutoff_rate": (_SOUND, "agent's ends that are cut off"),
    "cutoff_fall": (_SOUND, "fall of level at the agent's ends"),
    "clipping_ratio_user": (_SOUND, "clipped samples, user"),
    "clipping_ratio_agent": (_SOUND, "clipped samples, agent"),
    "dc_offset_user": (_SOUND, "DC offset, user"),
    "dc_offset_agent": (_SOUND, "DC offset, agent"),
    "mos_user": (_SOUND, "opinion score, user"),
    "mos_agent": (_SOUND, "opinion score, agent"),
    "drift_ppm": (_SOUND, "drift of the clocks"),
    "log_difference": (_SOUND, "latency in the server's log less measured"),
}
_ORDER = {metric: place for place, metric in enumerate(_NAMED)}


def label_of(metric: str) -> Label:
    """The label of any metric, named here or not."""
    if metric in _NAMED:
        return Label(*_NAMED[metric], _ORDER[metric])
    return Label(_FDB if "fdb" in metric else _OTHER, metric.replace("_", " "), len(_NAMED))
