"""The records of a time are found, whatever entries, holes and damage lie between."""

from collections.abc import Iterator, Sequence
from typing import cast

import pytest

from wherecast.broker.dispatch.log_age import accepted_since
from wherecast.store.contracts import Log
from wherecast.store.position import Position
from wherecast.store.records import Entry


class Entries:
    """A log of one partition that is made of entries alone."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = entries

    def starts(self) -> Position:
        return Position({0: self.entries[0].first})

    def read(self, partition: int, start: int, end: int) -> Iterator[Entry]:
        assert partition == 0
        for entry in self.entries:
            if entry.first < end and start < entry.end:
                yield entry


def log_of(*entries: tuple[int, int, int], damaged: Sequence[int] = ()) -> Log:
    """A log of entries: first offset, count and time of each."""
    made = [
        Entry(0, first, count, "air", 0 if first in damaged else time, b"",
              damage="bad" if first in damaged else None)
        for first, count, time in entries
    ]  # fmt: skip
    return cast("Log", Entries(made))


@pytest.mark.parametrize("hole", [0, 5, 1_000])
def test_every_time_is_found(hole: int) -> None:
    entries, first = [], 7
    for number in range(30):
        entries.append((first, 1 + number % 3, 10 * (number // 2)))
        first += 1 + number % 3 + hole
    log, end = log_of(*entries), first
    for time in range(-1, 160):
        later = [first for first, _, at in entries if at >= time]
        found = accepted_since(log, time, Position({0: end}))[0]
        read = [entry.first for entry in log.read(0, found, end)]
        assert read == later


def test_it_ends_at_the_end() -> None:
    log = log_of((0, 4, 1), (4, 4, 2))
    assert accepted_since(log, 2, Position({0: 2})) == Position({0: 2})
    assert accepted_since(log, 3, Position({0: 8})) == Position({0: 8})
    assert accepted_since(log, 3, Position()) == Position()


def test_a_damaged_entry_counts_with_the_next_one() -> None:
    log = log_of((0, 4, 1), (4, 4, 2), (8, 4, 3), (12, 4, 4), damaged=(8,))
    assert accepted_since(log, 3, Position({0: 16})) == Position({0: 8})
    assert accepted_since(log, 4, Position({0: 16})) == Position({0: 8})
    assert accepted_since(log, 2, Position({0: 16})) == Position({0: 4})
    all_bad = log_of((0, 4, 1), (4, 4, 2), damaged=(0, 4))
    assert accepted_since(all_bad, 9, Position({0: 8})) == Position()
