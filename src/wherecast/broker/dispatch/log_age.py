"""Where in a log the records of a time begin: the times of a log never decrease."""

from wherecast.store.contracts import Log
from wherecast.store.position import Position
from wherecast.store.records import Entry


def accepted_since(log: Log, time: int, end: Position) -> Position:
    """The first record of each partition that was accepted at a time or later.

    Damaged entries have no time, and count with the next entry that can be read.

    Args:
        log: where the records are.
        time: by the time of the log.
        end: no partition stands beyond it.
    """
    starts = log.starts()
    return Position({part: _first(log, part, starts[part], end[part], time) for part in end})


def _first(log: Log, partition: int, start: int, end: int, time: int) -> int:
    """The same in one partition, by halves."""
    low, high = start, end
    while low < high:
        middle = (low + high) // 2
        found = _readable(log, partition, middle, high)
        if found is None or found.accepted_at >= time:
            high = middle if found is None else max(low, min(middle, found.first))
        else:
            low = found.end
    return min(low, end)


def _readable(log: Log, partition: int, start: int, end: int) -> Entry | None:
    """The entry at an offset, or the first one after it that can be read; None: there is none."""
    for stop in (start + 1, end):  # one entry is read quickly; offsets may have holes
        for entry in log.read(partition, start, stop):
            if entry.damage is None:
                return entry
    return None
