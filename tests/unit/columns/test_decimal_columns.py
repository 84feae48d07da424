from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from wherecast.columns import decode_rows, read_arrow, rows_of
from wherecast.columns.casts import cast_column
from wherecast.columns.comparable import held
from wherecast.model import Attribute, Schema, SchemaError

PRICE = Attribute("a", "int", scale=2)


def read(array: pa.Array, attribute: Attribute = PRICE) -> tuple[list[Any], list[tuple[int, str]]]:
    column = cast_column(attribute, "a", pa.chunked_array([array]))
    column.array.validate(full=True)
    return held(column.array).to_pylist(), [(row, p.code) for row, p in column.problems]


WIDTHS = [pa.decimal32(8, 2), pa.decimal64(16, 2), pa.decimal128(30, 2), pa.decimal256(60, 2)]


@pytest.mark.parametrize("type_", WIDTHS, ids=str)
def test_decimals_of_any_width(type_: pa.DataType) -> None:
    values = [Decimal("12.50"), None, Decimal("-0.01"), Decimal("99999.99")]
    assert read(pa.array(values, type_)) == ([1250, None, -1, 9999999], [])
    assert read(pa.array(values, type_).slice(1, 2)) == ([None, -1], [])


def test_other_scales_where_they_are_exact() -> None:
    values = [Decimal("1.5"), Decimal("1.005"), None]
    assert read(pa.array(values, pa.decimal128(10, 3))) == ([150, None, None], [(1, "wrong_type")])
    assert read(pa.array([Decimal(500)], pa.decimal128(3, -2))) == ([50_000], [])
    assert read(pa.array([Decimal("1.5")], pa.decimal128(10, 1))) == ([150], [])
    tiny = Attribute("a", "int", scale=18)
    assert read(pa.array([Decimal("0.5"), Decimal(2)], pa.decimal128(10, 1)), tiny) == (
        [5 * 10**17, None],
        [(1, "out_of_range")],
    )


def test_values_of_more_than_18_digits_are_bad_rows() -> None:
    most = Decimal("9999999999999999.99")
    values = [most, -most, most + Decimal("0.01"), Decimal(10) ** 30]
    assert read(pa.array(values, pa.decimal128(38, 2))) == (
        [10**18 - 1, 1 - 10**18, None, None],
        [(2, "out_of_range"), (3, "out_of_range")],
    )


def test_ints_and_floats() -> None:
    assert read(pa.array([5, None, -7], pa.int16())) == ([500, None, -700], [])
    assert read(pa.array([2**63, 3], pa.uint64())) == ([None, 300], [(0, "out_of_range")])
    assert read(pa.array([0.1, 0.29, None, 1.005, float("nan"), 1e30])) == (
        [10, 29, None, None, None, None],
        [(3, "wrong_type"), (4, "not_finite"), (5, "out_of_range")],
    )


def test_an_int_takes_whole_decimals() -> None:
    array = pa.array([Decimal("5.00"), Decimal("5.50"), None], pa.decimal128(5, 2))
    assert read(array, Attribute("a", "int")) == ([5, None, None], [(1, "wrong_type")])


def test_other_columns_are_refused() -> None:
    with pytest.raises(SchemaError, match="column a is string, which cannot be the decimal"):
        read(pa.array(["1.5"]))


def test_domains_are_those_of_the_number() -> None:
    attribute = Attribute("a", "int", 0, 1000, scale=2)
    array = pa.array([Decimal("10.00"), Decimal("10.01")], pa.decimal128(5, 2))
    column = cast_column(attribute, "a", pa.chunked_array([array]))
    assert held(column.array).to_pylist() == [1000, None]
    assert column.problems[0][1].message == "attribute a: 10.01 is above its maximum 10"


def test_a_batch_is_read_again_as_it_is() -> None:
    schema = Schema((Attribute("o.price", "int", scale=2), Attribute("n", "int")))
    rows = [{"o": {"price": 12.5}, "n": 1}, {"o.price": "0.01"}, {"o.price": Decimal("3")}, {}]
    once = decode_rows(rows, schema)
    assert once.batch.schema.field("o.price").type == pa.decimal128(18, 2)
    again = read_arrow(once.batch, schema)
    assert again.batch == once.batch
    assert rows_of(again.batch, schema) == [
        {"o.price": 1250, "n": 1}, {"o.price": 1}, {"o.price": 300}, {},
    ]  # fmt: skip


def test_python_values() -> None:
    schema = Schema((PRICE,))
    given: list[Any] = [1, 2.5, True, "x", "1e2", 10**40, float("inf"), 12345678901234.56]
    decoded = decode_rows([{"a": value} for value in given], schema)
    assert [row["a"] for row in rows_of(decoded.batch, schema)] == [100, 250, 10_000]
    assert [(bad.row, bad.code) for bad in decoded.rejected] == [
        (2, "wrong_type"), (3, "wrong_type"), (5, "out_of_range"), (6, "not_finite"),
        (7, "out_of_range"),
    ]  # fmt: skip
