"""Building modules whose weights are read later: on the meta device nothing is worked out for them.

A meta tensor has no values, and yet torch draws them: in Python, for which it first imports its whole
compiler, a quarter of what a start takes on a CPU. Refuses to know checkpoints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

_FILLS = frozenset({Tensor.normal_, Tensor.uniform_, Tensor.erfinv_, Tensor.mul_, Tensor.add_, Tensor.clamp_})
"""What `nn.init.trunc_normal_` is made of: it does not ask the mode itself, as the others do."""


class Unfilled(TorchFunctionMode):
    """While it is entered, what would only change the values of a meta tensor is left out."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        del types
        given = dict(kwargs or {})
        if func in _FILLS or getattr(func, "__module__", None) == nn.init.__name__:
            tensor: torch.Tensor = args[0] if args else given["tensor"]
            if tensor.is_meta:
                return tensor
        return func(*args, **given)
