import numpy as np
import pyarrow as pa
import pytest

from tests.unit.language.joining import Cut, assert_joined, assert_same
from wherecast.language import PredicateTable, read_filters
from wherecast.language.table.table_join import joined
from wherecast.model import Schema

CLOSED = Schema.from_dict(
    {"i": "int", "x": "float", "s": "string", "b": "bool", "t": "timestamp", "y": "float",
     "u": "string"}
)  # fmt: skip
OPEN = Schema.from_dict({"i": "int", "s": "string"}, open=True)
FIRST, SECOND, NEITHER = [True, False], [False, True], [False, False]


@pytest.mark.parametrize(
    "cut",
    [
        pytest.param([(["i > 1", "x < 2"], None), (["y = 3", "i < 4"], None)], id="attributes"),
        pytest.param([(["y > 1"], None), (["x > 2"], None), (["i > 3"], None)], id="backwards"),
        pytest.param([(["i > 1", "y > 2"], SECOND), (["x > 2"], None)], id="attributes that go"),
        pytest.param([(["i = 1 AND y = 1", "x = 2"], SECOND)], id="all but one attribute go"),
        pytest.param([(["i IN (3, 1)"], None), (["i NOT IN (9, 2, 4)"], None)], id="sets"),
        pytest.param(
            [(["i IN (3, 1)", "i IN (7, 8, 9)"], SECOND), (["x IN (1, 2)"], None)],
            id="sets that go",
        ),
        pytest.param(
            [(["s IN ('b', 'd')"], None), (["s IN ('a', 'c', 'd')", "u = 'e'"], None)],
            id="strings",
        ),
        pytest.param(
            [(["s = 'b'", "s IN ('a', 'd')"], FIRST), (["s <> 'c'", "s = 'd'"], FIRST)],
            id="strings that go",
        ),
        pytest.param([(["s = 'a'", "i = 1"], SECOND), (["s = 'b'"], None)], id="all strings go"),
        pytest.param(
            [(["s IN ('z', '😀')"], None), (["s IN ('\uffff', '')"], None)], id="code points"
        ),
        pytest.param(
            [
                (["s IN ('x', 'y') AND i IN (5, 6)", "i IN (0, 1)"], None),
                (["i IN (0, 1) AND s IN ('a', 'b')"], None),
            ],
            id="sets of strings beside sets of numbers",
        ),
        pytest.param(
            [(["s > 'b'", "s < 'm'"], None), (["s >= 'a' AND s < 'm'", "s = 'm'"], None)],
            id="text ranges",
        ),
        pytest.param(
            [(["s > 'b'", "s < 'm'"], SECOND), (["s >= 'a' AND s <> 'k'"], None)],
            id="text ranges that go",
        ),
        pytest.param(
            [
                (["s LIKE 'b_%c'", "contains(s, 'k') AND s LIKE '_a'"], None),
                (["s LIKE 'a_%c' AND lower(s) = 'k'", "contains(s, 'k')"], None),
            ],
            id="patterns",
        ),
        pytest.param(
            [
                (["s LIKE 'b_%c'", "contains(s, 'k') AND s LIKE '_a'"], SECOND),
                (["u NOT LIKE 'a_'", "i > 5"], SECOND),
            ],
            id="patterns that go",
        ),
        pytest.param(
            [
                (["geo_distance(x, y, 1, 2) < 3", "geo_distance(y, x, 4, 5) > 6"], None),
                (["i = 1 OR geo_distance(i, y, 7, 8) <= 9"], None),
            ],
            id="distances",
        ),
        pytest.param(
            [
                (["geo_distance(i, x, 1, 2) < 3", "geo_distance(x, y, 4, 5) > 6"], SECOND),
                (["geo_distance(y, i, 7, 8) <= 9", "x > 1"], SECOND),
            ],
            id="distances that go",
        ),
        pytest.param(
            [(["x < y", "y < x AND i < x"], None), (["x < y", "i > y"], None)], id="residuals"
        ),
        pytest.param(
            [(["i < y", "x >= y"], SECOND), (["x = 1", "i <> x"], FIRST)], id="residuals that go"
        ),
        pytest.param(
            [
                (["i = 1 OR x = 2 OR s = 'a'", "(i = 1 OR x = 2) AND (b OR y = 1)"], SECOND),
                (["s = 'b' OR i IS NULL", "t IS NOT NULL"], None),
            ],
            id="disjunctions",
        ),
        pytest.param(
            [(["TRUE", "FALSE"], None), (["i > 3 AND i < 1", "TRUE"], None)], id="no rows"
        ),
        pytest.param([(["i >", "i > 1"], None), (["zz = 1", "", "i > 2"], None)], id="rejected"),
        pytest.param(
            [(["i >", "i > 1", "x >"], [True, False, True]), (["", "y >"], SECOND)],
            id="rejected that go",
        ),
        pytest.param([([], None), (["s = 'a'"], None), ([], [])], id="empty tables"),
        pytest.param([(["s = 'a' AND s LIKE '_'", "x < y"], None)], id="one part"),
        pytest.param(
            [(["s = 'a'", "x < y"], NEITHER), (["s LIKE '_b'", "i >"], NEITHER)], id="nothing left"
        ),
        pytest.param([(["s = 'a'", "i IN (1, 2)"], [True, True])], id="a mask that keeps all"),
        pytest.param([], id="no parts"),
    ],
)
def test_a_joined_table_is_what_reading_gives(cut: Cut) -> None:
    assert_joined(CLOSED, cut)


