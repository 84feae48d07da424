"""How long notifications and publications are kept.

Two processes remove, each in its own files. The owner of the store moves the cursors of queues that
pass a limit, and counts what each subscriber loses by that; then it removes publications that no
queue has and no stream keeps. The pipeline removes segments that every cursor has passed. So a
crash between any two steps loses nothing that is not counted.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice

from wherecast.broker.core_limits import Retention
from wherecast.broker.dispatch.log_age import accepted_since
from wherecast.delivery import Cursor
from wherecast.store.contracts import Batches, Store

_AT_ONCE = 100_000  # queues that are counted together: segments are opened once for so many


@dataclass(frozen=True, slots=True)
class QueueState:
    """The size of all queues, and the queues that pass a limit.

    Attributes:
        queued: number of notifications in all queues that are not acknowledged.
        overdue: by subscriber, the sequence at which its queue is to begin, and the number of
            notifications that it loses by that.
    """

    queued: int
    overdue: dict[str, tuple[int, int]]


def queue_state(store: Store, limits: Retention, now: int) -> QueueState:
    """The size of all queues of a store, and the queues that pass a limit."""
    oldest = now - limits.queue_age // timedelta(microseconds=1)
    by_age = sequence_at(store.batches, store.mailboxes.starts_at(), oldest)
    most = max(1, limits.queue_bytes_max * store.log.size() // max(1, store.log.bytes()))
    overdue: dict[str, tuple[int, int]] = {}
    queued = 0
    end, every = store.batches.progress().sequence, store.cursors.all()
    while cursors := dict(islice(every, _AT_ONCE)):
        throughs = {name: one.through for name, one in cursors.items()}
        counts = store.mailboxes.counts(throughs, end)
        starts: dict[str, int] = {}
        for name, cursor in cursors.items():
            # What was acknowledged may not be stored yet.
            count = max(0, counts[name] - len(cursor.beyond))
            start = max(by_age, _by_size(store, name, cursor, count - most))
            queued += count
            if start > cursor.through:
                starts[name] = start
        for name, left in store.mailboxes.counts(starts, end).items():
            done = sum(sequence < starts[name] for sequence in cursors[name].beyond)
            overdue[name] = starts[name], counts[name] - left - done
    return QueueState(queued - sum(lost for _, lost in overdue.values()), overdue)


def trim_log(store: Store, now: int) -> None:
    """Removes publications that no queue has and no stream keeps.

    The ids of recent ones stay known to the log.
    """
    position = store.batches.position_at(store.mailboxes.starts_at())
    keep_us = max((spec.keep_us for spec in store.registry.stream_specs().values()), default=0)
    if keep_us:
        position = accepted_since(store.log, now - keep_us, position)
    store.log.trim(position)


def sequence_at(batches: Batches, start: int, time: int) -> int:
    """The first sequence from a start on whose batch was made at a time or later."""

    def is_old(sequence: int) -> bool:
        found = batches.records(sequence, sequence + 1)
        return not found or found[0][1].at < time  # none: it was removed meanwhile

    return _first(start, batches.progress().sequence, is_old)


def _first(low: int, high: int, is_before: Callable[[int], bool]) -> int:
    """The first number of a range for which a condition fails; it holds for all before."""
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if is_before(middle) else (low, middle)
    return low


def _by_size(store: Store, name: str, cursor: Cursor, surplus: int) -> int:
    """The sequence at which a queue is to begin that has a surplus of notifications."""
    if surplus <= 0:
        return cursor.through
    queued = store.mailboxes.queued(name, cursor.through, surplus + len(cursor.beyond))
    return int(queued.sequences[-1]) + 1


Trim = Callable[[str, int, int], None]
"""Lets the queue of a subscriber begin at a sequence, and counts what it lost."""


def enforce(store: Store, trim: Trim, save: Callable[[], None], limits: Retention, now: int) -> int:
    """Moves the cursors of queues that pass a limit, then removes publications that no queue has.

    Cursors come first, so that every removed notification was counted.

    Args:
        store: what is kept.
        trim: lets a queue begin later.
        save: returns when the cursors that have changed are stored.
        limits: how much is kept, and for how long.
        now: the time of the log, which no jump of the clock moves far.

    Returns:
        The number of notifications that are queued then.
    """
    state = queue_state(store, limits, now)
    for name, (start, lost) in state.overdue.items():
        trim(name, start, lost)
    if state.overdue:
        save()
    trim_log(store, now)
    return state.queued
