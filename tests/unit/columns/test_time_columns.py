from datetime import UTC, date, datetime
from typing import Any

import pyarrow as pa
import pytest

from wherecast.columns import decode_rows, read_arrow, rows_of
from wherecast.columns.casts import cast_column
from wherecast.columns.comparable import held
from wherecast.model import Attribute, Schema, SchemaError
from wherecast.model.times import DAY_MICROS

DAY = Attribute("a", "timestamp", clock="day")


def read(array: pa.Array) -> tuple[list[Any], list[tuple[int, str]]]:
    column = cast_column(DAY, "a", pa.chunked_array([array]))
    assert column.array.type == pa.date32()
    return held(column.array).to_pylist(), [(row, p.code) for row, p in column.problems]


@pytest.mark.parametrize("type_", [pa.date32(), pa.date64()], ids=str)
def test_dates_are_held_as_their_first_moments(type_: pa.DataType) -> None:
    days = [date(1970, 1, 2), None, date(1969, 12, 31), date(1, 1, 1)]
    assert read(pa.array(days, type_)) == (
        [DAY_MICROS, None, -DAY_MICROS, -719_162 * DAY_MICROS],
        [],
    )


def test_dates_that_microseconds_cannot_hold_are_bad_rows() -> None:
    days = pa.array([2**31 - 1, 5, -(2**31), None], pa.int32()).cast(pa.date32())
    assert read(days) == (
        [None, 5 * DAY_MICROS, None, None],
        [(0, "out_of_range"), (2, "out_of_range")],
    )


def test_times_and_texts_where_they_are_days() -> None:
    times = [datetime(1970, 1, 2), datetime(1970, 1, 2, 1), None]
    wanted = ([DAY_MICROS, None, None], [(1, "bad_time")])
    assert read(pa.array(times, pa.timestamp("ms"))) == wanted
    assert read(pa.array(["1970-01-02", "1970-01-02T01:00", None])) == wanted


def test_other_columns_are_refused() -> None:
    with pytest.raises(SchemaError, match="column a is int64, which cannot be the date attribute"):
        read(pa.array([5]))
    with pytest.raises(SchemaError, match=r"column a is date32.*cannot be the timestamp attribute"):
        cast_column(Attribute("a", "timestamp"), "a", pa.chunked_array([pa.array([date.min])]))


def test_a_batch_is_read_again_as_it_is() -> None:
    schema = Schema((DAY, Attribute("n", "timestamp", clock="local")))
    given: list[Any] = [
        {"a": "1970-01-02", "n": "1970-01-01T00:00:01"},
        {"a": date(1970, 1, 3)},
        {"a": datetime(1970, 1, 4, tzinfo=UTC)},
        {"n": None},
    ]
    once = decode_rows(given, schema)
    assert once.batch.schema.types == [pa.date32(), pa.timestamp("us")]
    again = read_arrow(once.batch, schema)
    assert again.batch == once.batch
    assert rows_of(again.batch, schema) == [
        {"a": DAY_MICROS, "n": 1_000_000}, {"a": 2 * DAY_MICROS}, {"a": 3 * DAY_MICROS}, {},
    ]  # fmt: skip
