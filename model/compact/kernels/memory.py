"""Addresses as arrays, inside kernels. Nothing is checked: whoever binds a kernel answers for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from model.compact.kernels.compiler import carray, cgutils, helper, intrinsic, ir, types

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.int32]


def _pointer_to(numba_type: Any) -> Any:
    """An address as a pointer to the type."""

    @intrinsic
    def pointer(typing: Any, address: Any) -> Any:
        del typing
        result = types.CPointer(numba_type)

        def make(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.inttoptr(args[0], context.get_value_type(signature.return_type))

        return result(types.int64), make

    return pointer


_to_float, _to_int, _to_word = (_pointer_to(kind) for kind in (types.float32, types.int64, types.int32))


@helper
def floats(address: int, count: int) -> Floats:
    """float32 [count]."""
    found: Floats = carray(_to_float(address), count)
    return found


@helper
def ints(address: int, count: int) -> Ints:
    """int64 [count]."""
    found: Ints = carray(_to_int(address), count)
    return found


@intrinsic
def at(typing: Any, address: Any, place: Any) -> Any:
    """The int64 at a place of those that begin at the address: what sheets are read with.

    An array would do as well, but takes numba many times as long to compile.
    """

    def make(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(_int_place(builder, *args))

    return types.int64(types.int64, types.int64), make


@intrinsic
def set_at(typing: Any, address: Any, place: Any, value: Any) -> Any:
    """Writes one."""

    def make(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[2], _int_place(builder, *args[:2]))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), make


def _int_place(builder: Any, address: Any, place: Any) -> Any:
    offset = builder.mul(place, ir.Constant(ir.IntType(64), 8))
    return builder.inttoptr(builder.add(address, offset), ir.IntType(64).as_pointer())


@helper
def words(address: int, count: int) -> Words:
    """int32 [count]."""
    found: Words = carray(_to_word(address), count)
    return found


def _room(size: int) -> Any:
    """A compiled function of nothing: the address of `size` bytes that are the caller's until it returns."""

    @intrinsic
    def room(typing: Any) -> Any:
        del typing

        def make(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            del context, signature, args
            place = cgutils.alloca_once(builder, ir.IntType(32), size=size // 4)
            return builder.ptrtoint(place, ir.IntType(64))

        return types.int64(), make

    return room


small_room = _room(1024)
