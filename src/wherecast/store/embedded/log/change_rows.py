"""Changes as rows of `log.db`, and back; every field is under a checksum."""

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from wherecast.store.changes.change_batches import pack_changes, unpack_changes
from wherecast.store.embedded.log.entry_rows import Damage, sealed, unsealed
from wherecast.store.position import Position
from wherecast.store.records import ChangeEntry

Row = tuple[int, int, int, int, bytes]
"""version, count, at, acts_from, batch."""

_MARK = b"WCc1"  # Arrow's messages begin otherwise
_HEAD = struct.Struct("<4sqq")  # the mark, where it is compacted to, how many times follow
_NOT_COMPACTED = -1


def change_row(entry: ChangeEntry) -> Row:
    """The row of an entry."""
    head = (entry.version, entry.count, entry.at, entry.acts_from[0])
    data = pack_changes(entry.changes)
    if entry.times is not None:
        to = _NOT_COMPACTED if entry.compacted_to is None else entry.compacted_to
        first = _HEAD.pack(_MARK, to, len(entry.times))
        data = first + entry.times.astype("<i8").tobytes() + data
    return (*head, sealed(head, data))


def change_of(row: Sequence[Any]) -> ChangeEntry:
    """The entry of a row as it was read.

    Raises:
        Damage: the row is not as it was written.
    """
    version, count, at, acts_from, data = row
    content, times, to = unsealed(row[:4], data), None, _NOT_COMPACTED
    try:
        if content.startswith(_MARK):
            _, to, size = _HEAD.unpack_from(content)
            times = np.frombuffer(content, "<i8", size, _HEAD.size)
            content = content[_HEAD.size + times.nbytes :]
        changes = unpack_changes(content)
    except (struct.error, ValueError) as error:
        raise Damage(str(error)) from error
    compacted_to = None if to == _NOT_COMPACTED else to
    place = Position({0: acts_from})
    return ChangeEntry(version, count, place, at, changes, None, times, compacted_to)
