"""What the host tells the device before a stage runs: named integers and floats, in one transfer.

A feed's tensors never move, so that a captured CUDA graph reads what was last pushed. On a CPU host
and device are the same memory and a push costs nothing. Refuses to know what the numbers mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from model.compact.recording import now

Shape = tuple[int, ...]
Ints = npt.NDArray[np.int64]
Host = Mapping[str, npt.NDArray[Any]]
Device = Mapping[str, Tensor]
Live = Callable[..., None]


class Feed:
    """host[name]: arrays to fill; device[name]: the same numbers where the model is, after `push`.

    live(function, *tensors) calls the function at every run of a stage, recorded or not.
    """

    def __init__(
        self, integers: Mapping[str, Shape], floats: Mapping[str, Shape], device: torch.device
    ) -> None:
        self.live: Live = now
        self.host: dict[str, npt.NDArray[Any]] = {}
        self.device: dict[str, Tensor] = {}
        self._transfers: list[tuple[Tensor, Tensor]] = []
        for shapes, dtype in ((integers, torch.int64), (floats, torch.float32)):
            self._lay_out(shapes, dtype, device)

    def push(self) -> None:
        for device, host in self._transfers:
            device.copy_(host, non_blocking=True)

    def _lay_out(self, shapes: Mapping[str, Shape], dtype: torch.dtype, device: torch.device) -> None:
        size = sum(math.prod(shape) for shape in shapes.values())
        cuda = device.type == "cuda"
        here = torch.zeros(size, dtype=dtype, pin_memory=cuda)
        there = torch.zeros(size, dtype=dtype, device=device) if cuda else here
        if cuda:
            self._transfers.append((there, here))
        offset = 0
        for name, shape in shapes.items():
            end = offset + math.prod(shape)
            self.host[name] = here[offset:end].view(shape).numpy()
            self.device[name] = there[offset:end].view(shape)
            offset = end
