"""A stage's operations written down once and replayed: on a CPU what a graph is on a GPU.

Recorded are the operations that compute, with the tensors they had; each is replayed into the tensor
it made, so that nothing is allocated, no view is made anew and no Python of the stage runs. What a
stage must decide anew each time it hands to `live`. Memory between operations is one arena that all
recordings share: they run one at a time, and none reads what another left. Refuses to know stages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter, tree_map_only

from model.compact.kernels.kernel import Argument, Kernel, unwatch, watch

ALIGNMENT = 64
_EMPTY = ("empty", "empty_like", "empty_strided", "new_empty")
_NAMED_ELSEWHERE: dict[str, Callable[..., Any]] = {
    "gelu": torch._C._nn.gelu,
    "silu": torch._C._nn.silu,  # type: ignore[attr-defined]
    "elu": torch._C._nn.elu,
    "linalg_vector_norm": torch.linalg.vector_norm,
    "__rshift__": torch.bitwise_right_shift,
}


def now(function: Callable[..., None], *tensors: Tensor) -> None:
    """What `live` is where nothing is recorded."""
    function(*tensors)


@dataclass(frozen=True, slots=True)
class _Call:
    """function is None where there is nothing to replay, only memory that was made.

    Kernels are bound to the places of their arguments once, and are then called with none.
    """

    function: Callable[..., Any] | Kernel | None
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    made: tuple[Tensor, ...]


class HostRead(RuntimeError):
    """A recorded function asked what a tensor holds: every replay would act on the first answer."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} reads numbers while a step is recorded; what hangs on them goes to `live`")


_READERS = {Tensor.numpy, Tensor.tolist, Tensor.__array__}
"""Past the dispatcher."""
_READ_TAGS = (torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape)


class _NoReaders(TorchFunctionMode):
    """Refuses the readers that no dispatcher sees. allowed: asked each time."""

    def __init__(self, allowed: Callable[[], bool]) -> None:
        super().__init__()
        self._allowed = allowed

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        if func in _READERS and not self._allowed():
            raise HostRead(func.__name__)
        return func(*args, **(kwargs or {}))


class Recorder:
    """Records while it is entered. Everything is carried out as well.

    Raises HostRead where the function looks at a tensor's numbers outside of what it hands to `live`,
    as far as torch tells: `torch.tensor([x[0]])` and `repr` get by.
    """

    def __init__(self) -> None:
        self.calls: list[_Call] = []
        self._paused = False
        self._modes = ExitStack()

    def __enter__(self) -> Recorder:
        watch(self._record_kernel)
        self._modes.callback(unwatch)
        self._modes.enter_context(_NoReaders(lambda: self._paused))
        self._modes.enter_context(_Dispatch(self._record))
        return self

    def __exit__(self, *error: Any) -> None:
        self._modes.close()

    def live(self, function: Callable[..., None], *tensors: Tensor) -> None:
        """Calls the function now and at every replay; it may look at the host. It writes into `tensors`."""
        self._paused = True
        try:
            function(*tensors)
        finally:
            self._paused = False
        self.calls.append(_Call(function, tensors, {}, ()))

    def _record_kernel(self, kernel: Kernel, args: tuple[Argument, ...]) -> None:
        if not self._paused:
            self.calls.append(_Call(kernel, args, {}, ()))

    def _record(self, func: Any, args: Any, kwargs: Any) -> Any:
        if self._paused:
            return func(*args, **kwargs)
        if _reads(func, args):
            raise HostRead(func._schema.name)
        result = func(*args, **kwargs)
        call = _call_of(func, args, kwargs, result)
        if call is not None:
            self.calls.append(call)
        return result


class _Dispatch(TorchDispatchMode):
    """Hands every operation on, those that are made of others in their parts."""

    def __init__(self, record: Callable[..., Any]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._record = record

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        if torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), "CompositeImplicitAutograd"):
            with self:
                return func.decompose(*args, **(kwargs or {}))
        return self._record(func, args, kwargs or {})


def _reads(func: Any, args: tuple[Any, ...]) -> bool:
    """Whether what comes out, or how large it is, hangs on what the tensors hold."""
    if func is torch.ops.aten.index.Tensor:
        return any(tensor.dtype in (torch.bool, torch.uint8) for tensor in _tensors(args[1]))
    return any(tag in func.tags for tag in _READ_TAGS)


def _call_of(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> _Call | None:
    name = func._schema.name.removeprefix("aten::")
    if func._schema.is_mutable:
        function = getattr(torch, name, None) if "out" in kwargs else getattr(Tensor, name)
        return _Call(_NAMED_ELSEWHERE.get(name, function or func), args, kwargs, ())
    made = tuple(_tensors(result))
    given = {_address(tensor) for tensor in _tensors([args, kwargs])}
    if any(_address(tensor) in given for tensor in made):
        return None  # a view
    if name in _EMPTY:
        return _Call(None, (), {}, made)
    return _written_into(func, name, args, kwargs, made)


def _written_into(
    func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], made: tuple[Tensor, ...]
) -> _Call:
    """The operation with its result as its output, or a copy where it takes none."""
    if name in ("_to_copy", "clone"):
        return _Call(Tensor.copy_, (made[0], args[0]), {}, made)
    if name == "_softmax":
        return _Call(torch.softmax, args[:2], {"out": made[0]}, made)
    if name == "native_layer_norm":  # its means are for a backward pass
        return _Call(_layer_norm, (made[0], *args), {}, made[:1])
    function = _NAMED_ELSEWHERE.get(name) or getattr(torch, name, None)
    if len(made) == 1 and function is not None:
        with_out = kwargs | {"out": made[0]}
        try:
            function(*args, **with_out)
            return _Call(function, args, with_out, made)
        except TypeError:  # no such output
            pass
    return _Call(partial(_copied, func, len(args)), (*args, *made), kwargs, made)


