"""A kernel: a compiled function of tensors and integers that writes into tensors it is given.

Bound to its arguments it is a call without any: what a recording replays. Refuses to know what kernels
compute and who records.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from torch import Tensor

from model.compact.kernels.compiler import Compiled, Compiler

log = logging.getLogger("duet.model")


class Sheet:
    """Numbers that a kernel reads off one address: integers, and where tensors and other sheets lie.

    It keeps what it tells of; tensors must stay where they are.
    """

    def __init__(self, *things: Argument) -> None:
        self._kept = things
        self._numbers = np.array([_number(thing) for thing in things], np.int64)
        self.address: int = self._numbers.ctypes.data


Argument = Tensor | npt.NDArray[Any] | Sheet | int
Watcher = Callable[["Kernel", tuple[Argument, ...]], None]


class _Watched(threading.local):
    def __init__(self) -> None:
        self.watchers: list[Watcher] = []


_here = _Watched()


def watch(watcher: Watcher) -> None:
    """From now on, in this thread, the watcher is told of every call, instead of whoever was before."""
    _here.watchers.append(watcher)


def unwatch() -> None:
    """Undoes the last `watch`."""
    _here.watchers.pop()


class Kernel:
    """function: of one address, where its arguments lie as int64: tensors as where they begin.

    Tensors must be on the CPU, of the types and strides that the function was written for. Compiled when
    first bound, or loaded, where an earlier start has left it.
    """

    def __init__(self, function: Callable[[int], None]) -> None:
        self._function = function
        self._compiled: Compiled | None = None

    def __call__(self, *args: Argument) -> None:
        call, kept = self.bind(*args)
        call()
        del kept
        if _here.watchers:
            _here.watchers[-1](self, args)

    def bind(self, *args: Argument) -> tuple[Callable[[], None], Any]:
        """The call, and what must be kept as long as it is."""
        if self._compiled is None:
            self._compiled = _compiler.compile(self._function)
        block = np.array([_number(arg) for arg in args], np.int64)
        return partial(self._compiled, block.ctypes.data), (block, args)


_compiler = Compiler()


def tell() -> None:
    """Logs what was compiled since the last time, if anything was."""
    if _compiler.count:
        log.info("compiled %d kernels for this processor in %.1f s", _compiler.count, _compiler.seconds)
    _compiler.count, _compiler.seconds = 0, 0.0


def _number(arg: Argument) -> int:
    if isinstance(arg, Tensor):
        return arg.data_ptr()
    if isinstance(arg, np.ndarray):
        return arg.ctypes.data
    return arg.address if isinstance(arg, Sheet) else arg
