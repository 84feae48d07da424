"""Valid rows as bytes for a log, and back.

A reader knows the columns that a schema declares, so only their data is written. A batch with
undeclared columns of an open schema is written with its Arrow schema in front.
"""

import pyarrow as pa

from wherecast.columns.arrow_schema import arrow_schema
from wherecast.model.schema import Schema

_DECLARED, _OPEN = b"\x01", b"\x02"


def encode_batch(batch: pa.RecordBatch, schema: Schema) -> bytes:
    """The bytes of a batch that a reader of this package returned for the schema."""
    if batch.schema.equals(arrow_schema(schema), check_metadata=True):
        return _DECLARED + bytes(batch.serialize())
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return _OPEN + bytes(sink.getvalue())


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
