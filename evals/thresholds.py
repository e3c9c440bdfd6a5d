"""Every number that a definition rests on, by name, in one place. Printed in every output.

Sources: [FDB] Full-Duplex-Bench (arXiv 2503.04721), [dGSLM] arXiv 2203.16502, [tau] tau-voice,
[FD] FD-Bench (Interspeech 2025). The others are this project's choice.
"""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Defaults of all definitions. Every comparison allows a microsecond, so that an edge counts in.

    Raises:
        ValueError: a number that is not finite or below its least value; the message names it.
    """

    # activity
    hop_s: float = 0.010
    energy_floor_dbfs: float = -45.0  # a hop is active above the highest of this and the noise floor...
    energy_above_noise_db: float = 10.0  # ...plus this...
    energy_ceiling_dbfs: float = -30.0  # ...but never later than here: speech all through is no noise
    noise_percentile: float = 10.0
    silero_threshold: float = 0.5
    refine_s: float = 0.100  # how far a silero edge may move to the energy detector's
    refine_noise_max_dbfs: float = -50.0  # no refinement in a channel noisier than this
    activity_min_s: float = 0.050  # shorter activity is dropped

    # IPUs, backchannels, turns
    ipu_gap_s: float = 0.200  # a silence this long or longer splits [dGSLM]
    backchannel_max_s: float = 1.0  # [FDB]
    backchannel_max_words: float = 2
    pause_max_s: float = 1.0  # the longest silence inside a turn

    # floor transfers and responses
    lapse_s: float = 10.0
    response_window_s: float = 10.0
    takeover_window_s: float = 3.0
    simultaneous_s: float = 0.200
    terminal_overlap_s: float = 0.5  # [FD] an onset this near to the turn's end is a smooth change

    # interruptions and yielding
    agent_began_s: float = 0.200  # the agent has spoken this long before it can be interrupted
    stop_silence_s: float = 0.5  # [FDB] shorter silence of the agent is a sentence pause
    yield_s: float = 2.0  # [tau]
    false_yield_s: float = 1.0  # [tau]
    false_response_s: float = 2.0  # [tau]

    # the Full-Duplex-Bench rules
    fdb_turn_s: float = 1.0
    fdb_turn_words: float = 3
    jsd_window_s: float = 0.200
    jsd_epsilon: float = 1e-10

    # channel hygiene
    dropout_s: float = 0.020
    cutoff_db: float = 18.0
    cutoff_s: float = 0.030
    clip_level: float = 0.999
    bleed_max_db: float = -30.0  # above, timing is not to be relied on

    # statistics
    rate_events_min: float = 10  # a rate of fewer events is shown in grey [tau]
    human_events_min: float = 20  # fewer offsets give no distance to a human sample
    bootstrap_rounds: float = 1000

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not -1e6 < value < 1e6:
                raise ValueError(f"{field.name} must be a finite number, not {value}")
            if field.name.endswith("_s") and value < 0:
                raise ValueError(f"{field.name} must be 0 or more, not {value}")
        if self.hop_s < 0.001:
            raise ValueError(f"hop_s must be 0.001 or more, not {self.hop_s}")

    def to_json(self) -> dict[str, float | str]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


def parse_threshold(text: str) -> tuple[str, float]:
    """`name=value` from a command line. Raises ValueError that lists the names there are."""
    name, equals, value = text.partition("=")
    names = [field.name for field in fields(Thresholds)]
    if not equals or name not in names:
        raise ValueError(f"a threshold is NAME=VALUE with NAME one of {', '.join(names)}, not {text!r}")
    try:
        return name, float(value)
    except ValueError:
        raise ValueError(f"threshold {name} must be a number, not {value!r}") from None
