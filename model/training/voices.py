"""Who speaks: the agent's one voice, the users' voices, and those kept for the checks.

A voice is `engine:name`. Only what the package indexes give: espeak-ng's variants, flite's, pico's,
festival's, mbrola's and RHVoice's voices (Debian), piper's joe and Kokoro's styles (PyPI, npm). Refuses to
know how an engine is run.
"""

from __future__ import annotations

from random import Random

AGENT = "piper:joe"

_ACCENTS = ("en-us", "en-us", "en-gb", "en-gb-scotland")
_VARIANTS = (
    *("m1", "m2", "m3", "m4", "m6", "m8", "f1", "f2", "f3", "f4", "max", "linda", "Michael", "Annie"),
    *("belinda", "steph", "Gene", "adam", "Andrea", "Lee", "Mike", "paul", "rob", "victor", "john"),
    *("Storm", "shelby", "travis", "anika", "edward"),
)
_HELD_OUT_VARIANTS = ("m5", "m7", "f5", "Alicia", "Andy", "Denis")

_MBROLA = (
    *("us1", "us3", "en1", "de1-en", "de2-en", "de4-en", "de5-en", "de6-en", "fr1-en", "fr4-en"),
    *("af1-en", "nl2-en", "gr2-en", "hu1-en", "pl1-en", "ro1-en", "sw1-en", "sw2-en"),
)
"""Recorded diphones: Americans, a Briton, and people of other tongues who speak English."""

USERS = (
    *("flite:slt", "flite:rms", "flite:kal16") * 6,
    *("pico:en-US", "pico:en-GB") * 6,
    *("rhvoice:alan", "rhvoice:clb", "rhvoice:slt") * 5,
    *(f"mbrola:{name}" for name in _MBROLA * 2),
    *("festival:ked_diphone",) * 3,
    *("festival:cmu_us_slt_arctic_hts",) * 2,
    *(f"espeak:{_ACCENTS[n % len(_ACCENTS)]}+{name}" for n, name in enumerate(_VARIANTS)),
)
"""All but espeak's variants, which are rules, are recorded people, and drawn more often. festival is slow."""

HELD_OUT_USERS = (
    *("flite:awb", "rhvoice:bdl") * 4,
    *("mbrola:us2", "mbrola:de3-en") * 2,
    *(f"espeak:{_ACCENTS[n % len(_ACCENTS)]}+{name}" for n, name in enumerate(_HELD_OUT_VARIANTS)),
)

NATURAL_STYLES = (
    *("af_alloy", "af_aoede", "af_heart", "af_jessica", "af_kore", "af_nicole", "af_river", "af_sarah"),
    *("af_sky", "am_adam", "am_fenrir", "am_liam", "am_michael", "am_onyx", "am_puck", "am_santa"),
    *("bf_alice", "bf_isabella", "bf_lily", "bm_daniel", "bm_fable", "bm_george"),
    *("jf_alpha", "jf_gongitsune", "jf_tebukuro", "jm_kumo"),
)
"""Of a neural synthesiser. Their weighted means sound like other people."""

DEV_NATURAL_USERS = ("kokoro:af_nova", "kokoro:am_eric")
"""They only choose between checkpoints."""

HELD_OUT_NATURAL_USERS = (
    *("kokoro:af_bella", "kokoro:am_echo", "kokoro:bf_emma", "kokoro:bm_lewis", "kokoro:jf_nezumi"),
)
"""Neither alone nor in a mean in training."""


def is_natural(voice: str) -> bool:
    return voice.startswith("kokoro:")


def natural(random: Random) -> str:
    """One of the styles, or a mean of two or three with random weights: `kokoro:a*0.7+b*0.3`."""
    names = random.sample(NATURAL_STYLES, random.choice((1, 1, 1, 2, 2, 3)))
    parts = [random.uniform(0.2, 1.0) for _ in names]
    return "kokoro:" + "+".join(
        f"{name}*{part / sum(parts):.2f}" for name, part in zip(names, parts, strict=True)
    )
