"""Where recordings are kept, written on threads of their own so that a slow or full disk delays nobody.

A call hands in its frames and goes on. One thread writes every call's frames in order, one closes what
is finished (compressing an hour takes a while), one repairs what a killed process left behind. A call
may have `WAITING_FRAMES` waiting; what comes beyond is counted and becomes silence (`server.tape`).

Refuses to know wires, sessions and what a recording looks like inside (`audio.recording`).
"""

from __future__ import annotations

import json
import logging
import queue
import re
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Literal

from audio.frames import Samples
from audio.recording import FrameFlags, RecordingWriter, open_recording
from server.logs import SessionLog
from server.settings import ConfigError
from server.tape import Tape

WAITING_FRAMES = 125
"""10 s of one call, 1.9 MB of samples."""

SESSION_ID = re.compile(r"sess_[0-9a-f]{32}")
SUFFIXES = (".flac", ".wav")

log = logging.getLogger("duet.archive")


class Archive:
    ...
