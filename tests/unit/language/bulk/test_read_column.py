from typing import Any

import pyarrow as pa
import pytest

from wherecast.language import Filter, read_filters
from wherecast.language.bulk import filter_shapes
from wherecast.language.bulk.deferred_reader import DeferredReader
from wherecast.model import FilterError, Limits, Schema

SCHEMA = Schema.from_dict({"i": "int", "x": "float", "s": "string", "t": "timestamp"})


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that stand for a shape."""
    texts: list[str] = []
    real = filter_shapes.compile_shape

    def note(text: str, *rest: Any) -> Any:
        texts.append(text)
        return real(text, *rest)

    monkeypatch.setattr(filter_shapes, "compile_shape", note)
    return texts


def test_a_shape_is_parsed_once_for_all_its_filters(alone: list[int], compiled: list[str]) -> None:
    texts = [f"x > {n}.5 AND s = 'a{n}'" for n in range(1000)]
    table = read_filters(texts, SCHEMA)
    assert compiled == ["x > 1.5 AND s = '2001-01-01'"]
    assert alone == []
    assert table.shapes == 1
    assert table.conjunctions(7) == Filter(texts[7], SCHEMA).normal.conjunctions


def test_only_irregular_rows_are_read_alone(alone: list[int]) -> None:
    read_filters([f"i > {n} AND i < 5" for n in range(10)], SCHEMA)
    assert alone == [4, 5, 6, 7, 8, 9]


def test_rare_shapes_are_read_by_their_predicates(alone: list[int], compiled: list[str]) -> None:
    texts = ["i > 1 AND s = 'a'", "x > 1.5", "s = 'b' AND t > '2026-05-01'", "x > 2.5 AND i > 7"]
    table = read_filters(texts, SCHEMA)
    assert alone == []
    assert compiled == []
    assert table.shapes == 4
    assert [table.conjunctions(row) for row in range(4)] == [
        Filter(text, SCHEMA).normal.conjunctions for text in texts
    ]


def test_rare_shapes_that_are_no_plain_conjunctions_are_read_alone(alone: list[int]) -> None:
    texts = ["i > 1 OR i < 0", "i > 1 AND i < 9", "NOT (i > 1 AND x > 2)", "i NOT BETWEEN 1 AND 2"]
    read_filters(texts, SCHEMA)
    assert sorted(alone) == [0, 1, 2, 3]


def test_bad_rows_are_rejected_with_their_error_and_spoil_nothing() -> None:
    texts = ["i > 1", None, "i >", "nope > 1", "i > 2", "", "i = 'a'", "i > 3"]
    table = read_filters(texts, SCHEMA)
    assert [(row, str(error)) for row, error in table.rejected] == [
        (1, "the filter is null"),
        (2, "not a WHERE clause: > needs something on its right (at position 2)"),
        (3, "unknown attribute nope (at position 0)"),
        (5, "the filter is empty (at position 0); write TRUE to match every publication"),
        (6, "i needs a number, not the string a (at position 4); write the number without quotes"),
    ]
    for row in (0, 4, 7):
        assert table.conjunctions(row) == Filter(str(texts[row]), SCHEMA).normal.conjunctions


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["i > 1", None, "i > 2", "i > 3"]),
        pa.array(["i > 1", None, "i > 2", "i > 3"], pa.large_string()),
        pa.array(["i > 1", None, "i > 2", "i > 3"]).dictionary_encode(),
        pa.chunked_array([["i > 1", None], ["i > 2", "i > 3"]]),
        pa.chunked_array([], pa.string()),
        pa.array(["x", "i > 1", None, "i > 2", "i > 3"]).slice(1),
        ["i > 1", None, "i > 2", "i > 3"],
        ("i > 1", None, "i > 2", "i > 3"),
    ],
    ids=["string", "large", "dictionary", "chunks", "no chunks", "slice", "list", "tuple"],
)
def test_a_column_may_come_in_many_forms(column: Any) -> None:
    table = read_filters(column, SCHEMA)
    assert len(table) == len(column)
    assert [row for row, _ in table.rejected] == ([1] if len(column) else [])


def test_what_arrow_cannot_hold_is_rejected_alone() -> None:
    table = read_filters(["i > 1", 5, "s = '\ud800'", b"i > 1", "i > 2"], SCHEMA)  # type: ignore[list-item]
    assert [(row, error.message) for row, error in table.rejected] == [
        (1, "a filter is a text, not int"),
        (2, "a string has a lone surrogate"),
        (3, "a filter is a text, not bytes"),
    ]


def test_padres_texts_may_stand_among_others(alone: list[int]) -> None:
    texts = ["[i,>,1]", "i > 1", " [i,>,1],[x,<,2]", "i > 1", "i > 1"]
    table = read_filters(texts, SCHEMA)
    assert table.conjunctions(0) == table.conjunctions(1)
    assert table.rejected == ()
    assert sorted(alone) == [0, 2]


def test_the_mark_of_the_cut_may_stand_in_a_text() -> None:
    texts = [f"s = 'a\x1f{n}'" for n in range(4)] + ["s = 'a'"] * 4
    table = read_filters(texts, SCHEMA)
    assert table.strings.to_pylist() == ["a", "a\x1f0", "a\x1f1", "a\x1f2", "a\x1f3"]


def test_limits_hold_in_a_column() -> None:
    limits = Limits(filter_text_bytes_max=200, literal_bytes_max=20, pattern_wildcards_max=3)
    texts = ["s = 'short'", "s = '" + "x" * 21 + "'", "s = '" + "x" * 300 + "'", "s = 'b'",
             "s LIKE 'a%%'", "s LIKE 'b%%%%'", "s LIKE 'c%%'", "s LIKE 'd%%'"]  # fmt: skip
    table = read_filters(texts, SCHEMA, limits)
    assert [(row, error.code) for row, error in table.rejected] == [
        (1, "limit"), (2, "limit"), (5, "limit"),
    ]  # fmt: skip


def test_very_long_texts_are_read() -> None:
    listed = ", ".join(str(n) for n in range(9000))
    table = read_filters([f"i IN ({listed})"] * 3 + ["i > 1"] * 3, SCHEMA)
    assert table.rejected == ()
    assert len(table.set_keys) == 27_000


def test_more_rows_than_one_chunk_of_the_cut() -> None:
    texts = [f"i > {n}" for n in range(40_000)]
    table = read_filters(texts, SCHEMA)
    assert table.shapes == 1
    assert table.low.tolist() == [n + 1 for n in range(40_000)]


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("day > '2026-05-{:02}'", "day > '2026-05-01 12:00:00'"),
        ("local > '2026-05-{:02} 12:00:00'", "local > '2026-05-01 12:00:00+02:00'"),
    ],
)
def test_what_spark_would_drop_is_refused_in_every_way_of_reading(good: str, bad: str) -> None:
    schema = Schema.from_dict({"day": "date", "local": "timestamp_ntz"})
    texts = [good.format(day) for day in range(1, 20)]
    table = read_filters([*texts, bad], schema)
    assert [row for row, _ in table.rejected] == [19]
    assert all(len(table.conjunctions(row)) == 1 for row in range(19))
    reader = DeferredReader(schema)
    accepted = [reader.accept(text) for text in texts]
    with pytest.raises(FilterError):
        reader.accept(bad)
    assert reader.read_accepted(accepted).checksum() == read_filters(texts, schema).checksum()


def test_decimals_are_read_as_columns_and_one_by_one_alike() -> None:
    schema = Schema.from_dict({"price": {"type": "decimal", "scale": 2}})
    given = ["1", "1.5", "12.34", "0.1", "1e2", "1.005", "999999999999999.9", "9" * 18, "-0.01"]
    texts = [f"price > {number}" for number in given]
    together = read_filters(texts * 3, schema)
    assert not together.rejected
    for row, text in enumerate(texts):
        assert together.conjunctions(row) == Filter(text, schema).normal.conjunctions


def test_decimals_of_one_shape_are_read_as_columns(alone: list[int]) -> None:
    schema = Schema.from_dict({"price": {"type": "decimal", "scale": 2}})
    read_filters([f"price > {n}.{n:02} AND price < 1000" for n in range(100)], schema)
    assert alone == []


def test_filters_share_a_shape_by_the_constants_inside_their_formulas(
    alone: list[int], compiled: list[str]
) -> None:
    texts = [f"x * {2 + n % 2} - i > {n}.5" for n in range(20)] + ["x * 7 - i > 1.5"]
    table = read_filters(texts, SCHEMA)
    assert compiled == ["x * 1 - i > 1.5", "x * 2 - i > 1.5", "x * 3 - i > 1.5"]
    assert alone == [20]  # the only filter of its constant
    assert [a.name for a in table.attributes] == ["x * 2 - i", "x * 3 - i", "x * 7 - i"]


def test_a_condition_inside_a_formula_keeps_its_constants(alone: list[int]) -> None:
    table = read_filters([f"(x > {n}) IS NULL" for n in range(4)], SCHEMA)
    assert sorted(alone) == [0, 1, 2, 3]
    assert [a.name for a in table.attributes] == [f"x > {n}.0" for n in range(4)]
