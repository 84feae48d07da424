"""Filters split at their ANDs into fragments."""

import numpy as np
import pyarrow as pa
import pytest

from wherecast.language.bulk.conjuncts import Pieces, split
from wherecast.language.bulk.literals import cut, example_of
from wherecast.language.bulk.tokens import TokenKeys
from wherecast.language.table.numbering import Numbering


def fragments_of(*texts: str, fragments_max: int = 100) -> list[tuple[int, int, str | None]]:
    """Row, start of the constants and example of each fragment."""
    parts = cut(pa.array(texts, pa.large_string()), Numbering().number, 1000)
    pieces = Pieces(TokenKeys.of(parts.keys))
    found = split(np.arange(len(texts)), parts, pieces, fragments_max)
    keys = TokenKeys(found.tokens, found.offsets, pieces.parts.things)
    return list(zip(found.rows.tolist(), found.starts.tolist(), map(example_of, keys), strict=True))


@pytest.mark.parametrize(
    ("text", "fragments"),
    [
        ("a > 5", ["a > 1"]),
        ("a > 5 AND b IS NULL and\tc1 < 2", ["a > 1", "b IS NULL", "c1 < 1"]),
        ("a BETWEEN 5 AND 6 AND b > 7", ["a BETWEEN 1 AND 1", "b > 1"]),
        ("a BETWEEN 5 AND 6 AND b between 7\nand 8", ["a BETWEEN 1 AND 1", "b between 1 AND 1"]),
        ("a BETWEEN 5 AND b BETWEEN 6 AND 7", ["a BETWEEN 1 AND b BETWEEN 1", "1"]),
        ("a BETWEEN 5", ["a BETWEEN 1"]),
        ("a AND AND b", ["a", "AND b"]),
        ("s = ' AND ' AND b", ["s = '2001-01-01'", "b"]),
        ("", [""]),
        ("a > 5 OR b > 6", []),
        ("a > 5 AND b > 6 -- more", []),
    ],
)
def test_fragments(text: str, fragments: list[str]) -> None:
    assert [example for *_, example in fragments_of(text)] == fragments


def test_rows_and_constants_of_fragments() -> None:
    found = fragments_of("a BETWEEN 1 AND 2 AND b = 3", "a = 4 OR b = 5", "b BETWEEN 6", "c = 7")
    assert [use[:2] for use in found] == [(0, 0), (0, 2), (2, 5), (3, 6)]


def test_a_filter_of_too_many_fragments_has_none() -> None:
    found = fragments_of("a = 1 AND b = 2", "a = 1 AND b = 2 AND c = 3", "a", fragments_max=2)
    assert [row for row, *_ in found] == [0, 0, 2]
    assert fragments_of("a AND b", fragments_max=1) == []
