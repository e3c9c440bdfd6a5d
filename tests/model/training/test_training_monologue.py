"""The agent's inner text on the frames of its speech."""

from __future__ import annotations

from model.training.monologue import END_OF_PADDING, PADDING, lay, open_pieces, train_pieces


def test_a_words_first_piece_stands_in_the_frame_in_which_the_word_begins() -> None:
    laid = lay([[7], [8, 9]], [0.1, 0.5], frames=10)
    assert laid.tolist() == [
        *(END_OF_PADDING, 7, PADDING, PADDING, PADDING),
        *(END_OF_PADDING, 8, 9, PADDING, PADDING),
    ]


def test_a_word_waits_for_the_pieces_of_the_one_before() -> None:
    assert lay([[7, 8, 9], [10]], [0.0, 0.1], frames=5).tolist() == [7, 8, 9, 10, PADDING]


def test_what_finds_no_room_is_left_out() -> None:
    assert lay([[7, 8, 9]], [0.08], frames=2).tolist() == [END_OF_PADDING, 7]


def test_padding_has_moshis_numbers_and_says_nothing() -> None:
    pieces = open_pieces(train_pieces(["the lights are on", "the light is off"] * 20, pieces=40))
    assert pieces.pad_id() == PADDING
    assert pieces.unk_id() == END_OF_PADDING
    assert pieces.decode(pieces.encode("the lights are off")) == "the lights are off"
