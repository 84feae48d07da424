"""decode: the entries of a range of the log → rows with their offsets, and dead letters.

Withdrawals and ticks are passed over: only publications are matched.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.arrays.vectors import array_of
from wherecast.columns.log_encoding import decode_entry
from wherecast.columns.now_column import with_now
from wherecast.model import Schema
from wherecast.pipeline.live.batch_plan import Range
from wherecast.store.records import DeadLetter, Entry, RecordRun
from wherecast.store.sequences import joined_runs

Ints = npt.NDArray[np.int64]
_Part = tuple[Ints, int, pa.RecordBatch]  # offsets, when they were accepted, rows


@dataclass(frozen=True, slots=True, eq=False)
class StreamRows:
    """Publications of one stream.

    Attributes:
        stream: its name.
        offsets: of the publications; int64, shape (n,).
        batch: the publications, n valid rows, with the column of `now()`: when each was accepted.
    """

    stream: str
    offsets: Ints
    batch: pa.RecordBatch


@dataclass(frozen=True, slots=True, eq=False)
class DecodedRange:
    """The publications of a range, as every share sees them.

    Attributes:
        range: which publications.
        runs: the records of the range.
        rows: the publications that can be matched, by stream.
        dead_letters: the others, with the reason.
    """

    range: Range
    runs: tuple[RecordRun, ...]
    rows: tuple[StreamRows, ...]
    dead_letters: tuple[DeadLetter, ...]

    @property
    def count(self) -> int:
        """Number of publications that can be matched."""
        return sum(len(rows.offsets) for rows in self.rows)


def decode_range(
    range_: Range,
    entries: Iterable[Entry],
    schemas: Mapping[str, Schema],
    at: int,
    poison: frozenset[int] = frozenset(),
) -> DecodedRange:
    """The rows of a range by stream.

    Args:
        range_: which publications.
        entries: all that overlap the range, in order.
        schemas: of the streams, by name.
        at: the time now, for dead letters.
        poison: the offsets of publications that are left out, since they end the process.
    """
    parts: dict[str, list[_Part]] = {}
    dead: list[DeadLetter] = []
    runs: list[RecordRun] = []
    for entry in entries:
        first, end = max(entry.first, range_.first), min(entry.first + entry.count, range_.end)
        if first >= end:
            continue
        runs.append(RecordRun(first, end - first))
        if entry.kind != "publication":
            continue
        offsets = np.arange(first, end)
        reason = entry.damage
        if reason is None:
            try:
                batch = _batch(entry, schemas).slice(first - entry.first, end - first)
            except ValueError as error:
                reason = str(error)
        if reason is not None:
            dead.extend(_letters(entry, offsets.tolist(), reason, at))
            continue
        bad = sorted(poison.intersection(offsets.tolist())) if poison else []
        if bad:
            dead.extend(_letters(entry, bad, "matching it ends the process", at))
            good = ~np.isin(offsets, bad)
            offsets, batch = offsets[good], batch.filter(array_of(good))
        parts.setdefault(entry.stream, []).append((offsets, entry.accepted_at, batch))
    rows = [joined for stream, own in parts.items() for joined in _joined(stream, own)]
    return DecodedRange(range_, joined_runs(runs), tuple(rows), tuple(dead))


def _batch(entry: Entry, schemas: Mapping[str, Schema]) -> pa.RecordBatch:
    """The appended rows of an entry; raises `ValueError`."""
    schema = schemas.get(entry.stream)
    if schema is None:
        raise ValueError(f"stream {entry.stream} is not defined")
    batch = decode_entry(entry.attributes, entry.encoding, schema)
    batch = batch if entry.rows is None else batch.take(array_of(entry.rows))
    if batch.num_rows != entry.count:
        raise ValueError(f"the entry has {batch.num_rows} rows instead of {entry.count}")
    return batch


def _letters(entry: Entry, offsets: list[int], reason: str, at: int) -> list[DeadLetter]:
    return [DeadLetter(entry.stream, entry.partition, offset, reason, at) for offset in offsets]


def _joined(stream: str, parts: list[_Part]) -> list[StreamRows]:
    """The rows of a stream, as one batch where all have the same columns."""
    first = parts[0][2].schema
    if len(parts) > 1 and all(batch.schema.equals(first) for _, _, batch in parts[1:]):
        offsets = np.concatenate([offsets for offsets, _, _ in parts])
        counts = [len(offsets) for offsets, _, _ in parts]
        times = np.repeat(np.array([at for _, at, _ in parts], np.int64), counts)
        batch = pa.concat_batches([batch for _, _, batch in parts])
        return [StreamRows(stream, offsets, with_now(batch, times))]
    return [StreamRows(stream, offsets, with_now(batch, at)) for offsets, at, batch in parts]
