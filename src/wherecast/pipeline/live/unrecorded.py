"""Notifications that have no batch record yet: one record for all since the last one."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from wherecast.store.records import NO_NOTIFICATIONS, SEGMENT, DeadLetter, RecordRun

OffsetItems = dict[str, list[tuple[int, tuple[str, ...]]]]
"""The publications of each subscriber, by offset, with the sorted ids that matched."""


@dataclass(slots=True)
class Unrecorded:
    """What successive records of a log of one partition notify.

    Attributes:
        first: offset of the first record.
        end: offset after the last one.
        notifications: number of notifications.
        items: the notifications.
        dead_letters: publications that could not be matched.
    """

    first: int
    end: int
    notifications: int = 0
    items: OffsetItems = field(default_factory=dict)
    dead_letters: list[DeadLetter] = field(default_factory=list)

    def __len__(self) -> int:
        """Number of records."""
        return self.end - self.first

    def add(self, end: int, items: OffsetItems, dead_letters: list[DeadLetter]) -> None:
        """Adds the records up to an offset."""
        self.end = end
        for name, own in items.items():
            self.items.setdefault(name, []).extend(own)
            self.notifications += len(own)
        self.dead_letters += dead_letters

    @property
    def runs(self) -> tuple[RecordRun, ...]:
        """The records: a log whose records are matched at the append has no holes."""
        return (RecordRun(self.first, len(self)),)

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
