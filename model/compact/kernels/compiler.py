"""The only door to numba, which carries its own LLVM: functions of addresses to machine code.

Refuses to know what is compiled.
"""

from __future__ import annotations

import hashlib
import inspect
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import llvmlite
import llvmlite.binding
import numba
from llvmlite import ir
from numba import carray
from numba.core import cgutils
from numba.core import types as numba_types
from numba.extending import intrinsic as numba_intrinsic

from model import sampler
from model.compact.kernels.shelf import Shelf

__all__ = ["Compiler", "adder", "chooser", "exactly", "helper", "intrinsic", "shared"]
__all__ += ["shared_adder", "shared_exactly", "carray", "cgutils", "ir", "types"]

numba.config.DISABLE_JIT = 0  # kernels are made of what only LLVM knows
types: Any = numba_types
F = TypeVar("F", bound=Callable[..., Any])
Compiled = Callable[[int], None]

OPTIONS: dict[str, Any] = {"error_model": "numpy"}
FUSED = frozenset({"contract"})
"""A product and the sum it goes into may be rounded once; nothing else is left to the compiler."""

_shared: list[tuple[str, Any, Callable[..., None], frozenset[str]]] = []


def intrinsic(function: Callable[..., Any]) -> Any:
    """A function that writes LLVM's own words where it is called (numba.extending)."""
    return numba_intrinsic(function)


def helper(function: F) -> F:
    """A function that only compiled ones call; compiled with the first of them."""
    return _helper(function, FUSED)


def exactly(function: F) -> F:
    """A helper that rounds after every operation."""
    return _helper(function, frozenset())


def adder(function: F) -> F:
    """A helper whose sums may go crosswise; how they go hangs on nothing but how many there are."""
    return _helper(function, FUSED | {"reassoc", "nsz"})


def chooser(function: F) -> F:
    """A helper that looks for a greatest number; where one is none, the answer may be any of them."""
    return _helper(function, FUSED | {"reassoc", "nsz", "nnan"})


def _helper(function: F, liberties: frozenset[str]) -> F:
    only = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    made: F = numba.njit(**OPTIONS, **only, fastmath=set(liberties))(function)
    return made


def shared(function: F, liberties: frozenset[str] = FUSED) -> F:
    """A helper of integers that is compiled by itself, once, and that others call by its name.

    Else numba would compile it anew within each that calls it, and that within each that calls that.
    """
    parameters = len(inspect.signature(function).parameters)
    name = f"duet_{function.__module__}_{function.__name__}".replace(".", "_")
    kind = types.void(*[types.int64] * parameters)
    _shared.append((name, kind, function, liberties))
    made: F = types.ExternalFunction(name, kind)
    return made


def shared_exactly(function: F) -> F:
    """The same of one that rounds after every operation."""
    return shared(function, frozenset())


def shared_adder(function: F) -> F:
    """The same of an `adder`."""
    return shared(function, FUSED | {"reassoc", "nsz"})


@dataclass
class Compiler:
    """Compiles, or loads what an earlier start compiled. count, seconds: what was compiled anew."""

    count: int = 0
    seconds: float = 0.0
    _linked: list[Any] = field(default_factory=list)
    _shelf: Shelf | None = None
    _alone: threading.Lock = field(default_factory=threading.Lock)

    def compile(self, function: Callable[[int], None]) -> Compiled:
        """The function of one address as machine code."""
        with self._alone:
            for name, kind, helped, liberties in _shared[len(self._linked) :]:
                code = self._timed(numba.cfunc, kind, helped, liberties)
                llvmlite.binding.add_symbol(name, code.address)
                self._linked.append(code)
            made: Compiled = self._timed(numba.njit, types.void(types.int64), function, FUSED, nogil=True)
        return made

    def _timed(
        self, how: Any, kind: Any, function: Callable[..., None], liberties: frozenset[str], **options: Any
    ) -> Any:
        began = time.monotonic()
        self._shelf = self._shelf or Shelf(_version())
        given = OPTIONS | options | {"fastmath": set(liberties)}
        made, anew = _compiled(how, kind, function, given, self._shelf)
        if anew:
            self._shelf.seal()
            self.count += 1
            self.seconds += time.monotonic() - began
        return made


def _compiled(
    how: Any, kind: Any, function: Callable[..., None], options: dict[str, Any], shelf: Shelf
) -> tuple[Any, bool]:
    """The machine code, and whether it had to be compiled."""
    if shelf.folder is not None:
        before = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(shelf.folder)  # read when a function is handed over
        try:
            made = how(kind, cache=True, **options)(function)
            return made, not (made.stats.cache_hits if how is numba.njit else made.cache_hits)
        except (OSError, RuntimeError) as error:  # a full disk; a folder that is not to be written
            shelf.close(error)
        finally:
            numba.config.CACHE_DIR = before
    return how(kind, **options)(function), True


def _version() -> str:
    """Of what kernels are made of and of what compiles them: numba looks at one file of several only."""
    digest = hashlib.sha256(f"{numba.__version__} {llvmlite.__version__}".encode())
    for path in [*sorted(Path(__file__).parent.glob("*.py")), Path(sampler.__file__)]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
