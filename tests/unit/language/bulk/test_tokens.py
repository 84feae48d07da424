"""Texts without their constants, as rows of tokens."""

import numpy as np

from wherecast.language.bulk.tokens import (
    AND,
    END,
    INT,
    NAME,
    TokenKeys,
    are_constants,
    distinct,
    spans,
    tokens_of,
)

PIECES = ["x1", " BETWEEN ", "", " > "]
ROW = ([0, 1, 2, 2], [NAME, INT, INT, END])
JOINED = ([0, 1, 2, 2], [NAME, INT, AND, END])


def tokens(*rows: tuple[list[int], list[int]]) -> np.ndarray:
    return tokens_of(
        np.array([piece for pieces, _ in rows for piece in pieces], np.int64),
        np.array([end for _, ends in rows for end in ends], np.int64),
    )


def test_equal_rows_have_one_number() -> None:
    numbers, keys = distinct(tokens(ROW, JOINED, ROW), np.array([0, 4, 8, 12]), PIECES)
    assert numbers.tolist() == [0, 1, 0]
    assert list(keys) == [
        "x1\x1f\x1f BETWEEN \x1fi\x1f\x1fi\x1f",
        "x1\x1f\x1f BETWEEN \x1fi\x1f AND ",
    ]
    assert keys[1:] == ["x1\x1f\x1f BETWEEN \x1fi\x1f AND "]


def test_a_row_is_not_its_beginning() -> None:
    numbers, _ = distinct(tokens(ROW, ROW), np.array([0, 4, 7, 7, 8]), PIECES)
    assert numbers.tolist() == [0, 1, 2, 3]


def test_no_rows() -> None:
    numbers, keys = distinct(tokens(), np.array([0]), PIECES)
    assert (numbers.tolist(), len(keys)) == ([], 0)


def test_texts_become_tokens_again() -> None:
    texts = ["x1\x1f\x1f BETWEEN \x1fi\x1f AND \x1fd\x1f", "", "s = \x1fs\x1f"]
    keys = TokenKeys.of(texts)
    assert list(keys) == texts
    assert list(distinct(keys.tokens, keys.offsets, keys.pieces)[1]) == texts
    assert TokenKeys.of(keys) is keys


def test_which_tokens_end_in_a_constant() -> None:
    assert are_constants(tokens(ROW)).tolist() == [False, True, True, False]


def test_spans() -> None:
    assert spans(np.array([5, 0, 9]), np.array([2, 0, 3])).tolist() == [5, 6, 9, 10, 11]
