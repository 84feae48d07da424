from itertools import pairwise

import numpy as np
import pytest

from wherecast.language import Filter, Kind, PredicateTable, read_filters
from wherecast.language.meaning.index_plan import FAILS, MATCHES, plan
from wherecast.language.meaning.keys import RANGES, float_key
from wherecast.language.meaning.normal_form import Conjunction, form_of
from wherecast.model import Schema

SCHEMA = Schema.from_dict(
    {"i": "int", "x": "float", "s": "string", "b": "bool", "t": "timestamp", "y": "float"}
)
TEXTS = [
    "x > 1.5 AND s IN ('b', 'a') AND i NOT IN (3, 1)",
    "i = 1 OR s LIKE 'a_%' OR s > 'm'",
    "i > 5 AND i < 3",
    "i >",
    "TRUE",
    "geo_distance(x, y, 45.8, 15.9) < 500 AND x < y AND b IS NULL AND t IS NOT NULL",
    "s >= 'a' AND s < 'b' AND s <> 'ab' AND contains(lower(s), 'x')",
]


@pytest.fixture(scope="module")
def table() -> PredicateTable:
    return read_filters(TEXTS, SCHEMA)


def kinds(table: PredicateTable, row: int) -> list[list[str]]:
    """The names of the kinds of each conjunction of a filter."""
    first, last = table.conjunction_offsets[row : row + 2]
    ends = table.predicate_offsets[first : last + 1].tolist()
    return [[Kind(kind).name for kind in table.kind[a:b]] for a, b in pairwise(ends)]


def test_filters_point_to_conjunctions_and_these_to_predicates(table: PredicateTable) -> None:
    assert len(table) == len(TEXTS)
    assert np.diff(table.conjunction_offsets).tolist() == [1, 3, 0, 0, 1, 1, 2]
    assert table.predicate_offsets[-1] == len(table.kind) == len(table.low) == len(table.high)
    assert (np.diff(table.predicate_offsets) >= 0).all()
    assert kinds(table, 0) == [["NOT_SET", "RANGE", "SET"]]
    assert kinds(table, 1) == [["RANGE"], ["PATTERN"], ["TEXT_RANGE"]]
    assert kinds(table, 2) == []
    assert kinds(table, 4) == [[]]
    assert kinds(table, 5) == [["DISTANCE", "RESIDUAL", "MISSING", "PRESENT"]]
    program = ["PATTERN", "NOT_SET"]  # the cover decides the rest
    assert kinds(table, 6)[0] == ["TEXT_RANGE"]  # a cover; the program behind it decides
    assert sorted(kinds(table, 6)[1]) == sorted(program)
    assert table.are_programs().tolist() == [False] * 7 + [True]


def test_what_only_programs_name_comes_last_and_is_computed_late(table: PredicateTable) -> None:
    assert table.eager == len(table.attributes) - 1
    assert table.covers.eager == table.eager
    assert len(table.covers.predicate_offsets) == len(table.predicate_offsets) - 1
    assert np.diff(table.covers.conjunction_offsets).tolist() == [1, 3, 0, 0, 1, 1, 1]


def test_a_program_goes_on_at_its_own_tests_or_ends(table: PredicateTable) -> None:
    first, last = table.predicate_offsets[-2:].tolist()
    assert (table.jumps[:first] == 0).all()
    for place, jump in enumerate(table.jumps[first:last].tolist()):
        for way in (jump >> 16, jump & 0xFFFF):
            assert way in (MATCHES, FAILS) or place < way < last - first


def test_the_arrays_have_the_types_they_promise(table: PredicateTable) -> None:
    assert table.conjunction_offsets.dtype == table.predicate_offsets.dtype == np.int64
    assert (table.attribute.dtype, table.kind.dtype) == (np.int32, np.uint8)
    assert table.low.dtype == table.high.dtype == table.set_keys.dtype == np.int64
    assert table.nbytes > 0


def test_rows_are_ordered_by_attribute_and_kind(table: PredicateTable) -> None:
    ends = list(pairwise(table.predicate_offsets))
    for number in np.flatnonzero(~table.are_programs()):  # tests of a program keep its order
        first, last = ends[number]
        pairs = list(zip(table.attribute[first:last], table.kind[first:last], strict=True))
        assert pairs == sorted(pairs)


