"""The innermost loops, written in LLVM's own words so that their sums stay in registers.

Numbers go by eights: one register of AVX2, half of one of AVX-512; a processor without gets two of four.
Refuses to know what is multiplied.
"""

from __future__ import annotations

from typing import Any

from model.compact.kernels.compiler import cgutils, intrinsic, ir, types

LANES = 8
AHEAD = 4096
"""Bytes that a lone row's weight is fetched ahead; measured."""

_FLOAT, _INT32, _INT64 = ir.FloatType(), ir.IntType(32), ir.IntType(64)
_FLOATS, _INTS = ir.VectorType(_FLOAT, LANES), ir.VectorType(_INT32, LANES)
_BYTE = ir.IntType(8)


def tile(rows: int, groups: int, halved: bool, ahead: int = 0) -> Any:
    """y[row, 16 * groups] = sum over k of x[row, k] * w[k, 16 * groups], each sum in the order of k.

    A compiled function of (w, bytes from w's k to k + 1, x, bytes from row to row, count of k, y, bytes
    from row to row). w holds groups of 16 numbers: float32, or halved, as `weights` packs them.
    """

    @intrinsic
    def run(typing: Any, w: Any, w_step: Any, x: Any, x_step: Any, count: Any, y: Any, y_step: Any) -> Any:
        del typing, w, w_step, x, x_step, count, y, y_step

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            del signature
            _Tile(builder, rows, groups, halved, ahead).write(*args)
            return context.get_dummy_value()

        return types.void(*[types.int64] * 7), generate

    return run


def dots(rows: int) -> Any:
    """y[row] = sum over k of x[k] * w[row, k], for a number of k that goes by eights.

    A compiled function of (w, bytes from row to row, x, eights of k, y). Sums of eight go crosswise.
    """

    @intrinsic
    def run(typing: Any, w: Any, w_step: Any, x: Any, eights: Any, y: Any) -> Any:
        del typing, w, w_step, x, eights, y

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            del signature
            _Dots(builder, rows).write(*args)
            return context.get_dummy_value()

        return types.void(*[types.int64] * 5), generate

    return run


class _Loop:
    """What both kinds of loop are written with."""

    def __init__(self, builder: Any) -> None:
        self._to = builder

    def _function(self, name: str, result: Any, *arguments: Any) -> Any:
        kind = ir.FunctionType(result, arguments)
        return cgutils.get_or_insert_function(self._to.module, kind, name)

    def _multiply_add(self, x: Any, y: Any, z: Any) -> Any:
        function = self._function(f"llvm.fmuladd.v{LANES}f32", _FLOATS, *[_FLOATS] * 3)
        return self._to.call(function, [x, y, z])

    def _load(self, address: Any, kind: Any) -> Any:
        found = self._to.load(self._to.inttoptr(address, kind.as_pointer()))
        found.align = 4
        return found

    def _store(self, value: Any, address: Any) -> None:
        self._to.store(value, self._to.inttoptr(address, value.type.as_pointer())).align = 4


class _Dots(_Loop):
    """Writes the loop of some rows' sums."""

    def __init__(self, builder: Any, rows: int) -> None:
        super().__init__(builder)
        self._rows = rows

    def write(self, w: Any, w_step: Any, x: Any, eights: Any, y: Any) -> None:
        to, before = self._to, self._to.block
        loop, after = to.append_basic_block("k"), to.append_basic_block("after")
        lines = [to.add(w, to.mul(w_step, _number(row))) for row in range(self._rows)]
        to.branch(loop)
        to.position_at_end(loop)
        k = to.phi(_INT64)
        k.add_incoming(_number(0), before)
        sums = [to.phi(_FLOATS) for _ in lines]
        place = to.mul(k, _number(4 * LANES))
        numbers = self._load(to.add(x, place), _FLOATS)
        grown = [
            self._multiply_add(numbers, self._load(to.add(line, place), _FLOATS), row_sum)
            for line, row_sum in zip(lines, sums, strict=True)
        ]
        following = to.add(k, _number(1))
        k.add_incoming(following, loop)
        for phi, value in zip(sums, grown, strict=True):
            phi.add_incoming(ir.Constant(_FLOATS, [0.0] * LANES), before)
            phi.add_incoming(value, loop)
        to.cbranch(to.icmp_signed("<", following, eights), loop, after)
        to.position_at_end(after)
        across = self._function(f"llvm.vector.reduce.fadd.v{LANES}f32", _FLOAT, _FLOAT, _FLOATS)
        for row, value in enumerate(grown):
            total = to.call(across, [ir.Constant(_FLOAT, 0.0), value], fastmath=("reassoc",))
            self._store(total, to.add(y, _number(4 * row)))


