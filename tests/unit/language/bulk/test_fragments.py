from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest

from wherecast.language import Filter, read_filters
from wherecast.language.bulk import filter_shapes, fragments, read_column
from wherecast.language.bulk.filter_shapes import compile_shape
from wherecast.model import DEFAULT_LIMITS, Schema

SCHEMA = Schema.from_dict(
    {**{f"a{n}": "float" for n in range(8)}, "s": "string", "t": "timestamp", "b": "bool"}
)


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
    assert all(error.hint == "write AND" for _, error in table.rejected)
    assert all("&& is not in the language" in error.message for _, error in table.rejected)


def test_an_and_of_between_stays_in_its_fragment(alone: list[int]) -> None:
    assert_read_like_single_filters(
        [
            "a1 BETWEEN 1 AND 2 AND a2 BETWEEN 3 AND 4 AND a3 between 5\n and 6",
            "a4 > 1 AND a1 BETWEEN 1 AND 2",
            "a5 BETWEEN 1 AND 2 AND a6 > 1 AND a7 BETWEEN 3 AND 4",
            "s = 'a BETWEEN b AND c' AND a7 BETWEEN 3 AND 4",
        ]
    )
    assert alone == []


def test_a_filter_of_too_many_fragments_is_refused() -> None:
    limits = replace(DEFAULT_LIMITS, predicates_max=2)
    texts = ["a1 > 5 AND a2 > 3 AND a3 > 1", "a1 > 5 AND a2 > 3.5", "a4 BETWEEN 1 AND 2 AND a5 = 1"]
    table = read_filters(texts, SCHEMA, limits)
    assert [row for row, _ in table.rejected] == [0]
    assert table.conjunctions(1) == Filter(texts[1], SCHEMA).normal.conjunctions


def test_blocks_share_their_fragments(monkeypatch: pytest.MonkeyPatch, alone: list[int]) -> None:
    monkeypatch.setattr(fragments, "_BLOCK_ROWS", 2)
    chosen = combinations(range(8), 2)
    assert_read_like_single_filters([f"a{m} > {m} AND a{n} < {n}.5" for m, n in chosen])
    assert alone == []


def test_where_shapes_are_many_they_are_read_by_fragments(
    monkeypatch: pytest.MonkeyPatch, alone: list[int]
) -> None:
    compiled: list[str] = []

    def note(text: str, *rest: Any) -> Any:
        compiled.append(text)
        return compile_shape(text, *rest)

    monkeypatch.setattr(filter_shapes, "compile_shape", note)
    monkeypatch.setattr(read_column, "_SHAPES_FEW", 5)
    texts = [f"a{m} > {k} AND a{n} < 9" for m, n in combinations(range(5), 2) for k in range(4)]
    both = [f"a1 > {k} AND a1 < {k + 9}" for k in range(4)]  # no fragments, but a shape
    either = [f"a1 > {k} OR a2 < {k + 9}" for k in range(4)]
    assert_read_like_single_filters([*texts, *both, *either, "a1 > 7 OR a3 > 7"])
    assert compiled == ["a1 > 1 AND a1 < 1", "a1 > 1 OR a2 < 1"]
    assert alone == [len(texts) + 8]