def _layer_norm(target: Tensor, *args: Any) -> None:
    target.copy_(torch.layer_norm(*args))


def _copied(func: Any, count: int, *args: Any, **kwargs: Any) -> None:
    """func of the first `count` arguments, its results copied into the others."""
    result = func(*args[:count], **kwargs)
    for target, source in zip(args[count:], _tensors(result), strict=True):
        target.copy_(source)


class Arena:
    """Memory for all recordings, as much as the greediest needs."""

    def __init__(self) -> None:
        self._memory = torch.empty(0, dtype=torch.uint8)

    def take(self, size: int) -> Tensor:
        """uint8 [size or more]. What was taken before stays valid; room grows by half, or more."""
        if size > len(self._memory):
            self._memory = torch.empty(max(size, len(self._memory) * 3 // 2), dtype=torch.uint8)
        return self._memory


class Recording:
    """What a Recorder wrote down. outputs: the stage's, which every replay fills anew."""

    def __init__(self, calls: Sequence[_Call], outputs: Sequence[Tensor], arena: Arena) -> None:
        places, size = _places(calls, outputs)
        house = _House(places, arena.take(size))
        self._replayed: list[Callable[[], Any]] = []
        self._kept: list[Any] = []
        for call in calls:
            self._bind(call, house)
        self.outputs: tuple[Tensor, ...] = house.move(tuple(outputs))

    def _bind(self, call: _Call, house: _House) -> None:
        if isinstance(call.function, Kernel):
            bound, kept = call.function.bind(*house.move(call.args))
            self._replayed.append(bound)
            self._kept.append(kept)
        elif call.function is not None:
            self._replayed.append(partial(call.function, *house.move(call.args), **house.move(call.kwargs)))

    def replay(self) -> tuple[Tensor, ...]:
        for call in self._replayed:
            call()
        return self.outputs


class Recorded:
    """A function of nothing that does the same every time: recorded at its first call, then replayed.

    Its memory is its own: it may be called while another recording is replayed.
    """

    def __init__(self, function: Callable[[], Tensor]) -> None:
        self._function = function
        self._recording: Recording | None = None

    def __call__(self) -> Tensor:
        if self._recording is not None:
            return self._recording.replay()[0]
        with Recorder() as recorder:
            output = self._function()
        self._recording = Recording(recorder.calls, [output], Arena())
        return output


class _House:
    """Gives tensors their place in the arena; those that were there before recording keep theirs."""

    def __init__(self, places: dict[int, int], memory: Tensor) -> None:
        self._places, self._memory = places, memory
        self._moved: dict[Any, Tensor] = {}

    def move(self, tree: Any) -> Any:
        return tree_map_only(Tensor, self._move, tree)

    def _move(self, tensor: Tensor) -> Tensor:
        """The same numbers through a tensor of inference mode, which is written without bookkeeping."""
        key = _address(tensor), tensor.dtype, tensor.storage_offset(), tensor.shape, tensor.stride()
        if key not in self._moved:
            storage, first = tensor.untyped_storage(), tensor.storage_offset()
            place = self._places.get(_address(tensor))
            if place is not None:
                storage, first = self._memory.untyped_storage(), first + place // tensor.itemsize
            moved = torch.empty(0, dtype=tensor.dtype)
            self._moved[key] = moved.set_(storage, first, tensor.shape, tensor.stride())
        return self._moved[key]


def _places(calls: Sequence[_Call], outputs: Sequence[Tensor]) -> tuple[dict[int, int], int]:
    """Where each storage that was made lies in the arena, and how large that is, in bytes.

    A place is given on as soon as the last operation that reads it is done. Outputs stay where they are:
    another recording may run before they are read.
    """
    ends = _last_uses(calls)
    kept = {_address(tensor) for tensor in outputs}
    free: list[tuple[int, int]] = []  # (size, place)
    leaving: dict[int, list[tuple[int, int]]] = {}
    places: dict[int, int] = {}
    top = 0
    for i, call in enumerate(calls):
        for tensor in call.made:
            address, needed = _address(tensor), _rounded(tensor.untyped_storage().nbytes())
            if address in places or address in kept:
                continue
            fitting = min((block for block in free if block[0] >= needed), default=None)
            if fitting is None:
                fitting, top = (needed, top), top + needed
            else:
                free.remove(fitting)
            places[address] = fitting[1]
            leaving.setdefault(ends[address], []).append(fitting)
        free += leaving.pop(i, [])
    return places, top


def _last_uses(calls: Sequence[_Call]) -> dict[int, int]:
    return {
        _address(tensor): i
        for i, call in enumerate(calls)
        for tensor in _tensors([call.args, call.kwargs, call.made])
    }


def _rounded(size: int) -> int:
    return -(-max(size, 1) // ALIGNMENT) * ALIGNMENT


def _address(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def _tensors(tree: Any) -> Iterator[Tensor]:
    leaves: Iterable[Any] = tree_iter(tree)
    return (leaf for leaf in leaves if isinstance(leaf, Tensor))
