"""Publications on their way out: recent ones from memory, others from the log.

Concurrency: any number of threads; what two threads need at once may be read twice.
"""

from bisect import bisect_left, bisect_right, insort
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from threading import Lock
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from wherecast.arrays.vectors import array_of
from wherecast.broker.door.door_group import AppendedRow
from wherecast.columns.arrow_schema import is_open_field
from wherecast.columns.log_encoding import decode_entry
from wherecast.model import Publication, Schema
from wherecast.model.times import EPOCH
from wherecast.store.contracts import Log
from wherecast.store.records import Entry, Publications, Receipt

_COLUMN_BYTES = 500  # size of a column beside its values
_ROW_BYTES = 700  # size of a publication that came alone, beside its values
_ROWS_MAX = 256  # of a block of such publications
IdOf = Callable[[int, int], str]
"""Gives the id of a publication that was sent without one."""


@dataclass(frozen=True, slots=True)
class PublicationCacheLimits:
    """What a `PublicationCache` holds in memory.

    Attributes:
        blocks_max: number of blocks.
        bytes_max: size of all blocks together, about.
        put_bytes_max: size of publications that `put` takes.
        columns_max: number of columns of a block from which `cached` gives publications.
    """

    blocks_max: int = 1_024
    bytes_max: int = 64 << 20
    put_bytes_max: int = 1 << 20
    columns_max: int = 100


_LIMITS = PublicationCacheLimits()


@dataclass(frozen=True, slots=True)
class LoggedPublication:
    """A publication of the log, as its receivers get it."""

    stream: str
    offset: int
    publication: Publication


class _RowBlock:
    """Publications at successive offsets of the first partition that came one by one.

    Attributes:
        partition: of the publications.
        first: offset of the first one.
        rows: the publications; more may follow.
    """

    __slots__ = ("_bytes", "first", "partition", "rows")

    def __init__(self, rows: Sequence[AppendedRow]) -> None:
        self.partition = 0
        self.first = rows[0].offset
        self.rows: list[AppendedRow] = []
        self._bytes = 0
        self.extend(rows)

    @property
    def end(self) -> int:
        return self.first + len(self.rows)

    def extend(self, rows: Sequence[AppendedRow]) -> None:
        """Adds the publications at the next offsets."""
        self.rows += rows
        for one in rows:
            payload = one.publication.payload
            self._bytes += _ROW_BYTES + 4 * len(one.publication.text) + len(payload or b"")

    def size(self) -> int:
        """About what it takes, in bytes."""
        return self._bytes

    def covers(self, offset: int) -> bool:
        return self.first <= offset < self.end

    def is_narrow(self, columns_max: int) -> bool:
        """Whether reading a row takes little time."""
        return True

    def publications(self, offsets: Sequence[int], id_of: IdOf) -> list[LoggedPublication]:
        """The publications at some offsets."""
        return [_logged(self.rows[offset - self.first], id_of) for offset in offsets]


