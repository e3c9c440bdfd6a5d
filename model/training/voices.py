"""Who speaks: the agent's one voice, the users' voices, and those kept for the checks.

A voice is `engine:name`. Only what the package indexes give: espeak-ng's variants and flite's voices
(Debian), piper's joe and Kokoro's styles (PyPI). Refuses to know how an engine is run.
"""

from __future__ import annotations

AGENT = "piper:joe"

_ACCENTS = ("en-us", "en-us", "en-gb", "en-gb-scotland")
_VARIANTS = (
    *("m1", "m2", "m3", "m4", "m6", "m8", "f1", "f2", "f3", "f4", "max", "linda", "Michael", "Annie"),
    *("belinda", "steph", "Gene", "adam", "Andrea", "Lee", "Mike", "paul", "rob", "victor", "john"),
    *("Storm", "shelby", "travis", "anika", "edward"),
)
_HELD_OUT_VARIANTS = ("m5", "m7", "f5", "Alicia", "Andy", "Denis")

USERS = (
    *("flite:slt", "flite:rms", "flite:kal16") * 8,
    *(f"espeak:{_ACCENTS[n % len(_ACCENTS)]}+{name}" for n, name in enumerate(_VARIANTS)),
)
"""flite's three speakers are recorded people, espeak's variants are rules: so each of the three is
drawn as often as eight variants."""

HELD_OUT_USERS = (
    *("flite:awb",) * 4,
    *(f"espeak:{_ACCENTS[n % len(_ACCENTS)]}+{name}" for n, name in enumerate(_HELD_OUT_VARIANTS)),
)

NATURAL_USERS = (
    *("kokoro:jf_alpha", "kokoro:jf_gongitsune", "kokoro:jf_tebukuro", "kokoro:jm_kumo"),
    *("kokoro:jf_alpha+jm_kumo", "kokoro:jf_gongitsune+jm_kumo", "kokoro:jf_tebukuro+jm_kumo"),
    *("kokoro:jf_alpha+jf_gongitsune", "kokoro:jf_alpha+jf_tebukuro", "kokoro:jf_gongitsune+jf_tebukuro"),
)
"""Styles of a neural synthesiser, and means of two, which sound like other people."""

HELD_OUT_NATURAL_USERS = ("kokoro:jf_nezumi",)
"""Neither alone nor in a mean in training."""