@pytest.mark.parametrize("keep", [None, FIRST, SECOND])
def test_attributes_of_an_open_schema_are_ordered_by_name_and_type(keep: list[bool] | None) -> None:
    """One name may stand for attributes of several types."""
    first = ["k = 'a' AND b < c", "k > 5 AND z LIKE '_a'"]
    second = ["k AND a IS NULL", "s = 'x' AND c = 'y' AND geo_distance(lat, lon, 1, 2) < 3"]
    found = assert_joined(OPEN, [(first, keep), (second, keep), (["k = 'b'"], None)])
    names = [(attribute.name, attribute.type) for attribute in found.attributes]
    assert names[-1] != ("s", "string")
    assert ("k", "string") in names


def test_strings_disappear_with_the_filters_that_named_them() -> None:
    found = assert_joined(CLOSED, [(["s = 'b'", "s = 'a'"], FIRST), (["u > 'c'"], None)])
    assert found.strings.to_pylist() == ["b", "c\0"]


def test_rejected_filters_keep_their_errors_at_new_rows() -> None:
    first, second = read_filters(["i >", "i = 1"], CLOSED), read_filters(["i = 2", "x >"], CLOSED)
    found = joined([(first, np.array(SECOND)), (second, None)], CLOSED)
    assert found.rejected == ((2, second.rejected[0][1]),)


def test_shapes_are_the_sum_of_the_parts() -> None:
    table = read_filters(["i > 1", "i > 2", "x > 1"], CLOSED)
    assert joined([(table, None), (table, np.zeros(3, bool))], CLOSED).shapes == 4


class Later(list[object]):
    """Leaves that are no tuple, as those of a table in a file."""


def frozen(table: PredicateTable) -> PredicateTable:
    """The table as if it came from a mapped file."""
    fields = {name: getattr(table, name) for name in PredicateTable.__dataclass_fields__}
    for name, value in fields.items():
        if isinstance(value, np.ndarray):
            fields[name] = np.frombuffer(value.tobytes(), value.dtype)
    _, offsets, data = pa.concat_arrays([table.strings]).buffers()
    fields["strings"] = pa.LargeStringArray.from_buffers(len(table.strings), offsets, data)
    fields["patterns"], fields["residuals"] = Later(table.patterns), Later(table.residuals)
    return PredicateTable(**fields)


@pytest.mark.parametrize("keep", [None, [True, True, False], [False, True, True]])
def test_tables_may_be_read_only_and_their_leaves_lazy(keep: list[bool] | None) -> None:
    first = ["s = 'k' AND u LIKE '_b' AND x < y", "i IN (1, 2)", "s = 'l' AND u LIKE '_d'"]
    second = ["s = 'a' AND u LIKE '_a' AND i < x"]
    mask = None if keep is None else np.array(keep)
    parts = [frozen(read_filters(texts, CLOSED)) for texts in (first, second)]
    kept = [text for text, is_kept in zip(first, keep or [True] * 3, strict=True) if is_kept]
    found = joined([(parts[0], mask), (parts[1], None)], CLOSED)
    assert_same(found, read_filters([*kept, *second], CLOSED))
    assert_same(joined([(parts[0], mask)], CLOSED), read_filters(kept, CLOSED))
