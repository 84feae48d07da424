"""The roster: who is subscribed, in which version, over which span of offsets.

Every change of a subscription makes a new *version* of it, which is a filter of its own with a span
of offsets. Publications are matched against all versions at once, and a match counts where the
publication lies in the span: so a subscription acts from exactly the offset at which it was
accepted, however the publications are cut into batches, and a later roster gives the same matches
for earlier publications.

A version has two numbers. `versions` holds the version of its change, which is never used again and
means the same in every process. Its *number* is a row of this roster, small enough to index arrays,
and is used again once no batch can need the version: so memory follows the versions that still act,
not all changes that were ever made.

Concurrency: one thread at a time.
"""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.arrays.vectors import array_of, values_of
from wherecast.model import Schema, StoreError
from wherecast.pipeline.live.subscriptions.active_spans import Spans, grown
from wherecast.store.position import Position
from wherecast.store.records import ChangeEntry

Ints = npt.NDArray[np.int64]
_SLACK = 1_024  # versions that are held for nothing before anybody looks for them


@dataclass(frozen=True, slots=True)
class NewFilter:
    """The filter of a version that was added to the roster.

    Attributes:
        number: of the version in the roster.
        version: of its change.
        text: of the filter.
    """

    number: int
    version: int
    text: str


@dataclass(frozen=True, slots=True)
class RosterStep:
    """What one entry of changes did to a roster.

    Attributes:
        is_anew: whether the roster forgot everything first, since the changes were compacted.
        added: the new filters of each stream. A version that ended in the same entry is left out.
    """

    is_anew: bool = False
    added: dict[str, list[NewFilter]] = field(default_factory=dict)


