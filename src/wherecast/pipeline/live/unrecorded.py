"""Notifications that have no batch record yet: one record for all since the last one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from wherecast.store.records import NO_NOTIFICATIONS, SEGMENT, DeadLetter, RecordRun
from wherecast.store.sequences import joined_runs

OffsetItems = dict[str, list[tuple[int, tuple[str, ...]]]]
"""The publications of each subscriber, by offset, with the sorted ids that matched."""


@dataclass(slots=True)
class Unrecorded:
    """What successive records of a log of one partition notify.

    Attributes:
        first: offset of the first record.
        end: offset after the last one.
        notifications: number of notifications.
        runs: the records, in order.
        items: the notifications.
        dead_letters: publications that could not be matched.
    """

    first: int
    end: int
    notifications: int = 0
    runs: list[RecordRun] = field(default_factory=list)
    items: OffsetItems = field(default_factory=dict)
    dead_letters: list[DeadLetter] = field(default_factory=list)

    def __len__(self) -> int:
        """Number of records."""
        return sum(run.count for run in self.runs)

    def add(
        self,
        end: int,
        runs: Sequence[RecordRun],
        items: OffsetItems,
        dead_letters: list[DeadLetter],
    ) -> None:
        """Adds the records up to an offset."""
        self.end = end
        self.runs = [*self.runs[:-1], *joined_runs([*self.runs[-1:], *runs])]
        for name, own in items.items():
            self.items.setdefault(name, []).extend(own)
            self.notifications += len(own)
        self.dead_letters += dead_letters

    def segment(self) -> pa.RecordBatch:
        """The notifications as a batch of `SEGMENT`."""
        return segment_of(self.items) if self.items else NO_NOTIFICATIONS


def segment_of(items: Mapping[str, list[tuple[int, tuple[str, ...]]]]) -> pa.RecordBatch:
    """Notifications as a batch of `SEGMENT`.

    Cost: a step per notification and id.
    """
    names = sorted(items)
    ids: list[list[str]] = []
    offsets: list[list[int]] = []
    matched: list[list[list[int]]] = []
    for name in names:
        own = items[name]
        some = sorted({id for _, each in own for id in each})
        places = {id: place for place, id in enumerate(some)}
        ids.append(some)
        offsets.append([offset for offset, _ in own])
        matched.append([[places[id] for id in each] for _, each in own])
    arrays = [
        pa.array(column, kind)
        for column, kind in zip((names, ids, offsets, matched), SEGMENT.types, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=SEGMENT)