class _Tile(_Loop):
    """Writes one tile's loop."""

    def __init__(self, builder: Any, rows: int, groups: int, halved: bool, ahead: int) -> None:
        super().__init__(builder)
        self._rows, self._groups, self._halved, self._ahead = rows, groups, halved, ahead

    def write(self, w: Any, w_step: Any, x: Any, x_step: Any, count: Any, y: Any, y_step: Any) -> None:
        to, before = self._to, self._to.block
        loop, after = to.append_basic_block("k"), to.append_basic_block("after")
        lines = [to.add(x, to.mul(x_step, _number(row))) for row in range(self._rows)]
        to.branch(loop)
        to.position_at_end(loop)
        k = to.phi(_INT64)
        k.add_incoming(_number(0), before)
        sums = [[to.phi(_FLOATS) for _ in range(2 * self._groups)] for _ in lines]
        weights = self._weights(to.add(w, to.mul(k, w_step)))
        grown = []
        for line, row_sums in zip(lines, sums, strict=True):
            number = self._spread(to.add(line, to.mul(k, _number(4))))
            grown.append([self._multiply_add(number, *pair) for pair in zip(weights, row_sums, strict=True)])
        following = to.add(k, _number(1))
        k.add_incoming(following, loop)
        for row_sums, row_grown in zip(sums, grown, strict=True):
            for phi, value in zip(row_sums, row_grown, strict=True):
                phi.add_incoming(ir.Constant(_FLOATS, [0.0] * LANES), before)
                phi.add_incoming(value, loop)
        to.cbranch(to.icmp_signed("<", following, count), loop, after)
        to.position_at_end(after)
        for row, row_grown in enumerate(grown):
            line = to.add(y, to.mul(y_step, _number(row)))
            for i, value in enumerate(row_grown):
                self._store(value, to.add(line, _number(4 * LANES * i)))

    def _weights(self, address: Any) -> list[Any]:
        """float32 by eights: 2 * groups of them."""
        found = []
        for group in range(self._groups):
            if self._halved:
                place = self._to.add(address, _number(4 * LANES * group))
                both = self._load(place, _INTS)
                low = self._to.shl(both, _eight(16))
                high = self._to.and_(both, _eight(0xFFFF0000))
                found += [self._to.bitcast(part, _FLOATS) for part in (low, high)]
            else:
                for half in range(2):
                    place = self._to.add(address, _number(4 * LANES * (2 * group + half)))
                    found.append(self._load(place, _FLOATS))
        if self._ahead:
            self._fetch(address, 4 * LANES * self._groups * (1 if self._halved else 2))
        return found

    def _fetch(self, address: Any, size: int) -> None:
        """Asks for what will be read in a while."""
        prefetch = self._function("llvm.prefetch.p0", ir.VoidType(), _BYTE.as_pointer(), *[_INT32] * 3)
        for line in range(0, size, 64):
            place = self._to.inttoptr(self._to.add(address, _number(self._ahead + line)), _BYTE.as_pointer())
            self._to.call(prefetch, [place, *(ir.Constant(_INT32, n) for n in (0, 3, 1))])

    def _spread(self, address: Any) -> Any:
        """One number in all lanes."""
        number = self._load(address, _FLOAT)
        first = self._to.insert_element(ir.Constant(_FLOATS, ir.Undefined), number, ir.Constant(_INT32, 0))
        return self._to.shuffle_vector(first, ir.Constant(_FLOATS, ir.Undefined), _eight(0))


def _number(value: int) -> Any:
    return ir.Constant(_INT64, value)


def _eight(value: int) -> Any:
    return ir.Constant(_INTS, [value] * LANES)
