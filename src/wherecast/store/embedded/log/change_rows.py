"""Changes as rows of `log.db`, and back; every field is under a checksum.

A row holds the bytes of its changes. What was compacted or restated has a head before them:

    mark, flags, end of the compaction, number of changes | times, if any | versions, if any
"""

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from wherecast.store.changes.change_bytes import pack_changes, unpack_changes
from wherecast.store.embedded.log.entry_rows import Damage, sealed, unsealed
from wherecast.store.position import Position
from wherecast.store.records import ChangeEntry

Row = tuple[int, int, int, int, bytes]
"""version, count, at, acts_from, batch."""

_MARK = b"WCc2"  # the bytes of changes begin otherwise
_HEAD = struct.Struct("<4sBqq")  # the mark, flags, where it is compacted to, number of changes
_HAS_TIMES = 1
_HAS_VERSIONS = 2
_NOT_COMPACTED = -1


def change_row(entry: ChangeEntry) -> Row:
    """The row of an entry."""
    head = (entry.version, entry.count, entry.at, entry.acts_from[0])
    data = pack_changes(entry.changes)
    numbers = {_HAS_TIMES: entry.times, _HAS_VERSIONS: entry.versions}
    given = {flag: values for flag, values in numbers.items() if values is not None}
    if given or entry.compacted_to is not None:
        to = _NOT_COMPACTED if entry.compacted_to is None else entry.compacted_to
        first = _HEAD.pack(_MARK, sum(given), to, entry.changes.num_rows)
        data = first + b"".join(values.astype("<i8").tobytes() for values in given.values()) + data
    return (*head, sealed(head, data))


def change_of(row: Sequence[Any]) -> ChangeEntry:
    """The entry of a row as it was read.

    Raises:
        Damage: the row is not as it was written.
    """
    version, count, at, acts_from, data = row
    content, to = unsealed(row[:4], data), _NOT_COMPACTED
    numbers: dict[int, npt.NDArray[np.int64]] = {}
    try:
        if content.startswith(_MARK):
            _, flags, to, size = _HEAD.unpack_from(content)
            begin = _HEAD.size
            for flag in (_HAS_TIMES, _HAS_VERSIONS):
                if flags & flag:
                    numbers[flag] = np.frombuffer(content, "<i8", size, begin)
                    begin += numbers[flag].nbytes
            content = content[begin:]
        changes = unpack_changes(content)
    except (struct.error, ValueError) as error:
        raise Damage(str(error)) from error
    return ChangeEntry(
        version,
        count,
        Position({0: acts_from}),
        at,
        changes,
        times=numbers.get(_HAS_TIMES),
        compacted_to=None if to == _NOT_COMPACTED else to,
        versions=numbers.get(_HAS_VERSIONS),
    )
