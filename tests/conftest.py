"""How property tests run everywhere: a loaded machine is slow, and that is no failure."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("duet", deadline=None)
settings.load_profile("duet")
