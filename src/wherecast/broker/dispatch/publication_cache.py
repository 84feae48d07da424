"""Publications on their way out: recent ones from memory, others from the log.

Concurrency: any number of threads; what two threads need at once may be read twice.
"""

from bisect import bisect_left, bisect_right, insort
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from threading import Lock
from typing import Any

import numpy as np
import pyarrow as pa

from wherecast.arrays.vectors import array_of
from wherecast.columns.arrow_schema import is_open_field
from wherecast.columns.log_encoding import decode_entry
from wherecast.model import Publication, Schema
from wherecast.model.times import EPOCH
from wherecast.store.contracts import Log
from wherecast.store.records import Entry, Publications, Receipt

_COLUMN_BYTES = 500  # size of a column beside its values


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


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """Publications at successive offsets, a row each.

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


@dataclass(frozen=True, slots=True)
class LoggedPublication:
    """A publication of the log, as its receivers get it."""

    stream: str
    offset: int
    publication: Publication


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
        id_of: Callable[[int, int], str],
        limits: PublicationCacheLimits = _LIMITS,
    ) -> None:
        self._log = log
        self._limits = limits
        self._schemas = schemas
        self._id_of = id_of
        self._lock = Lock()
        self._blocks: OrderedDict[tuple[int, int], _Block] = OrderedDict()  # least used first
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

    def _collect(
        self,
        partition: int,
        offsets: Sequence[int],
        block_at: Callable[[int, int], _Block | None],
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
                found.extend(self._publications(block, offsets[number:after]))
                number = after
        return found

    def _block(self, partition: int, offset: int) -> _Block | None:
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

    def _cached_block(self, partition: int, offset: int) -> _Block | None:
        with self._lock:
            firsts = self._firsts.get(partition, [])
            at = bisect_right(firsts, offset) - 1
            if at >= 0:
                key = partition, firsts[at]
                if self._blocks[key].covers(offset):
                    self._blocks.move_to_end(key)
                    return self._blocks[key]
        return None

    def _narrow_block(self, partition: int, offset: int) -> _Block | None:
        """The block in memory unless it has so many columns that reading a row takes long."""
        block = self._cached_block(partition, offset)
        if block is None or block.rows.num_columns > self._limits.columns_max:
            return None
        return block

    def _keep(self, block: _Block) -> _Block:
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

    def _publications(self, block: _Block, offsets: Sequence[int]) -> list[LoggedPublication]:
        """The publications of a block at some offsets."""
        rows = [offset - block.first for offset in offsets]
        attributes = _attributes(block.rows, rows)
        ids, moments, publishers, payloads = (
            _values(column, rows)
            for column in (
                *(block.headers.column(name) for name in ("id", "published_at", "publisher")),
                block.payloads,
            )
        )
        accepted_at = EPOCH + timedelta(microseconds=block.accepted_at)
        return [
            LoggedPublication(
                block.stream,
                offset,
                Publication(
                    values,
                    id or self._id_of(block.partition, offset),
                    payload,
                    published_at or accepted_at,
                    publisher=publisher,
                ),
            )
            for offset, values, id, published_at, publisher, payload in zip(
                offsets, attributes, ids, moments, publishers, payloads, strict=True
            )
        ]


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
