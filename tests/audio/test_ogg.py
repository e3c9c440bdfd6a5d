"""Ogg pages: cut anywhere, and refused where they are broken."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from audio.ogg import PageSplitter, begins_stream, body, checksum

MakePage = Callable[..., bytes]

# The first page of an Opus stream as sphn writes it: an OpusHead packet of 19 bytes.
GOLDEN = bytes.fromhex(
    "4f67675300020000000000000000" + "2a000000" + "00000000" + "aefef3f1" + "0113"
    "4f707573486561640101000f80bb0000000000"
)


def test_the_checksum_of_a_page_another_program_wrote_is_what_it_wrote() -> None:
    assert checksum(GOLDEN) == bytes.fromhex("aefef3f1")
    assert begins_stream(GOLDEN)
    assert body(GOLDEN)[:8] == b"OpusHead"


def test_pages_come_out_whole_wherever_the_bytes_are_cut(make_page: MakePage) -> None:
    pages = [GOLDEN, make_page(b"one" * 200), make_page(b"two")]
    stream = b"".join(pages)
    for cut in range(len(stream) + 1):
        splitter = PageSplitter()
        assert splitter.push(stream[:cut]) + splitter.push(stream[cut:]) == pages
    bytewise = PageSplitter()
    assert [page for i in range(len(stream)) for page in bytewise.push(stream[i : i + 1])] == pages


def test_each_packet_of_a_page_becomes_a_page_of_its_own(make_page: MakePage) -> None:
    packets = [b"one" * 200, b"two", b"x" * 255, b"three"]
    pages = PageSplitter().push(make_page(*packets, begins=True))
    assert [body(page) for page in pages] == packets
    assert [begins_stream(page) for page in pages] == [True, False, False, False]
    assert [page[26] for page in pages] == [3, 1, 2, 1]  # 600 = 255 + 255 + 90, and 255 needs a 0


def test_what_is_no_ogg_is_refused_at_its_first_byte() -> None:
    with pytest.raises(ValueError, match="not an Ogg page: it starts with b'RIFF"):
        PageSplitter().push(b"RIFF")
    with pytest.raises(ValueError, match="not an Ogg page"):
        PageSplitter().push(b"\x1a")  # WebM
    with pytest.raises(ValueError, match="version 0"):
        PageSplitter().push(b"OggS\x01")


def test_any_flipped_bit_of_a_page_is_noticed(make_page: MakePage) -> None:
    stream = make_page(b"some packet", b"and another") + GOLDEN * 1_500
    for bit in range(8 * (27 + 2 + 22)):
        broken = bytearray(stream)
        broken[bit // 8] ^= 1 << bit % 8
        with pytest.raises(ValueError, match="Ogg"):
            PageSplitter().push(bytes(broken))


def test_a_hole_in_the_stream_is_noticed_and_not_waited_out(make_page: MakePage) -> None:
    stream = b"".join(make_page(bytes([i]) * 100) for i in range(20))
    for hole in range(1, 120):
        with pytest.raises(ValueError, match="Ogg page"):
            PageSplitter().push(stream[:300] + stream[300 + hole :])


def test_empty_packets_are_left_out(make_page: MakePage) -> None:
    pages = PageSplitter().push(make_page(b"", b"one", b"", b"two", b""))
    assert [body(page) for page in pages] == [b"one", b"two"]
    assert PageSplitter().push(make_page(b"")) == []
    assert PageSplitter().push(make_page()) == []


def test_a_packet_may_go_on_over_pages_but_not_for_ever(make_page: MakePage) -> None:
    full = make_page(b"x" * 255 * 255, lacing=b"\xff" * 255)
    end = make_page(b"", b"next")  # the 0 that ends a packet of a multiple of 255, and another
    splitter = PageSplitter()
    assert [body(page) for page in splitter.push(full + end)] == [b"x" * 255 * 255, b"", b"next"]
    splitter.push(full)
    with pytest.raises(ValueError, match="longer than 65536 bytes"):
        splitter.push(full)


def test_the_longest_page_there_is_comes_through(make_page: MakePage) -> None:
    longest = make_page(b"x" * 255 * 253, b"y" * 254)
    splitter = PageSplitter()
    assert splitter.push(longest[:-1]) == []
    assert [len(body(page)) for page in splitter.push(longest[-1:])] == [255 * 253, 254]
