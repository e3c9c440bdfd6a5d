"""What stops the sidecar, told in one line. Refuses to know how it is shown."""

from __future__ import annotations


class SidecarError(Exception):
    """What was asked cannot be done; its text is one line for a person."""


class HearingFailed(SidecarError):
    """The model broke while it worked; starting again may help."""


class NoModel(SidecarError):
    """The Whisper model is not on this machine; starting again changes nothing."""
