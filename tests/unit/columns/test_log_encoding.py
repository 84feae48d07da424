import pyarrow as pa
import pytest

from wherecast.columns.arrow_schema import arrow_schema
from wherecast.columns.log_encoding import decode_batch, encode_batch
from wherecast.model import Schema

SCHEMA = Schema.from_dict({"no2": "float", "city": "string"})
ROWS = [{"no2": 1.5, "city": "Zagreb"}, {"no2": None, "city": None}]


def test_declared_columns_come_back() -> None:
    batch = pa.RecordBatch.from_pylist(ROWS, schema=arrow_schema(SCHEMA))
    assert decode_batch(encode_batch(batch, SCHEMA), SCHEMA).equals(batch)


def test_undeclared_columns_come_back() -> None:
    fields = [*arrow_schema(SCHEMA), pa.field("wind", pa.float64())]
    batch = pa.RecordBatch.from_pylist([row | {"wind": 2.0} for row in ROWS], pa.schema(fields))
    assert decode_batch(encode_batch(batch, SCHEMA), SCHEMA).equals(batch)


@pytest.mark.parametrize("start", [b"", b"\x01", b"\x02", b"\x03"])
@pytest.mark.parametrize("rest", [b"", b"abc", bytes(64), b"\xff" * 64])
def test_other_bytes_are_refused(start: bytes, rest: bytes) -> None:
    with pytest.raises(ValueError, match="no batch"):
        decode_batch(start + rest, SCHEMA)


def test_bytes_cut_short_are_refused() -> None:
    data = encode_batch(pa.RecordBatch.from_pylist(ROWS, schema=arrow_schema(SCHEMA)), SCHEMA)
    for size in range(0, len(data), 7):
        with pytest.raises(ValueError, match="no batch"):
            decode_batch(data[:size], SCHEMA)
