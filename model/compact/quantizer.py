"""Mimi's codebooks: the nearest centroid of each book in turn, and centroids back to a latent.

Distances are compared by |e|^2 / 2 - x e, whose first part is computed once; decoding looks up
centroids that already went through the output projection. Refuses to know time and rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from moshi.quantization import SplitResidualVectorQuantizer
from torch import Tensor, nn

from model.compact.kernels.codebooks import decode, encode
from model.compact.kernels.kernel import Sheet
from model.compact.kernels.weights import PackedWeight
from model.compact.products import Matrix, plain, total
from model.compact.refusals import refuse_if
from model.compact.rooms import room


class Quantizer:
    """Reads a moshi SplitResidualVectorQuantizer. heard, spoken: books to encode and to decode."""

    def __init__(self, quantizer: Any, heard: int, spoken: int) -> None:
        refuse_if(not isinstance(quantizer, SplitResidualVectorQuantizer), type(quantizer).__name__)
        most = quantizer.total_codebooks
        refuse_if(max(heard, spoken) > most, f"{max(heard, spoken)} codebooks of Mimi's, {most} at most")
        first, rest = quantizer.rvq_first, quantizer.rvq_rest
        self._chains = [
            _Chain(rvq, books) for rvq, books in zip((first, rest), _share(quantizer, heard), strict=True)
        ]
        self._projection = Matrix(torch.cat([_matrix(rvq.input_proj) for rvq in (first, rest)]))
        tables = [
            table
            for rvq, books in zip((first, rest), _share(quantizer, spoken), strict=True)
            for table in _projected(rvq, books)
        ]
        self._table = torch.cat(tables)
        card = self._card = len(tables[0])
        self._firsts = torch.arange(len(tables), device=self._table.device) * card
        self._sheet = self._encoder_sheet() if plain(self._table) else None

    def hear(self, latent: Tensor, memory: Tensor, places: Tensor) -> None:
        """Writes the codes of latent [n, dim] into memory, at places int64 [n, heard]."""
        if self._sheet is None:
            memory.index_copy_(0, places.flatten(), self.encode(latent).flatten())
            return
        n = len(latent)
        spare = room(n, self._projection.weight.shape[0] + self._card)
        encode(self._sheet, latent.contiguous(), n, memory, places, spare)

    def recall(self, memory: Tensor, places: Tensor) -> Tensor:
        """[n, dim]: of the codes in memory at places int64 [n, 1 + spoken], whose first is the text's."""
        if self._sheet is None:
            return self.decode(memory.index_select(0, places[:, 1:].flatten()).view(len(places), -1))
        n, width = len(places), self._table.shape[1]
        latent = room(n, width)
        decode(self._table, width, self._firsts, n, memory, places, latent, places.shape[1])
        return latent

    def _encoder_sheet(self) -> Sheet | None:
        """None where a weight is too large to be packed."""
        packed = self._projection.packed
        if packed is None:
            return None
        chains = list(enumerate(self._chains))
        books = [sheet for number, chain in chains for sheet in chain.sheets(number)]
        width = self._projection.weight.shape[0] // len(chains)
        return Sheet(packed.sheet, width, len(books), *books)

    def encode(self, latent: Tensor) -> Tensor:
        """[n, dim] -> codes int64 [n, heard]."""
        parts = self._projection.times(latent).chunk(2, dim=1)
        books = sum(len(chain) for chain in self._chains)
        codes = torch.empty(len(latent), books, dtype=torch.int64, device=latent.device)
        columns = list(codes.unbind(1))
        for chain, part in zip(self._chains, parts, strict=True):
            chain.encode(part, columns[: len(chain)])
            del columns[: len(chain)]
        return codes

    def decode(self, codes: Tensor) -> Tensor:
        """codes int64 [n, spoken] -> [n, dim]."""
        rows = self._table.index_select(0, (codes + self._firsts).flatten())
        return total(rows.view(*codes.shape, -1))


class _Chain:
    """Books that each quantise what the ones before left over."""

    def __init__(self, rvq: Any, books: int) -> None:
        self._books = [layer._codebook.embedding.detach() for layer in rvq.vq.layers[:books]]
        self._half_norms = [-book.square().sum(dim=1) / 2 for book in self._books]

    def __len__(self) -> int:
        return len(self._books)

    def sheets(self, number: int) -> list[Sheet]:
        """Of each book, for kernels; number: the chain's."""
        parts = zip(self._books, self._half_norms, strict=True)
        return [Sheet(number, PackedWeight(book).sheet, norms, book.contiguous()) for book, norms in parts]

    def encode(self, rest: Tensor, codes: Sequence[Tensor]) -> None:
        """rest [n, dim]; writes into codes, int64 [n] of each book."""
        for i, code in enumerate(codes):
            if i:
                rest = rest - self._books[i - 1].index_select(0, codes[i - 1])
            torch.argmax(torch.addmm(self._half_norms[i], rest, self._books[i].t()), dim=1, out=code)


def _share(quantizer: Any, books: int) -> tuple[int, int]:
    """How many of the first `books` are semantic, and how many acoustic."""
    semantic = min(books, quantizer.n_q_semantic)
    return semantic, books - semantic


def _matrix(projection: Any) -> Tensor:
    """A 1 x 1 convolution as a matrix [out, in]."""
    refuse_if(not isinstance(projection, nn.Conv1d), "a quantizer without projections")
    matrix: Tensor = projection.weight.detach()[:, :, 0]
    return matrix


def _projected(rvq: Any, books: int) -> list[Tensor]:
    output = _matrix(rvq.output_proj).t()
    for layer in rvq.vq.layers[:books]:
        refuse_if(not isinstance(layer.project_in, nn.Identity), "a codebook with projections")
    return [torch.mm(layer._codebook.embedding.detach(), output) for layer in rvq.vq.layers[:books]]