def _logged(row: AppendedRow, id_of: IdOf) -> LoggedPublication:
    given = row.publication
    moment_us = row.accepted_at if given.published_us is None else given.published_us
    return LoggedPublication(
        given.stream,
        row.offset,
        Publication(
            dict(given.row),  # whoever receives it may change it
            given.id or id_of(0, row.offset),
            given.payload,
            EPOCH + timedelta(microseconds=moment_us),
            publisher=given.publisher or None,
        ),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """Publications at successive offsets, a row of columns each.

    Attributes:
        partition: of the publications.
        first: offset of the first one.
        stream: name of the stream.
        accepted_at: when they were appended.
        rows: their attributes.
        headers: a batch of `HEADERS`.
        payloads: binary, with nulls.
    """

    partition: int
    first: int
    stream: str
    accepted_at: int
    rows: pa.RecordBatch
    headers: pa.RecordBatch
    payloads: pa.Array

    @property
    def end(self) -> int:
        return self.first + int(self.headers.num_rows)

    def size(self) -> int:
        """About what it takes, in bytes."""
        columns = int(self.rows.num_columns + self.headers.num_columns + 1)
        parts = self.rows, self.headers, self.payloads
        values = sum(int(part.get_total_buffer_size()) for part in parts)
        return values + _COLUMN_BYTES * columns

    def covers(self, offset: int) -> bool:
        return self.first <= offset < self.end

    def is_narrow(self, columns_max: int) -> bool:
        """Whether reading a row takes little time."""
        return int(self.rows.num_columns) <= columns_max

    def publications(self, offsets: Sequence[int], id_of: IdOf) -> list[LoggedPublication]:
        """The publications at some offsets."""
        rows = [offset - self.first for offset in offsets]
        attributes = _attributes(self.rows, rows)
        ids, moments, publishers, payloads = (
            _values(column, rows)
            for column in (
                *(self.headers.column(name) for name in ("id", "published_at", "publisher")),
                self.payloads,
            )
        )
        accepted_at = EPOCH + timedelta(microseconds=self.accepted_at)
        return [
            LoggedPublication(
                self.stream,
                offset,
                Publication(
                    values,
                    id or id_of(self.partition, offset),
                    payload,
                    published_at or accepted_at,
                    publisher=publisher,
                ),
            )
            for offset, values, id, published_at, publisher, payload in zip(
                offsets, attributes, ids, moments, publishers, payloads, strict=True
            )
        ]


Block = TypeVar("Block", _Block, _RowBlock)


class PublicationCache:
    """Publications of a log by partition and offset; recent ones stay in memory.

    Args:
        log: has all publications.
        schemas: gives the schemas of all streams.
        id_of: gives the id of a publication that was sent without one.
        limits: bounds what stays in memory.
    """

    def __init__(
        self,
        log: Log,
        schemas: Callable[[], Mapping[str, Schema]],
        id_of: IdOf,
        limits: PublicationCacheLimits = _LIMITS,
    ) -> None:
        self._log = log
        self._limits = limits
        self._schemas = schemas
        self._id_of = id_of
        self._lock = Lock()
        # Least used first.
        self._blocks: OrderedDict[tuple[int, int], _Block | _RowBlock] = OrderedDict()
        self._last_rows: _RowBlock | None = None
        self._sizes: dict[tuple[int, int], int] = {}
        self._bytes = 0
        self._firsts: dict[int, list[int]] = {}  # first offsets of blocks, by partition

    def get(self, partition: int, offsets: Sequence[int]) -> list[LoggedPublication | None]:
        """The publications at ascending offsets of a partition.

        None stands for one that is damaged, and for a record that is no publication.
        """
        return self._collect(partition, offsets, self._block)

    def cached(self, partition: int, offsets: Sequence[int]) -> list[LoggedPublication] | None:
        """The publications at ascending offsets where all are in memory, else None."""
        found = self._collect(partition, offsets, self._narrow_block)
        good = [one for one in found if one is not None]
        return good if len(good) == len(offsets) else None

    def put(self, publications: Publications, batch: pa.RecordBatch, receipt: Receipt) -> None:
        """Keeps publications that were appended just now.

        Args:
            publications: what was appended.
            batch: their attributes.
            receipt: what became of them.
        """
        rows = np.flatnonzero(receipt.offsets >= 0)
        if not len(rows) or len(publications.attributes) > self._limits.put_bytes_max:
            return
        partition, first = int(receipt.partitions[rows[0]]), int(receipt.offsets[rows[0]])
        if receipt.offsets[rows[-1]] - first + 1 != len(rows):
            return  # not at successive offsets
        chosen = array_of(rows)
        # As copies: what was handed in may lie in the body of a request, and hold all of it.
        batch, headers = batch.take(chosen), publications.headers.take(chosen)
        payloads, stream = publications.payloads.take(chosen), publications.stream
        self._keep(_Block(partition, first, stream, receipt.at, batch, headers, payloads))

    def put_rows(self, rows: Sequence[AppendedRow]) -> None:
        """Keeps publications that came one by one and were appended just now, in order."""
        start = 0
        for place in range(1, len(rows) + 1):
            if place == len(rows) or rows[place].offset != rows[place - 1].offset + 1:
                self._put_run(rows[start:place])
                start = place

    def _put_run(self, rows: Sequence[AppendedRow]) -> None:
        """Keeps publications at successive offsets."""
        last = self._last_rows
        with self._lock:
            if last is not None and last.end == rows[0].offset and len(last.rows) < _ROWS_MAX:
                key = 0, last.first
                if key in self._blocks:
                    last.extend(rows)
                    self._bytes += last.size() - self._sizes[key]
                    self._sizes[key] = last.size()
                    self._blocks.move_to_end(key)
                    while len(self._blocks) > 1 and self._is_full:
                        self._drop_oldest()
                    return
        self._last_rows = self._keep(_RowBlock(rows))

    def _collect(
        self,
        partition: int,
        offsets: Sequence[int],
        block_at: Callable[[int, int], _Block | _RowBlock | None],
    ) -> list[LoggedPublication | None]:
        found: list[LoggedPublication | None] = []
        number = 0
        while number < len(offsets):
            block = block_at(partition, offsets[number])
            if block is None or not block.covers(offsets[number]):
                found.append(None)
                number += 1
            else:
                after = bisect_left(offsets, block.end, number)
                found.extend(block.publications(offsets[number:after], self._id_of))
                number = after
        return found

    def _block(self, partition: int, offset: int) -> _Block | _RowBlock | None:
        """The block that covers an offset; None where it cannot be read."""
        cached = self._cached_block(partition, offset)
        if cached is not None:
            return cached
        for entry in self._log.read(partition, offset, offset + 1, headers=True, payloads=True):
            schema = self._schemas().get(entry.stream)
            is_readable = entry.damage is None and entry.kind == "publication"
            if is_readable and schema is not None:
                rows = decode_entry(entry.attributes, entry.encoding, schema)
                return self._keep(_block_of(entry, rows))
        return None

    def _cached_block(self, partition: int, offset: int) -> _Block | _RowBlock | None:
        with self._lock:
            firsts = self._firsts.get(partition, [])
            at = bisect_right(firsts, offset) - 1
            if at >= 0:
                key = partition, firsts[at]
                if self._blocks[key].covers(offset):
                    self._blocks.move_to_end(key)
                    return self._blocks[key]
        return None

    def _narrow_block(self, partition: int, offset: int) -> _Block | _RowBlock | None:
        """The block in memory unless it has so many columns that reading a row takes long."""
        block = self._cached_block(partition, offset)
        return block if block is not None and block.is_narrow(self._limits.columns_max) else None

    def _keep(self, block: Block) -> Block:
        key = block.partition, block.first
        size = block.size()
        with self._lock:
            if key not in self._blocks:
                self._blocks[key], self._sizes[key] = block, size
                self._bytes += size
                insort(self._firsts.setdefault(key[0], []), key[1])
            while len(self._blocks) > 1 and self._is_full:
                self._drop_oldest()
        return block

    @property
    def _is_full(self) -> bool:
        limits = self._limits
        return len(self._blocks) > limits.blocks_max or self._bytes > limits.bytes_max

    def _drop_oldest(self) -> None:
        (partition, first), _ = self._blocks.popitem(last=False)
        self._bytes -= self._sizes.pop((partition, first))
        firsts = self._firsts[partition]
        del firsts[bisect_left(firsts, first)]


def _block_of(entry: Entry, rows: pa.RecordBatch) -> _Block:
    assert entry.headers is not None
    assert entry.payloads is not None
    if entry.rows is not None:  # not all that were handed in were appended
        rows = rows.take(array_of(entry.rows))
    return _Block(
        entry.partition,
        entry.first,
        entry.stream,
        entry.accepted_at,
        rows,
        entry.headers,
        entry.payloads,
    )


def _values(column: pa.Array, rows: Sequence[int]) -> list[Any]:
    """The values of some rows; a column of nulls, as most headers are, is not read."""
    if column.null_count == len(column):
        return [None] * len(rows)
    return [column[row].as_py() for row in rows]


def _attributes(batch: pa.RecordBatch, rows: Sequence[int]) -> list[dict[str, Any]]:
    """The values of some rows by name; missing ones are left out."""
    found: list[dict[str, Any]] = [{} for _ in rows]
    for field, column in zip(batch.schema, batch.columns, strict=True):
        parts = column.flatten() if is_open_field(field) else [column]
        for part in parts:
            for values, value in zip(found, _values(part, rows), strict=True):
                if value is not None:
                    values[field.name] = value
    return found