def test_attributes_stand_in_the_order_of_the_schema(table: PredicateTable) -> None:
    assert [a.name for a in table.attributes] == ["i", "x", "s", "b", "t", "y", "lower(s)"]


def test_strings_are_distinct_and_in_code_point_order(table: PredicateTable) -> None:
    strings = table.strings.to_pylist()
    assert strings == sorted(set(strings))
    named = {"a", "b", "m\0", "ab"}
    assert set(strings) == named  # those of patterns are in `patterns`


def test_an_astral_string_sorts_after_all_of_the_basic_plane() -> None:
    """Code point order, not the order of UTF-16."""
    found = read_filters(["s IN ('\uffff', '😀', 'z')"], SCHEMA)
    assert found.strings.to_pylist() == ["z", "\uffff", "😀"]
    assert found.set_keys.tolist() == [0, 1, 2]


def test_sets_are_sorted_and_lie_side_by_side(table: PredicateTable) -> None:
    sets = np.isin(table.kind, (Kind.SET, Kind.NOT_SET))
    assert table.low[sets][0] == 0
    assert table.high[sets][-1] == len(table.set_keys)
    for low, high in zip(table.low[sets], table.high[sets], strict=True):
        keys = table.set_keys[low:high].tolist()
        assert keys == sorted(set(keys))


def test_ranges_hold_keys(table: PredicateTable) -> None:
    place = int(np.flatnonzero(table.kind == Kind.RANGE)[0])
    assert table.low[place] == float_key(1.5) + 1
    assert table.high[place] == RANGES["float"][1]


def test_each_filter_decodes_to_what_is_indexed_of_it(table: PredicateTable) -> None:
    rejected = [row for row, _ in table.rejected]
    assert rejected == [3]
    for row, text in enumerate(TEXTS):
        expected: tuple[Conjunction, ...] = ()
        if row not in rejected:
            found = Filter(text, SCHEMA)
            made = plan(found.expression)
            expected = form_of(made.conjunctions).conjunctions
            assert bool(made.program) or expected == found.normal.conjunctions
        assert table.conjunctions(row) == expected


def test_the_checksum_depends_on_meaning_not_on_wording_or_company() -> None:
    checksum = read_filters(["i > 5", "s = 'a'"], SCHEMA).checksum()
    assert read_filters(["5 < i", "(s IN ('a'))"], SCHEMA).checksum() == checksum
    assert read_filters(["[i,>,5]", "s LIKE 'a'"], SCHEMA).checksum() == checksum
    for other in (["i > 6", "s = 'a'"], ["s = 'a'", "i > 5"], ["i > 5", "s = 'b'"], ["i > 5"]):
        assert read_filters(other, SCHEMA).checksum() != checksum


def test_the_checksum_sees_every_part() -> None:
    texts = [
        "x > 1", "x >= 1", "i > 1", "s LIKE 'a_'", "s LIKE 'b_'", "s NOT LIKE 'a_'", "x < y",
        "x <= y", "y < x", "geo_distance(x, y, 1, 2) < 3", "geo_distance(x, y, 2, 1) < 3",
        "geo_distance(x, y, 1, 2) < 4", "geo_distance(y, x, 1, 2) < 3",
        "geo_distance(x, y, 1, 2) > 3", "s IN ('a', 'b')", "s NOT IN ('a', 'b')", "s > 'a'",
        "s >= 'a'", "x IS NULL", "x IS NOT NULL", "TRUE", "FALSE", "lower(s) = 'a'", "s = 'a'",
    ]  # fmt: skip
    sums = [read_filters([text], SCHEMA).checksum() for text in texts]
    assert len(set(sums)) == len(texts)


def test_what_is_not_used_leaves_no_trace() -> None:
    """Constants of bad filters and of impossible ones are not in the table."""
    texts = ["s = 'kept'", "s = 'gone' AND s = 'lost'", "s > 'b' AND s < 'a'", "s = 'bad' AND"]
    found = read_filters([*texts, *texts], SCHEMA)
    assert found.strings.to_pylist() == ["kept"]
    assert found.patterns == ()


def test_an_empty_column_is_an_empty_table() -> None:
    found = read_filters([], SCHEMA)
    assert len(found) == 0
    assert found.conjunction_offsets.tolist() == found.predicate_offsets.tolist() == [0]
    assert found.rejected == ()