class Roster:
    """The versions of subscriptions as the changes up to a version made them.

    Attributes:
        version: the changes before this version are known.
        floor: publications before this position cannot be matched any more.
        schemas: of the streams, by name.
        subscribers: the subscriber of each version, by number.
        ids: the subscription id of each version, by number.
        passed_over: what is wrong with changes that could not be read, by version.
    """

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self.version = 0
        self.floor = Position()
        self.schemas: dict[str, Schema] = {}
        self.subscribers: list[str] = []
        self.ids: list[str] = []
        self.passed_over: dict[int, str] = {}
        self._streams: list[str] = []  # by number
        self._versions = np.zeros(0, np.int64)
        self._spans = Spans()
        self._standing: dict[str, dict[str, int]] = {}  # subscriber → id → number
        self._free: list[int] = []
        self._reclaim_at = _SLACK

    def __len__(self) -> int:
        """Number of versions held, with those that ended but were not reclaimed yet."""
        return len(self.ids) - len(self._free)

    @property
    def is_crowded(self) -> bool:
        """Whether `reclaim` is worth while: the versions held have doubled since the last time."""
        return len(self) > self._reclaim_at

    def take(self, entry: ChangeEntry) -> RosterStep:
        """Takes in an entry of changes; one that is damaged is passed over.

        Where changes that the roster does not know were compacted, it begins anew with the result.

        Raises:
            StoreError: changes are missing.
        """
        is_anew = entry.version == 0 and self.version < (entry.compacted_to or 0)
        if is_anew:
            self._begin()
        step = RosterStep(is_anew)
        if entry.end <= self.version:
            return step
        if entry.damage is not None and entry.version <= self.version:
            self.passed_over[entry.version] = entry.damage
        elif entry.version == self.version:
            self._apply(entry, step.added)
        else:
            self.need(entry.version)
        self.version = entry.end
        return step

    def need(self, version: int) -> None:
        """Raises StoreError unless the changes before a version are known."""
        if self.version < version:
            raise StoreError(f"changes {self.version} to {version - 1} are missing in the log")

    def versions_of(self, numbers: Ints) -> Ints:
        """The versions of the changes behind some numbers; int64, same shape."""
        return self._versions[numbers]

    def acting(self, partition: int, offsets: Ints, numbers: Ints) -> npt.NDArray[np.bool_]:
        """Whether each version acts on the publication at the offset beside its number."""
        return self._spans.acting(partition, offsets, numbers)

    def reclaim(self, position: Position) -> dict[str, list[int]]:
        """Drops the versions that act on nothing at a position and beyond.

        Their numbers are used again, so their filters must leave the indexes.

        Returns:
            The numbers that were dropped, by stream.
        """
        if position.reaches(self.floor):
            self.floor = position
        held = self._held()
        over = held[self._spans.over(held, position)].tolist()
        by_stream: dict[str, list[int]] = {}
        for number in over:
            by_stream.setdefault(self._streams[number], []).append(number)
            self._release(number)
        self._reclaim_at = 2 * len(self) + _SLACK
        return by_stream

    def state(self) -> pa.RecordBatch:
        """The versions held: number, version, names and span of each; see `restored`."""
        held = self._held()
        numbers = held.tolist()
        columns = {
            "number": array_of(held),
            "version": array_of(self._versions[held]),
            "stream": pa.array([self._streams[number] for number in numbers], pa.string()),
            "subscriber": pa.array([self.subscribers[number] for number in numbers], pa.string()),
            "id": pa.array([self.ids[number] for number in numbers], pa.string()),
        }
        columns |= {name: array_of(values) for name, values in self._spans.columns(held).items()}
        return pa.RecordBatch.from_arrays(list(columns.values()), list(columns))

    @staticmethod
    def restored(
        state: pa.RecordBatch, version: int, floor: Position, schemas: dict[str, Schema]
    ) -> "Roster":
        """The roster of what `state` gave.

        Args:
            state: the versions held.
            version: the changes before this version are known.
            floor: publications before this position cannot be matched any more.
            schemas: of the streams, by name.
        """
        made = Roster()
        made.version, made.floor, made.schemas = version, floor, schemas
        columns = dict(zip(state.schema.names, state.columns, strict=True))
        held = values_of(columns.pop("number"))
        count = int(held.max(initial=-1)) + 1
        made.subscribers, made.ids, made._streams = [""] * count, [""] * count, [""] * count
        made._versions = np.full(count, -1, np.int64)
        made._versions[held] = values_of(columns.pop("version"))
        names = [columns.pop(name).to_pylist() for name in ("stream", "subscriber", "id")]
        ended = values_of(columns["ended"]).tolist()
        for number, stream, subscriber, id, over in zip(held.tolist(), *names, ended, strict=True):
            made._streams[number], made.subscribers[number] = stream, subscriber
            made.ids[number] = id
            if not over:
                made._standing.setdefault(subscriber, {})[id] = number
        values = {name: values_of(column) for name, column in columns.items()}
        made._spans = Spans.restored(held, values)
        made._free = np.setdiff1d(np.arange(count), held).tolist()
        made._reclaim_at = 2 * len(held) + _SLACK
        return made

    def _held(self) -> Ints:
        """The numbers in use, ascending."""
        return np.flatnonzero(self._versions[: len(self.ids)] >= 0)

    def _apply(self, entry: ChangeEntry, added: dict[str, list[NewFilter]]) -> None:
        """Applies the changes of an entry, and tells which filters are new."""
        kinds = entry.changes.column("kind").cast(pa.string()).to_pylist()
        rows = entry.changes.select(["stream", "subscriber", "id", "text"]).to_pydict()
        columns = zip(kinds, *rows.values(), strict=True)
        fresh: dict[int, tuple[str, NewFilter]] = {}
        ended: list[int] = []
        for version, (kind, stream, subscriber, id, text) in enumerate(columns, entry.version):
            if kind == "stream":
                if stream not in self.schemas:
                    self.schemas[stream] = Schema.from_json(text)
                continue
            for number in self._ending(kind, subscriber, id):
                if fresh.pop(number, None) is None:
                    ended.append(number)
                else:  # its span is empty
                    self._release(number)
            if kind == "subscribe":
                number = self._enter(version, stream, subscriber, id)
                fresh[number] = stream, NewFilter(number, version, text)
        if entry.compacted_to is not None:
            self.floor = entry.acts_from
        self._spans.begin(np.array(list(fresh), np.int64), entry.acts_from)
        self._spans.end(np.array(ended, np.int64), entry.acts_from)
        for stream, new in fresh.values():
            added.setdefault(stream, []).append(new)

    def _ending(self, kind: str, subscriber: str, id: str) -> list[int]:
        """Takes out of the standing subscriptions what a change ends; the numbers."""
        if kind == "forget":
            return list(self._standing.pop(subscriber, {}).values())
        if kind not in ("subscribe", "unsubscribe"):
            return []
        own = self._standing.get(subscriber, {})
        number = own.pop(id, None)
        if number is None:
            return []
        if not own:
            del self._standing[subscriber]
        return [number]

    def _enter(self, version: int, stream: str, subscriber: str, id: str) -> int:
        """Gives a new version a number."""
        if self._free:
            number = self._free.pop()
            self._streams[number], self.subscribers[number] = stream, subscriber
            self.ids[number] = id
        else:
            number = len(self.ids)
            self._streams.append(stream)
            self.subscribers.append(subscriber)
            self.ids.append(id)
            if number == len(self._versions):
                self._versions = grown(self._versions, max(2 * number, 64), -1)
        self._versions[number] = version
        self._standing.setdefault(subscriber, {})[id] = number
        return number

    def _release(self, number: int) -> None:
        """Frees a number."""
        self._streams[number] = self.subscribers[number] = self.ids[number] = ""
        self._versions[number] = -1
        self._free.append(number)
