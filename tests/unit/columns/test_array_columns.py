"""Array attributes: the same rows and verdicts from Python values, JSON text and Arrow lists."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wherecast import PublicationError, Schema, SchemaError
from wherecast.columns import decode_json, decode_ndjson, decode_rows, read_arrow, rows_of
from wherecast.columns.arrow_schema import arrow_schema
from wherecast.columns.log_encoding import decode_batch, encode_batch
from wherecast.model import Limits

SCHEMA = Schema.from_dict(
    {"tags": "array<string>", "counts": "array<int>", "levels": "array<float>", "n": "int"}
)
LIMITS = Limits(array_elements_max=3)


def verdicts(decoded):
    return [(bad.row, bad.code, bad.attribute, bad.element) for bad in decoded.rejected]


def read_one(row, schema=SCHEMA, limits=LIMITS):
    """The canonical row by the model, or its problems."""
    try:
        return schema.read(row, limits)
    except PublicationError as error:
        return [(one.code, one.message, one.attribute, one.element) for one in error.problems]


ROWS = [
    {"tags": ["a", None, "č"], "counts": [1, 2**63 - 1, -(2**63)], "levels": [0.5, 1, None]},
    {"tags": [], "counts": None, "levels": [None]},
    {"n": 1},
    {"tags": [None, None], "counts": [5.0], "levels": [-0.0]},
]
CANONICAL = [
    {"tags": ("a", None, "č"), "counts": (1, 2**63 - 1, -(2**63)), "levels": (0.5, 1.0, None)},
    {"tags": (), "levels": (None,)},
    {"n": 1},
    {"tags": (None, None), "counts": (5,), "levels": (0.0,)},
]


def test_rows_come_back_as_tuples():
    decoded = decode_rows(ROWS, SCHEMA)
    decoded.batch.validate(full=True)
    assert decoded.batch.schema == arrow_schema(SCHEMA)
    assert rows_of(decoded.batch, SCHEMA) == CANONICAL
    assert [SCHEMA.read(row) for row in ROWS] == CANONICAL


def test_the_log_gives_the_same_batch_back():
    batch = decode_rows(ROWS, SCHEMA).batch
    for begin in range(len(ROWS)):
        part = batch.slice(begin)
        found = decode_batch(encode_batch(part, SCHEMA), SCHEMA)
        found.validate(full=True)
        assert found.equals(part)
    open_schema = Schema.from_dict({"tags": "array<string>"}, open=True)
    mixed = decode_rows([{"tags": ["a"], "x": 1}, {"y": "b"}], open_schema)
    assert decode_batch(encode_batch(mixed.batch, open_schema), open_schema).equals(mixed.batch)


BAD = {
    "wrong type": ({"tags": ["a", "b", 3]}, "wrong_type", 2),
    "no array": ({"tags": "a"}, "wrong_type", None),
    "an object": ({"tags": [{"a": 1}]}, "wrong_type", 0),
    "nested": ({"tags": ["a", ["b"]]}, "wrong_type", 1),
    "too many": ({"tags": ["a"] * 4}, "too_many_elements", None),
    "surrogate": ({"tags": ["a", "\ud800"]}, "malformed", 1),
    "beyond 64 bits": ({"counts": [1, 2**63]}, "out_of_range", 1),
    "a fraction": ({"counts": [1, 2.5]}, "wrong_type", 1),
    "a bool": ({"counts": [True]}, "wrong_type", 0),
    "text for a number": ({"levels": [1.0, "2"]}, "wrong_type", 1),
    "beyond a double": ({"levels": [10**400]}, "out_of_range", 0),
    "the first of two": ({"counts": ["a", None, "b"]}, "wrong_type", 0),
}


@pytest.mark.parametrize(("row", "code", "element"), BAD.values(), ids=BAD)
def test_a_bad_array_costs_its_row_only(row, code, element):
    rows = [ROWS[0], row, {"n": 2}]
    decoded = decode_rows(rows, SCHEMA, LIMITS)
    name = next(iter(row))
    assert verdicts(decoded) == [(1, code, name, element)]
    assert rows_of(decoded.batch, SCHEMA) == [CANONICAL[0], {"n": 2}]
    place = "" if element is None else f"[{element}]"
    message = decoded.rejected[0].message
    assert message.startswith(f"attribute {name}{place}: ")
    assert read_one(row) == [(code, message, name, element)]


def test_the_error_names_the_limit():
    decoded = decode_rows([{"counts": [0] * 1001}, {"counts": [0] * 1000}], SCHEMA)
    assert decoded.rows.tolist() == [1]
    text = "attribute counts: has 1001 elements, the limit array_elements_max is 1000"
    assert decoded.rejected[0].message == text


JSON = {
    b'{"levels": [1, NaN]}': ("not_finite", 1),
    b'{"levels": [1e999]}': ("out_of_range", 0),
    b'{"tags": ["a", "\\ud800"]}': ("malformed", 1),
    b'{"counts": [0, 1, 9223372036854775808]}': ("out_of_range", 2),
    b'{"counts": [%s]}' % (b"9" * 5000): ("out_of_range", 0),
    b'{"tags": ["a"], "tags": ["b"]}': ("duplicate_key", None),
    b'{"tags": [{"a": 1, "a": 2}]}': ("wrong_type", 0),
    b'{"tags": %s}' % (b"[" * 100 + b"]" * 100): ("wrong_type", 0),
    b'{"tags": %s}' % (b"[" * 5000 + b"]" * 5000): ("too_deep", None),
}


@pytest.mark.parametrize(("text", "verdict"), JSON.items(), ids=range(len(JSON)))
def test_json_that_no_array_takes(text, verdict):
    good = b'{"tags": ["a"], "levels": [2]}'
    for decoded in (
        decode_ndjson(b"\n".join([good, text, good]), SCHEMA),
        decode_json(b"[" + b",".join([good, text, good]) + b"]", SCHEMA),
    ):
        assert [(bad.row, bad.code, bad.element) for bad in decoded.rejected] == [(1, *verdict)]
        assert rows_of(decoded.batch, SCHEMA) == [{"tags": ("a",), "levels": (2.0,)}] * 2


def test_an_open_schema_takes_declared_arrays_only():
    schema = Schema.from_dict({"tags": "array<string>"}, open=True)
    decoded = decode_rows([{"tags": ["a"], "x": 1}, {"other": ["a"]}], schema)
    assert verdicts(decoded) == [(1, "wrong_type", "other", None)]
    assert rows_of(decoded.batch, schema) == [{"tags": ("a",), "x": 1.0}]


ARROW = {
    "list": pa.array([["a", None], None, []], pa.list_(pa.string())),
    "large_list": pa.array([["a", None], None, []], pa.large_list(pa.large_string())),
    "views": pa.array([["a", None], None, []], pa.large_list(pa.string_view())),
    "dictionary": pa.ListArray.from_arrays(
        pa.array([0, None, 2, 2], pa.int32()), pa.array(["a", None]).dictionary_encode()
    ),
    "slice": pa.array([["x"], ["a", None], None, [], ["y"]], pa.list_(pa.string())).slice(1, 3),
}


@pytest.mark.parametrize("column", ARROW.values(), ids=ARROW)
def test_lists_of_every_layout(column):
    decoded = read_arrow(pa.table({"tags": column}), SCHEMA)
    decoded.batch.validate(full=True)
    assert decoded.batch.schema == arrow_schema(SCHEMA)
    assert decoded.batch.column("tags").to_pylist() == [["a", None], None, []]


def test_chunks_and_tables_without_rows():
    chunks = pa.chunked_array([[["a"]], [], [None, ["b", "c"]]], pa.list_(pa.string()))
    decoded = read_arrow(pa.table({"tags": chunks}), SCHEMA)
    assert decoded.batch.column("tags").to_pylist() == [["a"], None, ["b", "c"]]
    for empty in (chunks.slice(0, 0), pa.chunked_array([], chunks.type)):
        assert read_arrow(pa.table({"tags": empty}), SCHEMA).batch.num_rows == 0
    nulls = read_arrow(pa.table({"tags": pa.nulls(2), "counts": [[], []]}), SCHEMA)
    assert rows_of(nulls.batch, SCHEMA) == [{"counts": ()}, {"counts": ()}]


def test_elements_are_converted_as_columns_are():
    table = pa.table(
        {
            "counts": pa.array([[1.0, 2.0], [2.5]], pa.list_(pa.float64())),
            "levels": pa.array([[1], [2]], pa.list_(pa.int8(), 1)),
        }
    )
    decoded = read_arrow(table, SCHEMA)
    assert verdicts(decoded) == [(1, "wrong_type", "counts", 0)]
    assert rows_of(decoded.batch, SCHEMA) == [{"counts": (1, 2), "levels": (1.0,)}]
    large = pa.table({"counts": pa.array([[1], [0, 2**63]], pa.list_(pa.uint64()))})
    assert verdicts(read_arrow(large, SCHEMA)) == [(1, "out_of_range", "counts", 1)]


def test_text_that_is_not_utf8_costs_its_row_only():
    texts = pa.array([b"a", b"b", b"\xff"]).view(pa.string())
    column = pa.ListArray.from_arrays(pa.array([0, 1, 3], pa.int32()), texts)
    decoded = read_arrow(pa.table({"tags": column}), SCHEMA)
    assert verdicts(decoded) == [(1, "malformed", "tags", 1)]
    assert rows_of(decoded.batch, SCHEMA) == [{"tags": ("a",)}]
    lenient = read_arrow(pa.table({"tags": column}), SCHEMA, strict=False)
    assert rows_of(lenient.batch, SCHEMA) == [{"tags": ("a",)}, {"tags": ("b", "\ufffd")}]


def test_tables_have_no_limit_unless_one_is_given():
    table = pa.table({"counts": [[0] * 4, [1, 2]]})
    assert not read_arrow(table, SCHEMA).rejected
    limited = read_arrow(table, SCHEMA, limits=LIMITS)
    assert verdicts(limited) == [(0, "too_many_elements", "counts", None)]
    assert rows_of(limited.batch, SCHEMA) == [{"counts": (1, 2)}]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([["a"]]), pa.array([[[1]]]), pa.array([1]), pa.array([[True]]),
        pa.array([[1]], pa.list_view(pa.int64())), pa.array([[{"x": 1}]]),
    ],
    ids=lambda column: str(column.type),
)  # fmt: skip
def test_columns_that_cannot_be_the_attribute(column):
    with pytest.raises(SchemaError, match=r"column counts is .* cannot be the array<int> attr"):
        read_arrow(pa.table({"counts": column}), SCHEMA)


def test_a_list_column_cannot_be_a_plain_attribute():
    with pytest.raises(
        SchemaError, match=r"column n is list<.*>, which cannot be the int attribute n"
    ):
        read_arrow(pa.table({"n": pa.array([[1]])}), SCHEMA)


def test_damaged_offsets_are_refused():
    offsets = pa.py_buffer(np.array([0, 900, 1], np.int32))
    children = [pa.array(["a"])]
    column = pa.Array.from_buffers(pa.list_(pa.string()), 2, [None, offsets], children=children)
    with pytest.raises(PublicationError, match="column tags is damaged"):
        read_arrow(pa.table({"tags": column}), SCHEMA)


def test_data_frames():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    tags = [["a", None], None, []]
    texts = pandas.Series(tags, dtype=pandas.ArrowDtype(pa.list_(pa.string())))
    frames = [
        pandas.DataFrame({"tags": tags, "counts": [np.array([1, 2]), None, (3,)]}),
        pandas.DataFrame({"tags": texts, "counts": [[1, 2], float("nan"), [3]]}),
        polars.DataFrame({"tags": tags, "counts": [[1, 2], None, [3]]}),
    ]  # fmt: skip
    for frame in frames:
        decoded = read_arrow(frame, SCHEMA)
        assert not decoded.rejected
        assert rows_of(decoded.batch, SCHEMA) == [
            {"tags": ("a", None), "counts": (1, 2)}, {}, {"tags": (), "counts": (3,)}
        ]  # fmt: skip
    bad = pandas.DataFrame({"tags": [["a"], "b", [1], np.array(["c"])]})
    assert verdicts(read_arrow(bad, SCHEMA)) == [
        (1, "wrong_type", "tags", None), (2, "wrong_type", "tags", 0)
    ]  # fmt: skip
    times = pandas.DataFrame({"counts": [np.array(["2026-01-01"], "datetime64[ns]")]})
    assert verdicts(read_arrow(times, SCHEMA)) == [(0, "wrong_type", "counts", None)]


elements = st.none() | st.integers(-(2**64), 2**64) | st.floats() | st.text(max_size=3)
values = st.lists(elements | st.booleans() | st.lists(st.integers(), max_size=1), max_size=5)


@given(
    st.lists(
        st.fixed_dictionaries(
            {}, optional=dict.fromkeys(("tags", "counts", "levels"), values | elements)
        ),
        max_size=4,
    )
)
def test_columns_agree_with_the_scalar_rule(rows):
    decoded = decode_rows(rows, SCHEMA, LIMITS)
    good = dict(zip(decoded.rows.tolist(), rows_of(decoded.batch, SCHEMA), strict=True))
    for number, row in enumerate(rows):
        problems = [
            (bad.code, bad.message, bad.attribute, bad.element)
            for bad in decoded.rejected
            if bad.row == number
        ]
        wanted = read_one(row)
        if isinstance(wanted, dict):
            assert not problems
            assert _plain(good[number]) == _plain(wanted)
        else:
            assert sorted(problems, key=str) == sorted(wanted, key=str)


def _plain(row):
    """The row with a word for NaN, which equals nothing."""
    return {
        name: tuple("NaN" if isinstance(v, float) and math.isnan(v) else v for v in value)
        for name, value in row.items()
    }
