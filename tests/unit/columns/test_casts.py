from math import inf, nan
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from wherecast.columns.arrow_schema import ARROW_TYPES
from wherecast.columns.casts import cast_column, open_type, plain_array
from wherecast.model import Attribute, PublicationError, SchemaError
from wherecast.model.values import Type

INTEGERS = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32()]
TEXTS = [pa.string(), pa.large_string(), pa.string_view()]


def read(kind: Type, array: pa.Array | pa.ChunkedArray) -> tuple[list[Any], list[tuple[int, str]]]:
    chunked = array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
    column = cast_column(Attribute("a", kind), "a", chunked)
    assert column.array.type == ARROW_TYPES[kind]
    stored = column.array.cast(pa.int64()) if kind == "timestamp" else column.array
    return stored.to_pylist(), [(row, problem.code) for row, problem in column.problems]


@pytest.mark.parametrize("type_", [*INTEGERS, pa.uint64()], ids=str)
def test_integers_of_any_width(type_: pa.DataType) -> None:
    array = pa.array([1, None, 100], type_)
    assert read("int", array) == ([1, None, 100], [])
    assert read("float", array) == ([1.0, None, 100.0], [])


def test_unsigned_integers_beyond_64_bits_are_bad_rows() -> None:
    array = pa.array([2**63 - 1, 2**63, None, 2**64 - 1], pa.uint64())
    assert read("int", array) == (
        [2**63 - 1, None, None, None],
        [(1, "out_of_range"), (3, "out_of_range")],
    )
    assert read("float", array) == ([2.0**63, 2.0**63, None, 2.0**64], [])


def test_integers_for_a_float_become_the_nearest_double() -> None:
    assert read("float", pa.array([2**53 + 1, -(2**63)])) == ([2.0**53, -(2.0**63)], [])


@pytest.mark.parametrize("type_", [pa.float16(), pa.float32(), pa.float64()], ids=str)
def test_floats_of_any_width_stay_exact_and_nan_stays_a_value(type_: pa.DataType) -> None:
    given = np.array([0.1, 1.5, nan, inf], dtype=type_.to_pandas_dtype())
    values, problems = read("float", pa.array(given))
    assert problems == []
    assert repr(values) == repr([float(x) for x in given])


def test_floats_for_an_int_are_accepted_where_exact() -> None:
    array = pa.array([5.0, 5.5, None, nan, inf, 2.0**53 + 2, -0.0, 2.0**53 - 1])
    assert read("int", array) == (
        [5, None, None, None, None, None, 0, 2**53 - 1],
        [(1, "wrong_type"), (3, "not_finite"), (4, "not_finite"), (5, "out_of_range")],
    )
    assert read("int", pa.array([1.0, None])) == ([1, None], [])


def test_bools() -> None:
    assert read("bool", pa.array([True, None, False])) == ([True, None, False], [])


@pytest.mark.parametrize("type_", TEXTS, ids=str)
def test_texts_of_any_layout(type_: pa.DataType) -> None:
    array = pa.array(["a", None, "b\0", "é"], type_)
    assert read("string", array) == (["a", None, "b\0", "é"], [])
    assert read("string", array.dictionary_encode()) == (["a", None, "b\0", "é"], [])


def test_encoded_columns() -> None:
    assert read("int", pa.array([1, None, 1]).dictionary_encode()) == ([1, None, 1], [])
    assert read("int", pc.run_end_encode(pa.array([1, 1, None]))) == ([1, 1, None], [])
    assert read("string", pc.run_end_encode(pa.array(["a", "a"]))) == (["a", "a"], [])


def test_chunks_with_different_dictionaries() -> None:
    chunks = [pa.array(["a"]).dictionary_encode(), pa.array(["b", "a"]).dictionary_encode()]
    assert read("string", pa.chunked_array(chunks)) == (["a", "b", "a"], [])


def test_no_chunks_and_null_columns() -> None:
    assert read("string", pa.chunked_array([], pa.string())) == ([], [])
    encoded = pa.dictionary(pa.int8(), pa.string())
    assert read("string", pa.chunked_array([], encoded)) == ([], [])
    for kind in ARROW_TYPES:
        assert read(kind, pa.nulls(2)) == ([None, None], [])


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Zagreb", "+02:00"])
@pytest.mark.parametrize(("unit", "micros"), [("s", 10**6), ("ms", 10**3), ("us", 1)])
def test_timestamps_of_any_unit_and_zone(unit: str, micros: int, zone: str | None) -> None:
    array = pa.array([0, -1, None, 7], pa.timestamp(unit, tz=zone))
    assert read("timestamp", array) == ([0, -micros, None, 7 * micros], [])


def test_nanoseconds_are_floored() -> None:
    array = pa.array([1999, -1, -1000, None], pa.timestamp("ns"))
    assert read("timestamp", array) == ([1, -1, -1, None], [])


