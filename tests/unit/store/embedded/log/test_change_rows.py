"""A row of changes gives the entry that it was made of, or is damaged."""

import numpy as np
import pytest

from tests.contract.stores import changes
from wherecast.store.embedded.log.change_rows import change_of, change_row
from wherecast.store.embedded.log.entry_rows import Damage
from wherecast.store.position import Position
from wherecast.store.records import NO_CHANGES, ChangeEntry

BATCH = changes(("subscribe", "air", "ana", "s", "no2 > 1"), ("forget", "", "bo"))
TIMES = np.array([3, -5], np.int64)
ENTRIES = [
    ChangeEntry(7, 2, Position({0: 4}), 9, BATCH),
    ChangeEntry(0, 1_000, Position({0: 4}), 9, BATCH, None, TIMES, 2_000),
    ChangeEntry(5, 1, Position(), 9, BATCH, None, TIMES, None),
    ChangeEntry(0, 20, Position(), 9, NO_CHANGES, None, TIMES[:0], 20),
    ChangeEntry(0, 20, Position(), 9, BATCH, None, TIMES, 20, np.array([3, 17], np.int64)),
    ChangeEntry(4, 9, Position(), 9, BATCH, versions=np.array([4, 2**62], np.int64)),
    ChangeEntry(0, 2, Position(), 9, BATCH, compacted_to=2),
]


@pytest.mark.parametrize("entry", ENTRIES)
def test_there_and_back(entry: ChangeEntry) -> None:
    again = change_of(change_row(entry))
    for name in ("version", "count", "acts_from", "at", "damage", "compacted_to"):
        assert getattr(again, name) == getattr(entry, name)
    assert again.changes.to_pylist() == entry.changes.to_pylist()
    for found, given in ((again.times, entry.times), (again.versions, entry.versions)):
        assert (found is None) == (given is None)
        if found is not None and given is not None:
            assert found.tolist() == given.tolist()
    assert again.row_versions.tolist() == entry.row_versions.tolist()


@pytest.mark.parametrize("entry", ENTRIES)
def test_every_bit_counts(entry: ChangeEntry) -> None:
    *head, data = change_row(entry)
    for place in range(4):
        other = [*head]
        other[place] += 1
        with pytest.raises(Damage):
            change_of((*other, data))
    for place in range(0, len(data), 7):
        flipped = bytearray(data)
        flipped[place] ^= 16
        with pytest.raises(Damage):
            change_of((*head, bytes(flipped)))
