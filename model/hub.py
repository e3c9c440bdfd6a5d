"""A checkpoint from the Hugging Face hub, with one line when it cannot be had and no half-minute before it.

Refuses to know what is in a checkpoint; moshi's loader names the files.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from huggingface_hub import constants
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError
from huggingface_hub.utils import get_session, reset_sessions  # type: ignore[attr-defined]
from moshi.models import loaders

from model.config import ModelError
from model.faults import telling_line

_TALKERS = ("huggingface_hub", "urllib3")


def fetch(name: str) -> loaders.CheckpointInfo:
    """Downloads what is not in the local cache yet, with progress bars. Raises ModelError with one line."""
    with _quiet():
        unreachable = _unreachable()
        try:
            with _offline(unreachable is not None):
                return loaders.CheckpointInfo.from_hf_repo(name)
        except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
            missed = unreachable if isinstance(error, LocalEntryNotFoundError) else None
            cause = _innermost(missed) if missed else error
            problem = "not a folder here, and the hub did not give it"
            raise ModelError(f"model {name}: {problem}: {telling_line(cause)}") from error


def _unreachable() -> OSError | None:
    """Why the hub does not answer. Asked once: its client tries six times for each file, 23 s in all
    (huggingface_hub/utils/_http.py, http_backoff)."""
    try:
        get_session().head(constants.ENDPOINT, timeout=constants.HF_HUB_ETAG_TIMEOUT)
    except OSError as error:  # whatever requests raises is one
        return error
    return None


@contextmanager
def _offline(on: bool) -> Iterator[None]:
    """Only the local cache is looked at, as with the variable HF_HUB_OFFLINE."""
    before = constants.HF_HUB_OFFLINE
    constants.HF_HUB_OFFLINE = before or on
    reset_sessions()
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = before
        reset_sessions()


@contextmanager
def _quiet() -> Iterator[None]:
    """What they log of a failure, moshi's guess that the repository is an old one, is said in one line."""
    loggers = [logging.getLogger(name) for name in _TALKERS]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _innermost(error: OSError) -> BaseException:
    """requests wraps urllib3's MaxRetryError, and that the one reason a person can use."""
    wrapped = error.args[0] if error.args else error
    reason = getattr(wrapped, "reason", wrapped)
    return reason if isinstance(reason, BaseException) else error
