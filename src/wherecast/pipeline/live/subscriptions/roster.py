"""The roster: who is subscribed, in which version, over which span of offsets.

Every change of a subscription makes a new *version* of it, which is a filter of its own. Versions
are numbered by the log: a version is never used again, and means the same in every process.
Publications are matched against all versions at once, and a match counts where the publication lies
in the span of the version: so a subscription acts from exactly the offset at which it was accepted,
however the publications are cut into batches.

Names and versions lie in tables of columns, which may be mapped from a snapshot, and in small
additions to them, which become part of new tables from time to time. Versions that ended are
dropped once no batch can need them. So memory follows the versions that still act, not all changes
that were ever made.

Concurrency: one thread at a time.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.model import Schema, StoreError
from wherecast.pipeline.live.subscriptions.active_spans import Span, Spans, later
from wherecast.pipeline.live.subscriptions.held_versions import HeldVersions
from wherecast.store.position import Position
from wherecast.store.records import ChangeEntry

Ints = npt.NDArray[np.int64]
Int32s = npt.NDArray[np.int32]
_SLACK = 1_024  # versions that are held for nothing before anybody looks for them


@dataclass(frozen=True, slots=True)
class NewFilter:
    """The filter of a version that was added to the roster.

    Attributes:
        version: of its change.
        text: of the filter.
    """

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
        passed_over: what is wrong with changes that could not be read, by version.
        held: the versions with their names.
    """

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self.version = 0
        self.floor = Position()
        self.schemas: dict[str, Schema] = {}
        self.passed_over: dict[int, str] = {}
        self.held = HeldVersions()
        self._spans = Spans()
        self._reclaim_at = _SLACK

    def __len__(self) -> int:
        """Number of versions held, with those that ended but were not reclaimed yet."""
        return len(self.held)

    @property
    def is_crowded(self) -> bool:
        """Whether `reclaim` is worth while: the versions held have doubled since the last time."""
        return len(self) > self._reclaim_at

    def take(self, entry: ChangeEntry, start: Position | None = None) -> RosterStep:
        """Takes in an entry of changes; one that is damaged is passed over.

        Where changes that the roster does not know were compacted, it begins anew with the result.

        Args:
            entry: the changes.
            start: of the first batch that knows them: they act on no publication before it.

        Raises:
            StoreError: changes are missing.
        """
        is_anew = entry.version == 0 and self.version < (entry.compacted_to or 0)
        if is_anew:
            self._begin()
            self.raise_floor(start or Position())
        step = RosterStep(is_anew)
        if entry.end <= self.version:
            return step
        if entry.damage is not None and entry.version <= self.version:
            self.passed_over[entry.version] = entry.damage
        elif entry.version == self.version:
            self._apply(entry, start or Position(), step.added)
        else:
            self.need(entry.version)
        self.version = entry.end
        return step

    def need(self, version: int) -> None:
        """Raises StoreError unless the changes before a version are known."""
        if self.version < version:
            raise StoreError(f"changes {self.version} to {version - 1} are missing in the log")

    def serves(self, start: Position, changes: int) -> bool:
        """Whether a batch that begins at a position and knows some changes can be matched.

        A roster that knows later changes, or has dropped what acted before its floor, cannot.
        """
        return start.reaches(self.floor) and self.version <= changes

    def raise_floor(self, floor: Position) -> None:
        """Promises that no publication before a position will be matched any more."""
        raised = later(self.floor, floor)
        if raised != self.floor:
            self.floor = raised
            self._spans.settle(raised)

    def acting(self, partition: int, offsets: Ints, versions: Ints) -> npt.NDArray[np.bool_] | None:
        """Whether each version acts on the publication at the offset beside it; None: all do."""
        return self._spans.acting(partition, offsets, versions)

    def acting_at(self, partition: int, offset: int, versions: list[int]) -> list[int]:
        """Those of some versions that act on the publication at an offset."""
        spans = self._spans.by_version
        if not spans:
            return versions
        return [one for one in versions if one not in spans or spans[one].holds(partition, offset)]

    def reclaim(self, position: Position) -> dict[str, list[int]]:
        """Drops the versions that act on nothing at a position and beyond.

        Their filters must leave the indexes.

        Returns:
            The versions that were dropped, by stream.
        """
        self.raise_floor(position)
        over = self._spans.over(position)
        by_stream: dict[str, list[int]] = {}
        for version in over:
            stream = self.held.streams[self._spans.by_version[version].stream]
            by_stream.setdefault(stream, []).append(version)
        self._spans.drop(over)
        self.held.drop(over)
        self._reclaim_at = 2 * len(self) + _SLACK
        return by_stream

    def state(self) -> dict[str, pa.RecordBatch]:
        """The versions held, with names and spans, as batches; see `restored`."""
        return {**self.held.state(), "spans": _span_rows(self._spans)}

    @staticmethod
    def restored(
        state: Mapping[str, pa.RecordBatch],
        version: int,
        floor: Position,
        schemas: dict[str, Schema],
    ) -> "Roster":
        """The roster of what `state` gave.

        Args:
            state: the batches, which may be mapped.
            version: the changes before this version are known.
            floor: publications before this position cannot be matched any more.
            schemas: of the streams, by name.
        """
        made = Roster()
        made.version, made.floor, made.schemas = version, floor, schemas
        made.held = HeldVersions.restored(state)
        for row in state["spans"].to_pylist():
            end = None if row["end"] is None else Position.from_json(row["end"])
            made._spans.set(
                row["version"], Span(Position.from_json(row["begin"]), end, row["stream"])
            )
        made._reclaim_at = 2 * len(made) + _SLACK
        return made

    def _apply(
        self, entry: ChangeEntry, start: Position, added: dict[str, list[NewFilter]]
    ) -> None:
        """Applies the changes of an entry, and tells which filters are new."""
        kinds = entry.changes.column("kind").cast(pa.string()).to_pylist()
        rows = entry.changes.select(["stream", "subscriber", "id", "text"]).to_pydict()
        versions = entry.row_versions.tolist()
        fresh: dict[str, dict[str, tuple[str, NewFilter]]] = {}  # by subscriber and id
        ended: list[tuple[int, int]] = []
        columns = zip(versions, kinds, *rows.values(), strict=True)
        for version, kind, stream, subscriber, id, text in columns:
            if kind == "stream":
                if stream not in self.schemas:
                    self.schemas[stream] = Schema.from_json(text)
            elif kind == "forget":
                fresh.pop(subscriber, None)
                ended.extend(self.held.end_all(subscriber))
            elif kind in ("subscribe", "unsubscribe"):
                if fresh.get(subscriber, {}).pop(id, None) is None:
                    ended.extend(self.held.end(subscriber, id))
                if kind == "subscribe":
                    fresh.setdefault(subscriber, {})[id] = stream, NewFilter(version, text)
        if entry.compacted_to is not None:
            self.floor = later(self.floor, entry.acts_from)
        acts_from = later(entry.acts_from, start)
        self._end(ended, acts_from)
        is_bounded = not self.floor.reaches(acts_from)
        for subscriber, own in fresh.items():
            for id, (stream, new) in own.items():
                added.setdefault(stream, []).append(new)
                number = self.held.enter(new.version, subscriber, id, stream)
                if is_bounded:
                    self._spans.set(new.version, Span(acts_from, None, number))
        self.held.settle()

    def _end(self, ended: list[tuple[int, int]], end: Position) -> None:
        """Lets versions, each with the number of its stream, act no longer from a position on."""
        for version, stream in ended:
            span = self._spans.by_version.get(version)
            begin = Position() if span is None else span.begin
            self._spans.set(version, Span(begin, end, stream))


def _span_rows(spans: Spans) -> pa.RecordBatch:
    """The spans, a row each."""
    rows = sorted(spans.by_version.items())
    columns = {
        "version": pa.array([version for version, _ in rows], pa.int64()),
        "stream": pa.array([span.stream for _, span in rows], pa.int32()),
        "begin": pa.array([span.begin.to_json() for _, span in rows], pa.string()),
        "end": pa.array(
            [None if span.end is None else span.end.to_json() for _, span in rows], pa.string()
        ),
    }
    return pa.RecordBatch.from_arrays(list(columns.values()), list(columns))
