"""Batches of changes: made of rows, checked, and cut into runs of one kind."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.arrays.vectors import array_of, values_of
from wherecast.model import StreamSpec, SubscriptionSpec
from wherecast.store.records import CHANGES, NO_CHANGES, ChangeEntry

Row = tuple[str, str, str, str, str, str]
"""A change: its kind, stream, subscriber, id, text and options."""


def stream_row(name: str, spec: StreamSpec) -> Row:
    """The change that defines a stream."""
    return ("stream", name, "", "", spec.schema.to_json(), spec.options_json())


def subscriber_row(name: str) -> Row:
    """The change that registers a subscriber."""
    return ("subscriber", "", name, "", "", "")


def forget_row(name: str) -> Row:
    """The change that ends a subscriber."""
    return ("forget", "", name, "", "", "")


def subscribe_row(subscriber: str, id: str, spec: SubscriptionSpec) -> Row:
    """The change that adds a subscription."""
    return ("subscribe", spec.stream, subscriber, id, spec.filter, spec.options_json())


def unsubscribe_row(subscriber: str, id: str, stream: str) -> Row:
    """The change that ends a subscription."""
    return ("unsubscribe", stream, subscriber, id, "", "")


def check_changes(changes: pa.RecordBatch) -> None:
    """Asserts that a batch is one of `CHANGES`.

    Raises:
        SchemaError: the schema of a stream cannot be read.
        ConfigError: the options of a stream or a subscription cannot be read.
    """
    assert changes.num_rows, "no changes"
    assert changes.schema.equals(CHANGES), changes.schema
    assert not any(column.null_count for column in changes.columns), "nulls in changes"
    assert not changes.column("kind").dictionary.null_count, "a kind is null"
    for kind, run in runs_of(changes):
        if kind == "stream":
            for text, options in _texts(run):
                StreamSpec.read(text, options)
        elif kind == "subscribe" and has_options(run):
            for text, options in _texts(run):
                SubscriptionSpec.read("", text, options)


def has_options(changes: pa.RecordBatch) -> bool:
    """Whether some change of a batch has options."""
    column = changes.column("options")
    if not len(column):
        return False
    offsets = np.frombuffer(column.buffers()[1], np.int32)  # no copy, and no string is made
    return bool(offsets[column.offset] != offsets[column.offset + len(column)])


def batch_of(rows: Sequence[Row]) -> pa.RecordBatch:
    """The batch of `CHANGES` of some rows."""
    if not rows:
        return NO_CHANGES
    kinds, *texts = zip(*rows, strict=True)
    codes = {kind: code for code, kind in enumerate(dict.fromkeys(kinds))}
    # Not from a tuple: for that pyarrow imports pandas, where it is installed.
    names = pa.array(list(codes), pa.string())
    column = array_of(np.array([codes[kind] for kind in kinds], np.int16))
    named = pa.DictionaryArray.from_arrays(column, names)
    columns = [pa.array(list(column), pa.string()) for column in texts]
    return pa.RecordBatch.from_arrays([named, *columns], schema=CHANGES)


def timed(changes: pa.RecordBatch, at: int | npt.NDArray[np.int64]) -> pa.RecordBatch:
    """A batch of `CHANGES` with a column `at` more: when each was accepted."""
    times = np.full(changes.num_rows, at, np.int64) if isinstance(at, int) else at
    return changes.append_column("at", array_of(times))


def timed_of(entry: ChangeEntry) -> pa.RecordBatch:
    """The changes of an entry with a column `at` more: when each was accepted."""
    return timed(entry.changes, entry.at if entry.times is None else entry.times)


def runs_of(changes: pa.RecordBatch) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Successive changes of one kind, each run with its kind."""
    kinds = changes.column("kind")
    if changes.num_rows <= 1:  # as most are
        yield from [(kind, changes) for kind in kinds.to_pylist()]
        return
    names, codes = kinds.dictionary.to_pylist(), values_of(kinds.indices)
    starts = np.flatnonzero(np.append(True, codes[1:] != codes[:-1]))
    ends = np.append(starts[1:], len(codes))
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        yield names[codes[start]], changes.slice(start, end - start)


def _texts(run: pa.RecordBatch) -> Iterator[tuple[str, str]]:
    """The text and the options of each change."""
    return zip(run.column("text").to_pylist(), run.column("options").to_pylist(), strict=True)
