"""The stage of the live pipeline: entries of a range of offsets to its segment."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.arrays.vectors import array_of
from wherecast.columns.log_encoding import decode_batch
from wherecast.model import StoreError
from wherecast.pipeline.live.grouping import notifications
from wherecast.pipeline.live.in_force import InForce
from wherecast.pipeline.live.pipeline_figures import PipelineFigures
from wherecast.store.records import DeadLetter, Entry, Segment

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Range:
    """Successive publications of a partition.

    Attributes:
        partition: where they are.
        first: the offset of the first.
        end: the offset after the last.
    """

    partition: int
    first: int
    end: int


@dataclass(frozen=True, slots=True, eq=False)
class Matched:
    """What the stage makes of a range.

    Attributes:
        segment: the notifications; it covers the whole range, whatever was left out.
        dead_letters: what was left out, and why.
        figures: what it cost.
    """

    segment: Segment
    dead_letters: tuple[DeadLetter, ...]
    figures: PipelineFigures


def match_range(
    range_: Range,
    entries: Iterable[Entry],
    subscriptions: InForce,
    at: int,
    poison: Collection[int] = (),
) -> Matched:
    """The notifications of a range of publications.

    Args:
        range_: which publications.
        entries: all that overlap the range, in order.
        subscriptions: with all changes that act on the range.
        at: the time now, for dead letters.
        poison: the offsets of publications that are left out, since they end the process.

    Raises:
        StoreError: the entries do not cover the range.
    """
    figures, before = PipelineFigures(), subscriptions.candidates
    with figures.timed("decode"):
        rows, dead = _rows(range_, entries, subscriptions, at, frozenset(poison))
    with figures.timed("match"):
        where, numbers = _matches(range_.partition, rows, subscriptions)
    with figures.timed("group"):
        grouped = notifications(where, numbers, subscriptions)
    segment = Segment(range_.partition, range_.first, range_.end, grouped)
    figures.publications = sum(len(offsets) for parts in rows.values() for offsets, _ in parts)
    figures.matches = len(where)
    figures.candidates = subscriptions.candidates - before
    figures.filters, figures.index_bytes = len(subscriptions), subscriptions.index_bytes
    return Matched(segment, tuple(dead), figures)


Rows = dict[str, list[tuple[Ints, pa.RecordBatch]]]


def _matches(partition: int, rows: Rows, subscriptions: InForce) -> tuple[Ints, Ints]:
    """The offset of a publication and the number of a version, for each match."""
    found: list[tuple[Ints, Ints]] = [(np.zeros(0, np.int64), np.zeros(0, np.int64))]
    for stream, parts in rows.items():
        offsets = np.concatenate([offsets for offsets, _ in parts])
        for part_offsets, batch in _joined(offsets, [batch for _, batch in parts]):
            found.append(subscriptions.match(stream, partition, part_offsets, batch))
    where, numbers = zip(*found, strict=True)
    return np.concatenate(where), np.concatenate(numbers)


def _rows(
    range_: Range,
    entries: Iterable[Entry],
    subscriptions: InForce,
    at: int,
    poison: frozenset[int],
) -> tuple[Rows, list[DeadLetter]]:
    """The rows of a range by stream, with their offsets; and those that cannot be matched."""
    rows: Rows = {}
    dead: list[DeadLetter] = []
    covered = range_.first
    for entry in entries:
        first, end = max(entry.first, range_.first), min(entry.first + entry.count, range_.end)
        if first >= end:
            continue
        if first != covered:
            break
        covered = end
        offsets = np.arange(first, end)
        reason = entry.damage
        if reason is None:
            try:
                batch = _batch(entry, subscriptions).slice(first - entry.first, end - first)
            except ValueError as error:
                reason = str(error)
        if reason is not None:
            dead.extend(_letters(entry, offsets.tolist(), reason, at))
            continue
        bad = sorted(poison.intersection(offsets.tolist())) if poison else []
        if bad:
            dead.extend(_letters(entry, bad, "matching it ends the process", at))
            kept = ~np.isin(offsets, bad)
            offsets, batch = offsets[kept], batch.filter(array_of(kept))
        rows.setdefault(entry.stream, []).append((offsets, batch))
    if covered < range_.end:
        raise StoreError(
            f"publication {covered} of partition {range_.partition} is missing in the log"
        )
    return rows, dead


def _batch(entry: Entry, subscriptions: InForce) -> pa.RecordBatch:
    """The appended rows of an entry; raises `ValueError`."""
    stream = subscriptions.streams.get(entry.stream)
    if stream is None:
        raise ValueError(f"stream {entry.stream} is not defined")
    batch = decode_batch(entry.attributes, stream.schema)
    batch = batch if entry.rows is None else batch.take(array_of(entry.rows))
    if batch.num_rows != entry.count:
        raise ValueError(f"the entry has {batch.num_rows} rows instead of {entry.count}")
    return batch


def _letters(entry: Entry, offsets: list[int], reason: str, at: int) -> list[DeadLetter]:
    return [DeadLetter(entry.stream, entry.partition, offset, reason, at) for offset in offsets]


def _joined(offsets: Ints, batches: list[pa.RecordBatch]) -> list[tuple[Ints, pa.RecordBatch]]:
    """Batches of one schema as one; those of an open schema may differ, and stay as they are."""
    if all(batch.schema.equals(batches[0].schema) for batch in batches[1:]):
        joined = batches[0] if len(batches) == 1 else pa.concat_batches(batches)
        return [(offsets, joined)]
    ends = np.cumsum([batch.num_rows for batch in batches])
    return list(zip(np.split(offsets, ends[:-1]), batches, strict=True))
