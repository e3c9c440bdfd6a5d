"""What people do, and what other systems were reported to do: values with where they come from.

Only values whose source was read, or quoted number for number by somebody who read it, stand here;
`checked` says which. Published benchmark numbers hold for that benchmark's own stimuli, rules and
recogniser: re-runs of the same system have differed by a factor of two and more, so they are shown
as context and never as a target. Refuses to know any result of ours.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Source:
    """One publication. checked: what was read to confirm the numbers."""

    key: str
    citation: str
    url: str
    checked: str


@dataclass(frozen=True, slots=True)
class HumanReference:
    """What people do where our metric is `metric`: a sentence with its numbers, in ms or per minute."""

    metric: str
    text: str
    source: str


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """One system's numbers in a benchmark table, in the order of the table's columns; None: not given."""

    system: str
    values: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class PublishedTable:
    title: str
    columns: tuple[str, ...]
    rows: tuple[PublishedRow, ...]
    source: str


SOURCES = (
    Source(
        "stivers2009",
        "Stivers et al. (2009). Universals and cultural variation in turn-taking in conversation. "
        "PNAS 106(26), 10587-10592.",
        "https://doi.org/10.1073/pnas.0903616106",
        "numbers quoted by two independent readers of the paper, with page (p. 10588)",
    ),
    Source(
        "levinson2015",
        "Levinson and Torreira (2015). Timing in turn-taking and its implications for processing models of "
        "language. Frontiers in Psychology 6:731.",
        "https://doi.org/10.3389/fpsyg.2015.00731",
        "abstract read; the distribution as quoted by a reader of the paper",
    ),
    Source(
        "roberts2013",
        "Roberts and Francis (2013). Identifying a temporal threshold of tolerance for silent gaps after "
        "requests. JASA 133(6), EL471-EL477.",
        "https://doi.org/10.1121/1.4802900",
        "numbers quoted by a reader of the paper, with section and figure",
    ),
    Source(
        "reece2023",
        "Reece et al. (2023). The CANDOR corpus: insights from a large multimodal dataset of naturalistic "
        "conversation. Science Advances 9(13), eadf3197.",
        "https://pmc.ncbi.nlm.nih.gov/articles/PMC10065445",
        "figure captions read on the page of one of the authors",
    ),
    Source(
        "fdb2025",
        "Lin et al. (2025). Full-Duplex-Bench: a benchmark to evaluate full-duplex spoken dialogue models on "
        "turn-taking capabilities. arXiv 2503.04721v3.",
        "https://arxiv.org/abs/2503.04721",
        "paper and the table of its repository read",
    ),
)

_POLAR = (
    "polar questions in ten languages: median +100 ms, mean +208 ms, mode 0; language means +7 to +469 ms"
)
_CANDOR = "1,656 video calls in English: median +80 ms"

HUMAN = (
    HumanReference("fto_user_to_agent", _POLAR, "stivers2009"),
    HumanReference("fto_user_to_agent", _CANDOR, "reece2023"),
    HumanReference(
        "fto_user_to_agent",
        "modal offset 100 to 200 ms; 51 to 55 % of transitions under 200 ms",
        "levinson2015",
    ),
    HumanReference("response_latency", _POLAR, "stivers2009"),
    HumanReference(
        "response_latency",
        "listeners rate an answer as less willing after about 600 ms; significant between 700 and 800 ms",
        "roberts2013",
    ),
    HumanReference(
        "response_share_under_200_ms", "51 to 55 % of all transitions, in several corpora", "levinson2015"
    ),
    HumanReference(
        "backchannel_per_user_speech_min",
        "about 1,000 backchannel words (not events) per hour of speech: 17 per minute",
        "reece2023",
    ),
)

_V1_ROWS = (
    PublishedRow("PersonaPlex", (0.584, 0.662, 0.327, 0.025, 0.649, 0.992, 0.070, 1.000, 0.400)),
    PublishedRow("dGSLM", (0.934, 0.935, 0.691, 0.015, 0.934, 0.975, 0.352, 0.917, 2.531)),
    PublishedRow("Moshi", (0.985, 0.980, 1.000, 0.001, 0.957, 0.941, 0.265, 1.000, 0.257)),
    PublishedRow("Freeze-Omni", (0.642, 0.481, 0.636, 0.001, 0.997, 0.336, 0.953, 0.867, 1.409)),
    PublishedRow("Gemini Live 2.0", (0.255, 0.310, 0.091, 0.012, 0.896, 0.655, 1.301, 0.891, 1.183)),
    PublishedRow("GPT-Realtime", (0.010, 0.120, 0.000, 0.007, 0.980, 1.000, 1.470, 0.970, 1.500)),
)

FULL_DUPLEX_BENCH_V1 = PublishedTable(
    "Full-Duplex-Bench v1, as published",
    (
        "pause TOR, synthetic",
        "pause TOR, Candor",
        "backchannel TOR",
        "backchannels per s",
        "backchannel JSD",
        "turn TOR",
        "turn latency s",
        "interruption TOR",
        "interruption latency s",
    ),
    _V1_ROWS,
    "fdb2025",
)

DELAY_HEARD_AS_TROUBLE_MS = 700.0
"""Roberts and Francis (2013): from here listeners hear reluctance. Drawn as a line in the plots."""
HUMAN_MEAN_MS = 208.0
"""Stivers et al. (2009), mean over ten languages. Drawn as a line in the plots."""


def source(key: str) -> Source:
    """The publication with this key."""
    return next(found for found in SOURCES if found.key == key)


def human(metric: str) -> tuple[HumanReference, ...]:
    """What is known of people for this metric; empty: nothing that was checked."""
    return tuple(reference for reference in HUMAN if reference.metric == metric)
