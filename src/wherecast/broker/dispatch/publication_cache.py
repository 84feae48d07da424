"""Publications on their way out: those of a moment ago are at hand, others are read from the log.

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
from wherecast.columns.log_encoding import decode_batch
from wherecast.model import Publication, Schema
from wherecast.model.times import EPOCH
from wherecast.store.contracts import Log
from wherecast.store.records import Entry, Publications, Receipt

_ENTRIES_MAX = 1_024
_BYTES_MAX = 64 << 20
_PUT_BYTES_MAX = 1 << 20
_COLUMN_BYTES = 500  # beside its values
_COLUMNS_MAX = 100  # from which publications are given at once


@dataclass(frozen=True, slots=True, eq=False)
class _Opened:
    """Publications at successive offsets, a row each."""

    partition: int
    first: int
    stream: str
    accepted_at: int
    rows: pa.RecordBatch
    envelopes: pa.RecordBatch

    @property
    def end(self) -> int:
        return self.first + int(self.envelopes.num_rows)

    def size(self) -> int:
        """About what it takes, in bytes."""
        columns = int(self.rows.num_columns + self.envelopes.num_columns)
        return int(self.rows.nbytes + self.envelopes.nbytes) + _COLUMN_BYTES * columns

    def covers(self, offset: int) -> bool:
        return self.first <= offset < self.end


@dataclass(frozen=True, slots=True)
class Received:
    """A publication as its receivers get it."""

    stream: str
    offset: int
    publication: Publication


class PublicationCache:
    """Publications of a log by their places, the recent ones kept at hand.

    Args:
        log: where they are.
        schemas: gives the schemas of all streams.
        name: gives the id of a publication that was sent without one.
    """

    def __init__(
        self,
        log: Log,
        schemas: Callable[[], Mapping[str, Schema]],
        name: Callable[[int, int], str],
    ) -> None:
        self._log = log
        self._schemas = schemas
        self._name = name
        self._lock = Lock()
        self._kept: OrderedDict[tuple[int, int], _Opened] = OrderedDict()
        self._sizes: dict[tuple[int, int], int] = {}
        self._bytes = 0
        self._firsts: dict[int, list[int]] = {}

    def get(self, partition: int, offsets: Sequence[int]) -> list[Received | None]:
        """The publications at ascending offsets of a partition; None for one that is damaged."""
        return self._found(partition, offsets, self._opened)

    def at_hand(self, partition: int, offsets: Sequence[int]) -> list[Received] | None:
        """The same where nothing is to be read for it, else None."""
        found = self._found(partition, offsets, self._handy_at)
        good = [one for one in found if one is not None]
        return good if len(good) == len(offsets) else None

    def put(
        self, publications: Publications, batch: pa.RecordBatch, receipt: Receipt, at: int
    ) -> None:
        """Keeps publications that were appended just now.

        Args:
            publications: what was appended.
            batch: their attributes.
            receipt: what became of them.
            at: when they were appended.
        """
        rows = np.flatnonzero(receipt.offsets >= 0)
        if not len(rows) or len(publications.attributes) > _PUT_BYTES_MAX:
            return
        first, chosen = int(receipt.offsets[rows[0]]), array_of(rows)
        # As copies: what was handed in may lie in the body of a request, and hold all of it.
        batch, envelopes = batch.take(chosen), publications.envelopes.take(chosen)
        stream = publications.stream
        self._keep(_Opened(receipt.partition, first, stream, at, batch, envelopes))

    def _found(
        self,
        partition: int,
        offsets: Sequence[int],
        opened_at: Callable[[int, int], _Opened | None],
    ) -> list[Received | None]:
        found: list[Received | None] = []
        place = 0
        while place < len(offsets):
            opened = opened_at(partition, offsets[place])
            if opened is None or not opened.covers(offsets[place]):
                found.append(None)
                place += 1
            else:
                after = bisect_left(offsets, opened.end, place)
                found.extend(self._received(opened, offsets[place:after]))
                place = after
        return found

    def _opened(self, partition: int, offset: int) -> _Opened | None:
        """The publications among which is an offset; None where they cannot be read."""
        kept = self._kept_at(partition, offset)
        if kept is not None:
            return kept
        for entry in self._log.read(partition, offset, offset + 1, envelopes=True):
            schema = self._schemas().get(entry.stream)
            if entry.damage is None and schema is not None:
                return self._keep(_opened_of(entry, decode_batch(entry.attributes, schema)))
        return None

    def _kept_at(self, partition: int, offset: int) -> _Opened | None:
        with self._lock:
            firsts = self._firsts.get(partition, [])
            at = bisect_right(firsts, offset) - 1
            if at >= 0:
                key = partition, firsts[at]
                if self._kept[key].covers(offset):
                    self._kept.move_to_end(key)
                    return self._kept[key]
        return None

    def _handy_at(self, partition: int, offset: int) -> _Opened | None:
        """The same unless there are so many columns that it takes long."""
        kept = self._kept_at(partition, offset)
        return kept if kept is not None and kept.rows.num_columns <= _COLUMNS_MAX else None

    def _keep(self, opened: _Opened) -> _Opened:
        key = opened.partition, opened.first
        size = opened.size()
        with self._lock:
            if key not in self._kept:
                self._kept[key], self._sizes[key] = opened, size
                self._bytes += size
                insort(self._firsts.setdefault(key[0], []), key[1])
            while len(self._kept) > 1 and self._is_full:
                self._drop_oldest()
        return opened

    @property
    def _is_full(self) -> bool:
        return len(self._kept) > _ENTRIES_MAX or self._bytes > _BYTES_MAX

    def _drop_oldest(self) -> None:
        (partition, first), _ = self._kept.popitem(last=False)
        self._bytes -= self._sizes.pop((partition, first))
        firsts = self._firsts[partition]
        del firsts[bisect_left(firsts, first)]

    def _received(self, opened: _Opened, offsets: Sequence[int]) -> list[Received]:
        """Those at some offsets."""
        places = [offset - opened.first for offset in offsets]
        attributes = _attributes(opened.rows, places)
        envelopes = [
            [column[place].as_py() for place in places] for column in opened.envelopes.columns
        ]
        accepted_at = EPOCH + timedelta(microseconds=opened.accepted_at)
        return [
            Received(
                opened.stream,
                offset,
                Publication(
                    values,
                    id or self._name(opened.partition, offset),
                    payload,
                    published_at or accepted_at,
                ),
            )
            for offset, values, id, published_at, payload in zip(
                offsets, attributes, *envelopes, strict=True
            )
        ]


def _opened_of(entry: Entry, rows: pa.RecordBatch) -> _Opened:
    assert entry.envelopes is not None
    if entry.rows is not None:  # not all that were handed in were appended
        rows = rows.take(array_of(entry.rows))
    return _Opened(
        entry.partition, entry.first, entry.stream, entry.accepted_at, rows, entry.envelopes
    )


def _attributes(batch: pa.RecordBatch, rows: Sequence[int]) -> list[dict[str, Any]]:
    """The values of some rows by name; missing ones are left out."""
    found: list[dict[str, Any]] = [{} for _ in rows]
    for field, column in zip(batch.schema, batch.columns, strict=True):
        parts = column.flatten() if is_open_field(field) else [column]
        for part in parts:
            for values, row in zip(found, rows, strict=True):
                value = part[row].as_py()
                if value is not None:
                    values[field.name] = value
    return found
