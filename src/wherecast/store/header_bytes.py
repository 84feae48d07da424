"""Headers and payloads of an entry as bytes, and back.

Most headers are null or the same for all rows of a call, such as the publisher. So a column
without values is left out, and a column with one value is written once. Counters are written less
the number of their row: those of one publisher's call are one value then. A bare entry takes no
bytes at all.

The bytes: the batch of the columns that have one value (one row), the batch of the others, then the
mask of the former and the mask of the latter, one byte each. Bit n stands for column n of
`HEADERS`. A batch without columns is left out.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from wherecast.arrays.vectors import array_of, has_one_value
from wherecast.store.records import HEADERS, PAYLOAD

_COUNTER = HEADERS.get_field_index("counter")
_PAYLOADS = pa.schema([("payload", PAYLOAD)])


def no_headers(count: int) -> pa.RecordBatch:
    """The headers of bare records."""
    return pa.RecordBatch.from_arrays(
        [pa.nulls(count, field.type) for field in HEADERS], schema=HEADERS
    )


def pack_headers(headers: pa.RecordBatch) -> bytes | None:
    """The bytes of a batch of `HEADERS`; None where every field is null."""
    count = headers.num_rows
    once: list[tuple[int, pa.Array]] = []
    each: list[tuple[int, pa.Array]] = []
    for place, column in enumerate(headers.columns):
        if column.null_count == count:
            continue
        if count == 1:
            once.append((place, column))
            continue
        if place == _COUNTER:
            column = pc.subtract(column, array_of(np.arange(count)))
        if has_one_value(column):
            once.append((place, column.slice(0, 1)))
        else:
            each.append((place, column))
    if not once and not each:
        return None
    masks = bytes(sum(1 << place for place, _ in columns) for columns in (once, each))
    return b"".join(_packed(columns) for columns in (once, each) if columns) + masks


def unpack_headers(data: bytes | None, count: int) -> pa.RecordBatch:
    """The batch of `HEADERS` of what `pack_headers` wrote for so many rows.

    Raises:
        ValueError: these are other bytes.
    """
    if data is None:
        return no_headers(count)
    columns: list[pa.Array | None] = [None] * len(HEADERS)
    try:
        stream = pa.BufferReader(pa.py_buffer(data))
        for place, column in _read(stream, data[-2]):
            columns[place] = pa.repeat(column[0], count)
        for place, column in _read(stream, data[-1]):
            columns[place] = column
    except (pa.ArrowException, OSError, EOFError, IndexError) as error:
        raise ValueError(f"no headers: {error}") from error
    counters = columns[_COUNTER]
    if counters is not None:
        columns[_COUNTER] = pc.add(counters, array_of(np.arange(count)))
    filled = [
        pa.nulls(count, field.type) if column is None else column
        for field, column in zip(HEADERS, columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(filled, schema=HEADERS)


def pack_payloads(payloads: pa.Array) -> bytes | None:
    """The bytes of payloads; None where there is none."""
    if payloads.null_count == len(payloads):
        return None
    return bytes(pa.RecordBatch.from_arrays([payloads], schema=_PAYLOADS).serialize())


def unpack_payloads(data: bytes | None, count: int) -> pa.Array:
    """The payloads of what `pack_payloads` wrote for so many rows.

    Raises:
        ValueError: these are other bytes.
    """
    if data is None:
        return pa.nulls(count, PAYLOAD)
    try:
        return pa.ipc.read_record_batch(pa.py_buffer(data), _PAYLOADS).column(0)
    except (pa.ArrowException, OSError, EOFError) as error:
        raise ValueError(f"no payloads: {error}") from error


def _packed(columns: Sequence[tuple[int, pa.Array]]) -> bytes:
    mask = sum(1 << place for place, _ in columns)
    arrays = [column for _, column in columns]
    return bytes(pa.RecordBatch.from_arrays(arrays, schema=_schema(mask)).serialize())


def _read(stream: pa.BufferReader, mask: int) -> Iterator[tuple[int, pa.Array]]:
    if mask:
        batch = pa.ipc.read_record_batch(pa.ipc.read_message(stream), _schema(mask))
        yield from zip(_places(mask), batch.columns, strict=True)


@lru_cache(1 << len(HEADERS))
def _schema(mask: int) -> pa.Schema:
    return pa.schema([HEADERS[place] for place in _places(mask)])


def _places(mask: int) -> list[int]:
    return [place for place in range(len(HEADERS)) if mask >> place & 1]