def test_times_beyond_microseconds_are_bad_rows() -> None:
    array = pa.array([2**60, 1, -(2**60), None, -(2**63)], pa.timestamp("s"))
    assert read("timestamp", array) == (
        [None, 10**6, None, None, None],
        [(0, "out_of_range"), (2, "out_of_range"), (4, "out_of_range")],
    )


@pytest.mark.parametrize("type_", TEXTS, ids=str)
def test_iso_texts_for_a_timestamp(type_: pa.DataType) -> None:
    array = pa.array(["1970-01-02", "noon", None, "1970-01-02", "noon"], type_)
    assert read("timestamp", array) == (
        [86_400_000_000, None, None, 86_400_000_000, None],
        [(1, "bad_time"), (4, "bad_time")],
    )


@pytest.mark.parametrize(
    ("kind", "array"),
    [
        ("int", pa.array([True])),
        ("int", pa.array(["1"])),
        ("float", pa.array([False])),
        ("float", pa.array(["1"])),
        ("float", pa.array([1], pa.decimal128(5, 2))),
        ("bool", pa.array([1])),
        ("string", pa.array([1])),
        ("string", pa.array([b"x"])),
        ("timestamp", pa.array([1])),
        ("timestamp", pa.array([1], pa.date32())),
        ("timestamp", pa.array([86_400_000], pa.date64())),
        ("int", pa.array([[1]])),
    ],
    ids=str,
)
def test_a_column_of_another_type_is_refused_by_name_and_type(kind: Type, array: pa.Array) -> None:
    with pytest.raises(SchemaError) as caught:
        cast_column(Attribute("x", kind), "X", pa.chunked_array([array]))
    assert f"column X is {array.type}" in str(caught.value)
    assert f"the {kind} attribute x" in str(caught.value)
    assert caught.value.problems[0].attribute == "x"


def test_domains_hold_for_columns_too() -> None:
    attribute = Attribute("a", "int", 0, 10)
    column = cast_column(attribute, "a", pa.chunked_array([[5.0, 11.0, 5.5, None]]))
    assert column.array.to_pylist() == [5, None, None, None]
    assert sorted((row, p.code) for row, p in column.problems) == [
        (1, "out_of_range"),
        (2, "wrong_type"),
    ]


def not_utf8(*raw: bytes | None) -> pa.Array:
    return pa.array(raw, pa.binary()).view(pa.string())


def test_text_that_is_not_utf8_makes_a_bad_row() -> None:
    array = not_utf8(b"good", b"\xff\xfe", None, "é".encode())
    assert read("string", array) == (["good", "\ufffd\ufffd", None, "é"], [(1, "malformed")])
    assert read("string", array.cast(pa.string_view())) == read("string", array)
    times = not_utf8(b"1970-01-01", b"\xff")
    assert read("timestamp", times) == ([0, None], [(1, "malformed")])
    indices = pa.array([0, 1, 1, None])
    encoded = pa.DictionaryArray.from_arrays(indices, not_utf8(b"a", b"\xff"), safe=False)
    assert read("string", encoded) == (
        ["a", "\ufffd", "\ufffd", None],
        [(1, "malformed"), (2, "malformed")],
    )


def test_a_damaged_column_is_an_error_that_names_it() -> None:
    offsets = pa.py_buffer(np.array([0, 100, 1], dtype=np.int32).tobytes())
    strings = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"abc")])
    indices = pa.array([0, 9])
    encoded = pa.DictionaryArray.from_arrays(indices, pa.array(["a"]), safe=False)
    for damaged in (strings, encoded):
        with pytest.raises(PublicationError, match="column city is damaged"):
            plain_array("city", pa.chunked_array([damaged]))


def test_a_column_that_arrow_cannot_decode_is_an_error_that_names_it() -> None:
    words = pa.array([[1]], pa.list_view(pa.int64()))
    encoded = pa.DictionaryArray.from_arrays(pa.array([0]), words)
    with pytest.raises(SchemaError, match="column city is dictionary"):
        cast_column(Attribute("a", "string"), "city", pa.chunked_array([encoded]))


def test_an_extension_type_is_read_as_what_it_stores() -> None:
    array = pa.ExtensionArray.from_storage(pa.json_(), pa.array(["x"]))
    assert read("string", array) == (["x"], [])


@pytest.mark.parametrize(
    ("type_", "kind"),
    [
        (pa.uint8(), "float"),
        (pa.float16(), "float"),
        (pa.bool_(), "bool"),
        (pa.string_view(), "string"),
        (pa.dictionary(pa.int8(), pa.string()), "string"),
        (pa.timestamp("us"), None),
        (pa.decimal128(5, 2), None),
        (pa.list_(pa.int64()), None),
    ],
)
def test_what_an_undeclared_column_is(type_: pa.DataType, kind: str | None) -> None:
    assert open_type(type_) == kind
