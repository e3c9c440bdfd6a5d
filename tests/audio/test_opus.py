"""Ogg-Opus through the binding: alignment, foreign streams, hostile bytes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audio.frames import Samples
from audio.ogg import PageSplitter, body
from audio.opus import OggOpusReader, OggOpusWriter

MakePage = Callable[..., bytes]

HEAD = b"OpusHead" + bytes([1, 1]) + bytes(8) + b"\0"
TAGS = b"OpusTags" + bytes(8)
SIXTY_MS_OF_NOTHING = b"\x18"  # a packet of a table-of-contents byte only: one SILK frame, lost


def encoded(samples: Samples) -> list[bytes]:
    """The pages of an encoded stream: two of headers, then one for each packet of 40 ms."""
    return PageSplitter().push(OggOpusWriter().push(samples))


def packets(samples: Samples) -> list[bytes]:
    return [body(page) for page in encoded(samples)[2:]]


def delay(late: Samples, early: Samples) -> int:
    """By how many samples `late` lags `early`, from the peak of their correlation."""
    size = 2 * len(early)
    product = np.fft.rfft(late, size) * np.conj(np.fft.rfft(early, size))
    return int(np.argmax(np.fft.irfft(product)))


def test_sound_comes_back_six_and_a_half_ms_late_and_as_long_as_it_was(speech: Samples) -> None:
    got = OggOpusReader().push(OggOpusWriter().push(speech))
    assert got.dtype == np.float32
    assert len(got) == len(speech)
    late = delay(got, speech)
    assert abs(late - 156) <= 12  # half a millisecond: a voice codec shifts low tones a little
    assert np.corrcoef(got[late:], speech[:-late])[0, 1] > 0.7


def test_a_frame_written_is_a_frame_read_at_once(speech: Samples) -> None:
    writer, reader = OggOpusWriter(), OggOpusReader()
    for frame in speech.reshape(-1, 1_920):
        assert len(reader.push(writer.push(frame))) == 1_920


def test_the_stream_may_be_split_at_every_byte(speech: Samples) -> None:
    stream = OggOpusWriter().push(speech[:9_600])
    whole = OggOpusReader().push(stream)
    for cut in range(len(stream) + 1):
        reader = OggOpusReader()
        parts = [reader.push(stream[:cut]), reader.push(stream[cut:])]
        assert np.array_equal(np.concatenate(parts), whole)


@pytest.mark.parametrize("per_page", [2, 5, 50])
def test_a_stream_with_several_packets_a_page_decodes_to_the_same(
    speech: Samples, make_page: MakePage, per_page: int
) -> None:
    sent = packets(speech)
    stream = make_page(HEAD, begins=True) + make_page(TAGS)
    for first in range(0, len(sent), per_page):
        stream += make_page(*sent[first : first + per_page])
    want = OggOpusReader().push(b"".join(encoded(speech)))
    assert np.array_equal(OggOpusReader().push(stream), want)


def test_a_packet_that_goes_on_in_the_next_page_decodes(speech: Samples, make_page: MakePage) -> None:
    first, second = packets(speech)[:2]
    assert first[0] & 3 == 2  # two frames in a packet: put it into one with 300 bytes of padding
    padded = bytes([first[0] | 3, 0xC2, 255, 46]) + first[1:] + bytes(300)
    start, rest = padded[:255], padded[255:]
    stream = make_page(HEAD, begins=True) + make_page(start, lacing=b"\xff") + make_page(rest, second)
    assert len(OggOpusReader().push(stream)) == 2 * 960


@pytest.mark.parametrize(
    ("packet", "samples"),
    [(b"\x08", 480), (b"\x18", 1_440), (b"\xe0", 60), (b"\xf8\xff\xfe", 480), (b"\x19", 2_880)],
)
def test_packets_of_any_length_of_time_decode(make_page: MakePage, packet: bytes, samples: int) -> None:
    stream = make_page(HEAD, begins=True) + make_page(TAGS) + make_page(packet, packet)
    assert len(OggOpusReader().push(stream)) == 2 * samples


def test_stereo_is_mixed_down(make_page: MakePage) -> None:
    head = HEAD[:9] + b"\x02" + HEAD[10:]
    stereo = bytes([SIXTY_MS_OF_NOTHING[0] | 4])
    assert OggOpusReader().push(make_page(head, begins=True) + make_page(stereo)).shape == (1_440,)


def test_a_stream_joined_after_its_headers_and_one_that_starts_anew_decode(speech: Samples) -> None:
    pages = encoded(speech)
    assert len(OggOpusReader().push(b"".join(pages[2:12]))) == 10 * 960
    reader = OggOpusReader()
    assert len(reader.push(b"".join(pages + pages))) == 2 * len(speech)


def test_a_long_message_is_no_error_up_to_the_limit_and_one_beyond_it(make_page: MakePage) -> None:
    ten_s = make_page(*[SIXTY_MS_OF_NOTHING] * 166)
    assert len(OggOpusReader().push(ten_s * 6)) == 6 * 166 * 1_440
    with pytest.raises(ValueError, match="more than 60 s of Opus in one push"):
        OggOpusReader().push(ten_s * 1_000)


@pytest.mark.parametrize(
    ("head", "message"),
    [
        (b"\x01vorbis" + bytes(23), "not an Opus stream: it begins with b'.x01vorbis"),
        (HEAD[:10], "not an Opus stream"),
        (HEAD[:9] + b"\x00" + HEAD[10:], "not 0 channels of mapping family 0"),
        (HEAD[:9] + b"\x06" + HEAD[10:18] + b"\x01", "not 6 channels of mapping family 1"),
    ],
)
def test_a_stream_of_something_else_is_refused(make_page: MakePage, head: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        OggOpusReader().push(make_page(head, begins=True))


def test_after_an_error_the_stream_is_over(speech: Samples, make_page: MakePage) -> None:
    reader = OggOpusReader()
    with pytest.raises(ValueError, match="broken Opus packet"):
        reader.push(make_page(HEAD, begins=True) + make_page(b"\xff"))
    with pytest.raises(ValueError, match="broken Opus packet"):
        reader.push(OggOpusWriter().push(speech))


def outcome(reader: OggOpusReader, data: bytes) -> Samples | None:
    """The sound, or None for the one error that bad bytes may raise."""
    try:
        return reader.push(data)
    except ValueError:
        return None


@settings(max_examples=200)
@given(chunks=st.lists(st.binary(max_size=400), max_size=4))
def test_garbage_is_a_value_error_and_nothing_else(chunks: list[bytes]) -> None:
    reader = OggOpusReader()
    for chunk in chunks:
        assert outcome(reader, chunk) is None or not chunk or chunk in b"OggS\0"


def test_forged_pages_are_sound_in_range_or_a_value_error(speech: Samples, make_page: MakePage) -> None:
    random = np.random.default_rng(7)
    sent = packets(speech)
    for _ in range(500):
        reader = OggOpusReader()
        for _ in range(5):
            forged = bytearray(sent[random.integers(len(sent))])
            forged[random.integers(len(forged))] = random.integers(256)
            sound = outcome(reader, make_page(bytes(forged[: random.integers(1, len(forged) + 1)])))
            assert sound is None or np.abs(sound).max(initial=0) <= 1  # False for NaN


def test_samples_that_are_no_numbers_are_written_as_silence() -> None:
    bad = np.full(1_920, np.nan, np.float32)
    assert OggOpusWriter().push(bad) == OggOpusWriter().push(np.zeros(1_920, np.float32))
