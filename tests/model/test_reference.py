"""What only the reference runtime has; the laws it shares are in test_runtime_laws."""

from __future__ import annotations

from model.checkpoint import Loaded
from model.reference import ReferenceRuntime
from tests.model.conftest import CONTEXT


def test_what_a_session_takes_is_measured_and_grows_with_the_context(loaded: Loaded) -> None:
    """One layer of 128 x float32 keys and values over the context is the largest part."""
    size = ReferenceRuntime.session_bytes(loaded.mimi, loaded.lm)
    assert 2 * CONTEXT * 128 * 4 < size < 1_000_000
