"""How a stage is run: with just its rows, recorded and replayed; or padded to one of few sizes.

On CUDA a padded stage is captured as a graph, one for each size and variant, all before the first
session. No GPU has run that part yet. Padding rows are a slot of their own that nobody owns.
Refuses to know what stages compute.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from model.compact.feed import Feed
from model.compact.recording import Arena, Recorder, Recording, now
from model.compact.stages import Stage

RECORDED_ROWS = 32


class Launcher:
    """Runs stages with exactly their rows. Feeds are made when first asked for and kept.

    sizes: the numbers of rows whose first run takes longer, to be run before there are sessions.
    """

    def __init__(self, device: torch.device, sizes: Sequence[int] = ()) -> None:
        self._device = device
        self.sizes = sizes
        self._feeds: dict[tuple[str, int], Feed] = {}

    def size(self, n: int) -> int:
        """How many rows a stage of n is run with."""
        return n

    def feed(self, stage: Stage, n: int) -> Feed:
        """The stage's feed for `size(n)` rows."""
        key = stage.name, self.size(n)
        if key not in self._feeds:
            self._feeds[key] = Feed(*stage.shapes(key[1]), self._device)
        return self._feeds[key]

    def run(self, stage: Stage, feed: Feed, span: int, n: int) -> tuple[Tensor, ...]:
        """Pushes the feed and runs; the outputs are cut to n rows and stay valid until the next run."""
        feed.push()
        return tuple(output[:n] for output in self._outputs(stage, feed, span))

    def _outputs(self, stage: Stage, feed: Feed, span: int) -> tuple[Tensor, ...]:
        return stage.run(feed, span)


class RecordingLauncher(Launcher):
    """Records each stage for each number of rows the first time, and replays it from then on.

    Not for very many rows: there the operations themselves take the time.
    """

    def __init__(self, device: torch.device, capacity: int) -> None:
        super().__init__(device, range(1, min(capacity, RECORDED_ROWS) + 1))
        self._recordings: dict[tuple[str, int, int], Recording] = {}
        self._arena = Arena()

    def _outputs(self, stage: Stage, feed: Feed, span: int) -> tuple[Tensor, ...]:
        key = stage.name, len(feed.host["rows"]), span
        if key[1] > RECORDED_ROWS:
            return stage.run(feed, span)
        if key in self._recordings:
            return self._recordings[key].replay()
        recorder = Recorder()
        feed.live = recorder.live
        try:
            with recorder:
                outputs = stage.run(feed, span)
        finally:
            feed.live = now
        self._recordings[key] = Recording(recorder.calls, outputs, self._arena)
        return outputs


class PaddedLauncher(Launcher):
    """Pads to the next of `graph_sizes(capacity)`."""

    def __init__(self, device: torch.device, capacity: int) -> None:
        super().__init__(device, graph_sizes(capacity))

    def size(self, n: int) -> int:
        return next(size for size in self.sizes if size >= n)


class GraphLauncher(PaddedLauncher):
    """Replays captured CUDA graphs."""

    def __init__(self, device: torch.device, capacity: int) -> None:
        super().__init__(device, capacity)
        self._graphs: dict[tuple[str, int, int], tuple[Any, tuple[Tensor, ...]]] = {}
        self._pool: Any = torch.cuda.graph_pool_handle()

    def _outputs(self, stage: Stage, feed: Feed, span: int) -> tuple[Tensor, ...]:
        key = stage.name, len(feed.host["rows"]), span
        if key not in self._graphs:
            self._graphs[key] = self._capture(stage, feed, span)
        graph, outputs = self._graphs[key]
        graph.replay()
        return outputs

    def _capture(self, stage: Stage, feed: Feed, span: int) -> tuple[Any, tuple[Tensor, ...]]:
        """Runs once to let libraries set themselves up, then captures. What the run changed is a
        scratch row's: captures happen before there are sessions."""
        stream: Any = torch.cuda.Stream(self._device)  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream(self._device))
        with torch.cuda.stream(stream):
            stage.run(feed, span)
        torch.cuda.current_stream(self._device).wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self._pool):
            outputs = stage.run(feed, span)
        return graph, outputs


def graph_sizes(capacity: int) -> tuple[int, ...]:
    """Batch sizes to capture: 1, 2, by 4 up to 16, then by 8 (shared study: padding by more costs 4 ms)."""
    grid = chain((1, 2), range(4, 17, 4), range(24, capacity + 8, 8))
    return tuple(size for size in grid if size < capacity) + (capacity,)


def pad(rows: Sequence[npt.NDArray[Any]], size: int, fills: Sequence[int]) -> list[npt.NDArray[Any]]:
    """Each array lengthened to `size` with its own fill."""
    missing = size - len(rows[0])
    if not missing:
        return list(rows)
    return [
        np.concatenate([array, np.full((missing, *array.shape[1:]), fill, array.dtype)])
        for array, fill in zip(rows, fills, strict=True)
    ]
