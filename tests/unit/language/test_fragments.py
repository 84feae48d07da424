from typing import Any

import pytest

from wherecast.language import Filter, read, read_filters
from wherecast.model import Schema

SCHEMA = Schema.from_dict(
    {**{f"a{n}": "float" for n in range(8)}, "s": "string", "t": "timestamp", "b": "bool"}
)


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The rows that are read one by one."""
    rows: list[int] = []
    real = read.read_alone

    def note(row: int, *rest: Any) -> None:
        rows.append(row)
        real(row, *rest)

    monkeypatch.setattr(read, "read_alone", note)
    return rows


def assert_read_like_single_filters(texts: list[str]) -> None:
    table = read_filters(texts, SCHEMA)
    assert table.rejected == ()
    for row, text in enumerate(texts):
        assert table.conjunctions(row) == Filter(text, SCHEMA).normal.conjunctions, text


def test_filters_of_rare_shapes_share_their_predicates(alone: list[int]) -> None:
    assert_read_like_single_filters(
        [
            "a1 > 5 AND a2 < 3.5",
            "a2 < 1.5\nand\ta3 BETWEEN 1 AND 2 AND s = 'x'",
            "s = 'y' AND a1 > 7",
            "a3 BETWEEN 3 AND 4 AND t > '2026-05-01' AND b",
            "s LIKE 'x%' AND a4 IN (1, 2, 3) AND a5 <> 9",
            "a1 < a2 AND a3 > 1",
            "(a1 > 2) AND TRUE",
        ]
    )
    assert alone == []


@pytest.mark.parametrize(
    "text",
    [
        "a1 > 5 OR a2 > 5",
        "a1 > 5 AND a1 < 9",  # two predicates on one attribute
        "a1 > 5 AND a1 < 3",
        "NOT (a1 > 5 AND a2 > 5)",
        "(a1 > 5 AND a2 > 5)",
        "a1 NOT BETWEEN 1 AND 2 AND a2 > 5",
        "a1 BETWEEN 5 AND 1 AND a2 > 5",  # irregular: nothing satisfies it
        "s LIKE 'x' AND a2 > 5",  # irregular: an equality
        "s LIKE 'x!%' ESCAPE '!' AND a2 > 5",
        "`a1` > 5 AND a2 > 5",
        "a1 > 5 /* AND a3 > 5 */ AND a2 > 5",
        "a1 > 5 AND s = 'it''s'",
        "a1 > 1e-400 AND a2 > 5",
        "FALSE AND a2 > 5",
        "a1 = NULL AND a2 > 5",
    ],
)
def test_others_are_read_alone(text: str, alone: list[int]) -> None:
    assert_read_like_single_filters([text, "a6 > 1", "a7 > 1"])
    assert alone == [0]


def test_bad_predicates_spoil_only_their_filter() -> None:
    table = read_filters(["a1 > 5 AND nope > 3", "a1 > 6 AND a2 > 3", "a1 > 7 AND a3 >"], SCHEMA)
    assert [row for row, _ in table.rejected] == [0, 2]
    assert table.conjunctions(1) == Filter("a1 > 6 AND a2 > 3", SCHEMA).normal.conjunctions


def test_a_double_ampersand_joins_nothing() -> None:
    """It could pass the limit on predicates, which counts the fragments between ANDs."""
    texts = ["a1 > 5 && a2 < 3 AND a3 > 1", "a4 > 5 AND a5 < 3 && a6 > 1", "a7 && a1", "a2 > 5"]
    table = read_filters(texts, SCHEMA)
    assert [row for row, _ in table.rejected] == [0, 1, 2]
    assert all("near '&&'" in str(error) for _, error in table.rejected)
