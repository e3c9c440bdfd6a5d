"""From the command line's words to a running engine: device, dtype, memory, threads.

Refuses to know sockets and sessions.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable
from pathlib import Path

import sentencepiece
import torch

from model.checkpoint import Loaded, load
from model.compact.refusals import Unsupported
from model.compact.runtime import CompactRuntime
from model.config import ModelError
from model.engine import Engine
from model.faults import telling_line
from model.reference import ReferenceRuntime
from model.runtime import Runtime
from model.step_times import STEP_BUDGET_S
from model.steps import StepReport
from model.threads import choose

RUNTIMES = ("auto", "compact", "reference")
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
TRIED_ROWS = 4
"""Sessions in the steps that the number of threads is chosen by: a server that is neither idle nor full."""
SPARE_BYTES = 512 * 1024**2
"""Left free beside the sessions' state, for what a step needs while it runs."""

log = logging.getLogger("duet.model")


def open_engine(
    model: str,
    *,
    device: str,
    dtype: str,
    capacity: int,
    on_step: Callable[[StepReport], None],
    runtime: str = "auto",
    measured: bool = False,
) -> Engine:
    """Loads a checkpoint and builds the engine, not yet started. Raises ModelError with one line.

    runtime: auto takes the compact one where it can run the checkpoint, else the reference.
    measured: time steps at the start, and admit no more sessions than are served in time.
    """
    device = pick_device(device)
    if dtype == "auto":
        dtype = "bfloat16" if device.startswith("cuda") else "float32"
    if dtype not in DTYPES:
        raise ModelError(f"dtype must be one of auto, {', '.join(DTYPES)}, not {dtype}")
    if runtime not in RUNTIMES:
        raise ModelError(f"runtime must be one of {', '.join(RUNTIMES)}, not {runtime}")
    loaded = load(model, device, DTYPES[dtype])
    built = build_runtime(loaded, runtime, capacity)
    if device == "cpu":
        _prepare(built)
        choose(lambda: built.measure(min(capacity, TRIED_ROWS)))
    budget_s = STEP_BUDGET_S if measured else None
    return Engine(built, PieceVocabulary(loaded), on_step, budget_s)


def build_runtime(loaded: Loaded, runtime: str, capacity: int) -> Runtime:
    """The runtime asked for, with room for `capacity` sessions. Raises ModelError."""
    if runtime != "reference":
        try:
            built = _built(CompactRuntime, loaded, capacity)
            if loaded.info.device != "cpu":
                log.warning(
                    "the compact runtime's code for CUDA has been tested on a CPU only, not yet on a GPU"
                )
            return built
        except Unsupported as reason:
            if runtime == "compact":
                raise ModelError(f"the compact runtime cannot run this model: {reason}") from reason
            log.warning("the reference runtime serves this model, the compact one cannot: %s", reason)
    return _built(ReferenceRuntime, loaded, capacity)


def _prepare(runtime: Runtime) -> None:
    """Here, where Ctrl-C ends it, and not when the engine starts: kernels may have to be compiled."""
    try:
        runtime.prepare()
    except Exception as error:
        reason = f"{telling_line(error)} (--runtime reference does without kernels)"
        raise ModelError(f"the model failed its warm-up: {reason}") from error


def _built(
    kind: type[CompactRuntime] | type[ReferenceRuntime], loaded: Loaded, capacity: int
) -> CompactRuntime | ReferenceRuntime:
    _check_memory(kind.session_bytes(loaded.mimi, loaded.lm), loaded.info.device, capacity)
    try:
        return kind(loaded.mimi, loaded.lm, loaded.info, capacity, loaded.condition_tensors(capacity))
    except (RuntimeError, AssertionError) as error:  # torch has no narrower out-of-memory on a CPU
        raise ModelError(f"capacity {capacity} cannot be set up: {telling_line(error)}") from error


def pick_device(device: str) -> str:
    """`auto` is the first CUDA device, else the CPU. Raises ModelError for one that is not there."""
    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        kind = torch.device(device)
    except RuntimeError as error:
        raise ModelError(f"device must be auto, cpu, cuda or cuda:N, not {device}") from error
    if kind.type not in ("cpu", "cuda"):
        raise ModelError(f"device must be auto, cpu, cuda or cuda:N, not {device}")
    if kind.type == "cuda" and (kind.index or 0) >= torch.cuda.device_count():
        raise ModelError(f"device {device} is not there: {torch.cuda.device_count()} CUDA devices found")
    return device


class PieceVocabulary:
    """Keeps `model.text.Vocabulary` over a sentencepiece model and moshi's padding tokens."""

    def __init__(self, loaded: Loaded) -> None:
        self._tokenizer: sentencepiece.SentencePieceProcessor = loaded.tokenizer
        self._silent = {loaded.lm.text_padding_token_id, loaded.lm.end_of_text_padding_id}

    def piece(self, token: int) -> str | None:
        silent = token in self._silent or not 0 <= token < self._tokenizer.vocab_size()
        if silent or self._tokenizer.is_control(token) or self._tokenizer.is_unknown(token):
            return None
        return str(self._tokenizer.id_to_piece(token))


def _check_memory(each: int, device: str, capacity: int) -> None:
    free = _free_bytes(device) - SPARE_BYTES
    if each * capacity > free:
        raise ModelError(
            f"capacity {capacity} needs {each * capacity / 1e9:.1f} GB of memory for its sessions,"
            f" {max(free, 0) / 1e9:.1f} GB is free: --capacity may be at most {max(free, 0) // each}"
        )


def _free_bytes(device: str) -> int:
    if device.startswith("cuda"):
        return int(torch.cuda.mem_get_info(device)[0])
    try:
        available = re.search(r"MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text())
        if available:  # counts the page cache, which the system gives up when asked
            return int(available[1]) * 1024
    except OSError:
        pass
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
