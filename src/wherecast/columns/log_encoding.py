"""Valid rows as bytes for a log, and back.

A batch is written as Arrow. A reader knows the columns that a schema declares, so only their data
is written. A batch with undeclared columns of an open schema is written with its Arrow schema in
front.

Plain rows that came one by one are written as a JSON array of objects.
"""

import sys
from collections.abc import Sequence

import orjson
import pyarrow as pa

from wherecast.columns.arrow_schema import arrow_schema
from wherecast.columns.rows import decode_rows
from wherecast.model.limits import Limits
from wherecast.model.schema import Schema

_DECLARED, _OPEN = b"\x01", b"\x02"
# The rows were accepted: no limit refuses them now.
_NO_LIMITS = Limits(
    schema_attributes_max=sys.maxsize,
    publication_attributes_max=sys.maxsize,
    array_elements_max=sys.maxsize,
)


def encode_batch(batch: pa.RecordBatch, schema: Schema) -> bytes:
    """The bytes of a batch that a reader of this package returned for the schema."""
    if batch.schema.equals(arrow_schema(schema), check_metadata=True):
        return _DECLARED + bytes(batch.serialize())
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return _OPEN + bytes(sink.getvalue())


def encode_rows(texts: Sequence[bytes]) -> bytes:
    """The bytes of plain rows, each given as `plain_text` writes it."""
    return b"[" + b",".join(texts) + b"]"


def decode_rows_text(data: bytes, schema: Schema) -> pa.RecordBatch:
    """The batch of bytes that `encode_rows` wrote.

    Raises:
        ValueError: `encode_rows` did not write these bytes, or wrote them for another schema.
    """
    decoded = decode_rows(orjson.loads(data), schema, _NO_LIMITS)
    if decoded.rejected:
        raise ValueError(f"no rows of this schema: {decoded.rejected[0].message}")
    return decoded.batch


def decode_entry(data: bytes, encoding: str, schema: Schema) -> pa.RecordBatch:
    """The batch of the attributes of an entry, written in one encoding or the other.

    Raises:
        ValueError: they are not what this package wrote, or of another schema.
    """
    return decode_rows_text(data, schema) if encoding == "rows" else decode_batch(data, schema)


def decode_batch(data: bytes, schema: Schema) -> pa.RecordBatch:
    """The batch of bytes that `encode_batch` wrote; its columns are views of `data`.

    Raises:
        ValueError: `encode_batch` did not write these bytes, or wrote them for another schema.
    """
    try:
        body = pa.py_buffer(data).slice(1)
        if data[:1] == _DECLARED:
            return pa.ipc.read_record_batch(body, arrow_schema(schema))
        if data[:1] == _OPEN:
            return pa.ipc.open_stream(body).read_next_batch()
    except (pa.ArrowException, OSError, EOFError, StopIteration) as error:
        raise ValueError(f"no batch of this schema: {error}") from error
    raise ValueError("no batch: the first byte is unknown")
