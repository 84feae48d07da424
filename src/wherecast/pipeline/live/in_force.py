"""Subscriptions in force: the filters of each stream, and on which publications they act.

Every change of a subscription makes a new *version* of it, which is a filter of its own with a span
of positions. Publications are matched against all versions at once, and a match counts where the
publication lies in the span: so a subscription acts from exactly the offset at which it was
accepted, however the publications are cut into batches, and a later state gives the same matches
for earlier publications.

Concurrency: one thread at a time.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.arrays.vectors import array_of, values_of
from wherecast.matching.columnar.index import ColumnarIndex
from wherecast.matching.ids import Ids
from wherecast.model import FilterError, Schema, StoreError
from wherecast.pipeline.live.active_spans import Spans
from wherecast.store.position import Position
from wherecast.store.records import ChangeEntry

Ints = npt.NDArray[np.int64]
_ONE_BY_ONE_MAX = 16  # filters; more are read as a column


@dataclass(frozen=True, slots=True, eq=False)
class StreamFilters:
    """A stream with the filters on it.

    Attributes:
        schema: of its publications.
        index: the numbers of versions are the ids.
    """

    schema: Schema
    index: ColumnarIndex


class InForce:
    """The subscriptions as the changes up to a version made them.

    Attributes:
        version: the changes before this one are known.
        floor: publications before it cannot be matched any more.
        streams: by name.
        subscribers: of each version of a subscription, by number.
        ids: of each version of a subscription its id, by number.
        unreadable: filters that were accepted once but cannot be read now.
        passed_over: what is wrong with changes that could not be read, by version.
        index_bytes: what the indexes took when `measure` was called last.
    """

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self.version = 0
        self.floor = Position()
        self.streams: dict[str, StreamFilters] = {}
        self.subscribers: list[str] = []
        self.ids: list[str] = []
        self.unreadable = 0
        self.passed_over: dict[int, str] = {}
        self.index_bytes = 0
        self._spans = Spans()
        self._standing: dict[str, dict[str, int]] = {}  # subscriber → id → number
        self._streams: list[str] = []  # of each version of a subscription
        self._collected = np.zeros(0, np.int64)

    def advance(self, entries: Iterable[ChangeEntry], version: int) -> None:
        """Takes in the changes up to a version; damaged ones are passed over.

        Where changes that it does not know were compacted, it begins anew with what they made.

        Raises:
            StoreError: changes are missing.
        """
        for entry in entries:
            if entry.version == 0 and self.version < (entry.compacted_to or 0):
                self._begin()
            if entry.end <= self.version:
                continue
            if entry.damage is not None and entry.version <= self.version:
                self.passed_over[entry.version] = entry.damage
            elif entry.version == self.version:
                self._take(entry)
            else:
                raise StoreError(
                    f"changes {self.version} to {entry.version - 1} are missing in the log"
                )
            self.version = entry.end
        if self.version < version:
            raise StoreError(f"changes {self.version} to {version - 1} are missing in the log")

    def match(
        self, stream: str, partition: int, offsets: Ints, batch: pa.RecordBatch
    ) -> tuple[Ints, Ints]:
        """The versions that act on publications and are true on them.

        Args:
            stream: whose publications they are; it is known.
            partition: where they are.
            offsets: where they are there; int64, shape (n,).
            batch: valid rows, n of them.

        Returns:
            Two arrays of one length: the offset of a publication, and the number of a version.
        """
        matches = self.streams[stream].index.match(batch)
        if not len(matches.indices):
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        numbers = values_of(_array(matches.ids).take(array_of(matches.indices)))
        where = np.repeat(offsets, matches.counts)
        acting = self._spans.acting(partition, where, numbers)
        return where[acting], numbers[acting]

    def collect(self, position: Position) -> None:
        """Drops what acts on nothing at a position and beyond."""
        over = np.setdiff1d(self._spans.over(position), self._collected)
        if len(over):
            by_stream: dict[str, list[int]] = {}
            for number in over.tolist():
                by_stream.setdefault(self._streams[number], []).append(number)
                self.subscribers[number] = self.ids[number] = ""
            for stream, numbers in by_stream.items():
                if stream in self.streams:
                    index = self.streams[stream].index
                    index.remove_all([number for number in numbers if number in index])
            self._collected = np.union1d(self._collected, over)
        self.floor = position

    def state(self) -> pa.Table:
        """The versions that are held, by number: what they are called, and where they act."""
        held = np.setdiff1d(np.arange(len(self.ids)), self._collected)
        numbers = held.tolist()
        columns = {
            "number": array_of(held),
            "stream": pa.array([self._streams[number] for number in numbers], pa.string()),
            "subscriber": pa.array([self.subscribers[number] for number in numbers], pa.string()),
            "id": pa.array([self.ids[number] for number in numbers], pa.string()),
        }
        spans = self._spans.columns(held)
        return pa.table(columns | {name: array_of(values) for name, values in spans.items()})

    @staticmethod
    def restored(
        state: pa.Table,
        count: int,
        version: int,
        floor: Position,
        streams: dict[str, StreamFilters],
    ) -> "InForce":
        """The subscriptions of what `state` gave, with the indexes of their streams.

        Args:
            state: the versions that are held.
            count: how many there ever were.
            version: the changes before this one are known.
            floor: publications before it cannot be matched any more.
            streams: with their indexes.
        """
        made = InForce()
        made.version, made.floor, made.streams = version, floor, streams
        made.subscribers, made.ids, made._streams = [""] * count, [""] * count, [""] * count
        columns = {name: state.column(name).combine_chunks() for name in state.column_names}
        held = values_of(columns.pop("number"))
        names = [columns.pop(name).to_pylist() for name in ("stream", "subscriber", "id")]
        ended = values_of(columns["ended"]).tolist()
        for number, stream, subscriber, id, over in zip(held.tolist(), *names, ended, strict=True):
            made._streams[number], made.subscribers[number] = stream, subscriber
            made.ids[number] = id
            if not over:
                made._standing.setdefault(subscriber, {})[id] = number
        values = {name: values_of(column) for name, column in columns.items()}
        made._spans = Spans.restored(count, held, values)
        made._collected = np.setdiff1d(np.arange(count), held)
        return made

    @property
    def candidates(self) -> int:
        """How many filters were looked at so far, beyond the indexes."""
        return sum(stream.index.candidates for stream in self.streams.values())

    def measure(self) -> None:
        """Sets `index_bytes`."""
        self.index_bytes = sum(stream.index.nbytes for stream in self.streams.values())

    def __len__(self) -> int:
        """The filters that are held, ended ones that were not collected included."""
        return sum(len(stream.index) for stream in self.streams.values())

    def _take(self, entry: ChangeEntry) -> None:
        """Takes in the changes of one entry: runs of subscriptions at once, the others singly."""
        kinds = entry.changes.column("kind").cast(pa.string()).to_pylist()
        rows = entry.changes.select(["stream", "subscriber", "id", "text"]).to_pydict()
        columns = list(zip(*rows.values(), strict=True))
        ended: list[int] = []
        added: dict[str, list[tuple[int, str]]] = {}
        for kind, (stream, subscriber, id, text) in zip(kinds, columns, strict=True):
            if kind == "stream":
                self._define(stream, text)
            elif kind == "forget":
                ended.extend(self._standing.pop(subscriber, {}).values())
            elif kind in ("subscribe", "unsubscribe"):
                standing = self._standing.setdefault(subscriber, {})
                before = standing.pop(id, None)
                if before is not None:
                    ended.append(before)
                if kind == "subscribe":
                    standing[id] = len(self.ids)
                    added.setdefault(stream, []).append((len(self.ids), text))
                    self._name(stream, subscriber, id)
        if entry.compacted_to is not None:
            self.floor = entry.acts_from
        self._spans.add(len(self.ids) - len(self._spans), entry.acts_from)
        self._spans.end(np.array(ended, np.int64), entry.acts_from)
        for stream, filters in added.items():
            if stream in self.streams:
                self._add(self.streams[stream].index, filters)
            else:  # its definition was passed over
                self.unreadable += len(filters)

    def _define(self, name: str, text: str) -> None:
        if name not in self.streams:
            schema = Schema.from_json(text)
            self.streams[name] = StreamFilters(schema, ColumnarIndex(schema))

    def _name(self, stream: str, subscriber: str, id: str) -> None:
        self._streams.append(stream)
        self.subscribers.append(subscriber)
        self.ids.append(id)

    def _add(self, index: ColumnarIndex, filters: list[tuple[int, str]]) -> None:
        """Adds filters by number. One that cannot be read acts on nothing and is counted."""
        if len(filters) <= _ONE_BY_ONE_MAX:
            for number, text in filters:
                try:
                    index.add(number, text)
                except FilterError:
                    self.unreadable += 1
            return
        read = index.read(pa.array([text for _, text in filters], pa.large_string()))
        kept = np.ones(len(filters), np.bool_)
        kept[[row for row, _ in read.rejected]] = False
        self.unreadable += len(read.rejected)
        ids = Ids.of([number for number, _ in filters])
        index.add_all(ids, read, None if kept.all() else kept)


def _array(ids: object) -> pa.Array:
    """The ids of matches as one column."""
    found: pa.Array = getattr(ids, "array")  # noqa: B009
    return found
