"""Codes of latents, and latents of codes, over some rows; codes lie in one memory, at given places.

Refuses to know what the codes mean. An encoder's sheet, int64 [3 + books]: projection to all chains' latents
side by side, width of one, books, then each book's sheet: chain, weight [card, width], negative half of its
rows' squares [card], rows, float32 [card, width].
"""

from __future__ import annotations

from model.compact.kernels.draws import likeliest
from model.compact.kernels.kernel import Kernel
from model.compact.kernels.memory import at, floats, set_at
from model.compact.kernels.products import add_rows, multiply

HEADER = 3
"""Numbers before the books' sheets."""


def _encode(address: int) -> None:
    """(sheet, latents, rows, memory, where the codes go, int64 [rows, books], room)

    Each book takes the nearest of its rows, and leaves what is left to the next one of its chain.
    """
    rows, places, room = at(address, 2), at(address, 4), at(address, 5)
    how = at(address, 0)
    width, books = at(how, 1), at(how, 2)
    project = at(how, 0)
    inputs, parts = at(project, 1), at(project, 2)
    scores = room + 4 * parts * rows
    multiply(at(how, 0), at(address, 1), 4 * inputs, rows, room, 4 * parts)
    for number in range(books):
        book = at(at(address, 0) + 8 * HEADER, number)
        rest, card = room + 4 * width * at(book, 0), at(at(book, 1), 2)
        multiply(at(book, 1), rest, 4 * parts, rows, scores, 4 * card)
        add_rows(scores, rows, card, at(book, 2), 0)
        for row in range(rows):
            code = likeliest(floats(scores + 4 * card * row, card))
            place = at(places, books * row + number)
            set_at(at(address, 3), place, code)
            line, taken = floats(rest + 4 * parts * row, width), floats(at(book, 3) + 4 * width * code, width)
            for j in range(width):
                line[j] -= taken[j]


def _decode(address: int) -> None:
    """(rows of all books, width, each book's first row, rows, memory, where the codes lie, latents, then how
    many numbers lie there for a row, of which the first is another's)"""
    width, rows, places, step = at(address, 1), at(address, 3), at(address, 5), at(address, 7)
    for row in range(rows):
        line = floats(at(address, 6) + 4 * width * row, width)
        for j in range(width):
            line[j] = 0
        for book in range(step - 1):
            place = at(places, step * row + 1 + book)
            which = at(at(address, 2), book) + at(at(address, 4), place)
            taken = floats(at(address, 0) + 4 * width * which, width)
            for j in range(width):
                line[j] += taken[j]


encode, decode = Kernel(_encode), Kernel(_decode)
