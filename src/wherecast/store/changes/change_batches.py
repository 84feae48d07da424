"""Batches of changes: checked, cut into runs of one kind, and as bytes for a log."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.arrays.vectors import array_of, texts_of, values_of
from wherecast.model import Schema
from wherecast.store.records import CHANGE_KINDS, CHANGES, NO_CHANGES, ChangeEntry, ChangeKind

Row = tuple[ChangeKind, str, str, str, str]
"""A change: its kind, stream, subscriber, id and text."""

_STORED = pa.schema([("kind", pa.int8()), *list(CHANGES)[1:]])  # a dictionary is not serialized
# Not from a tuple: for that pyarrow imports pandas, where it is installed.
_KINDS = texts_of(CHANGE_KINDS).cast(pa.string())
_CODES = {kind: code for code, kind in enumerate(CHANGE_KINDS)}  # stored: new kinds come last


def check_changes(changes: pa.RecordBatch) -> None:
    """Asserts that a batch is one of `CHANGES`.

    Raises:
        SchemaError: the schema of a stream cannot be read.
    """
    assert changes.num_rows, "no changes"
    assert changes.schema.equals(CHANGES), changes.schema
    assert not any(column.null_count for column in changes.columns), "nulls in changes"
    for kind, run in runs_of(changes):
        if kind == "stream":
            for text in run.column("text").to_pylist():
                Schema.from_json(text)


def batch_of(rows: Sequence[Row]) -> pa.RecordBatch:
    """The batch of `CHANGES` of some rows."""
    if not rows:
        return NO_CHANGES
    kinds, *texts = zip(*rows, strict=True)
    codes = array_of(np.array([_CODES[kind] for kind in kinds], np.int8))
    columns = [pa.array(column, pa.string()) for column in texts]
    named = pa.DictionaryArray.from_arrays(codes, _KINDS)
    return pa.RecordBatch.from_arrays([named, *columns], schema=CHANGES)


def timed(changes: pa.RecordBatch, at: int | npt.NDArray[np.int64]) -> pa.RecordBatch:
    """A batch of `CHANGES` with a column `at` more: when each was accepted."""
    times = np.full(changes.num_rows, at, np.int64) if isinstance(at, int) else at
    return changes.append_column("at", array_of(times))


def timed_of(entry: ChangeEntry) -> pa.RecordBatch:
    """The changes of an entry with a column `at` more: when each was accepted."""
    return timed(entry.changes, entry.at if entry.times is None else entry.times)


def runs_of(changes: pa.RecordBatch) -> Iterator[tuple[ChangeKind, pa.RecordBatch]]:
    """Successive changes of one kind, each run with its kind."""
    if changes.num_rows <= 1:  # as most are
        yield from [(kind, changes) for kind in changes.column("kind").to_pylist()]
        return
    codes = _codes(changes)
    starts = np.flatnonzero(np.append(True, codes[1:] != codes[:-1]))
    ends = np.append(starts[1:], len(codes))
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        yield CHANGE_KINDS[codes[start]], changes.slice(start, end - start)


def pack_changes(changes: pa.RecordBatch) -> bytes:
    """The bytes of a batch of `CHANGES`."""
    columns = [array_of(_codes(changes)), *changes.columns[1:]]
    return bytes(pa.RecordBatch.from_arrays(columns, schema=_STORED).serialize())


def unpack_changes(data: bytes) -> pa.RecordBatch:
    """The batch of what `pack_changes` wrote.

    Raises:
        ValueError: these are other bytes.
    """
    try:
        stored = pa.ipc.read_record_batch(pa.py_buffer(data), _STORED)
    except (pa.ArrowException, OSError, EOFError) as error:
        raise ValueError(f"no changes: {error}") from error
    kinds = pa.DictionaryArray.from_arrays(stored.column("kind"), _KINDS)
    return pa.RecordBatch.from_arrays([kinds, *stored.columns[1:]], schema=CHANGES)


def _codes(changes: pa.RecordBatch) -> npt.NDArray[np.int8]:
    """The place of each kind in `CHANGE_KINDS`."""
    kinds = changes.column("kind")
    known = np.array([_CODES[kind] for kind in kinds.dictionary.to_pylist()], np.int8)
    codes: npt.NDArray[np.int8] = known[values_of(kinds.indices)]
    return codes
