"""The registry, restated as new changes where changes of the log are damaged.

The registry is derived data, but after damage to the changes it is the last good copy of what the
damaged changes made. So the difference between the registry and what the readable changes make is
appended to the log. Then the readable changes make the registry again, here as in matching.

The tables of the registry have no checksums. They count as intact if every row can be read, if
they agree with the readable changes after the last damaged one, and if changes can make them.

Concurrency: the owner restates before any other thread of its process reads or writes.
"""

import logging
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

import numpy as np

from wherecast.model import StoreError, Subscription
from wherecast.store.changes.change_batches import (
    Row,
    batch_of,
    forget_row,
    stream_row,
    subscribe_row,
    subscriber_row,
    unsubscribe_row,
)
from wherecast.store.changes.projection import Projection
from wherecast.store.contracts import Registry
from wherecast.store.embedded.database import Database
from wherecast.store.embedded.log.change_reading import read_changes
from wherecast.store.embedded.log.change_rows import change_row
from wherecast.store.embedded.log.entry_rows import seal_of
from wherecast.store.embedded.log.log_commit import LogCommits
from wherecast.store.embedded.log.log_tables import INSERT_CHANGE, Marks, read_marks
from wherecast.store.embedded.log.rebuild_registry import difference
from wherecast.store.embedded.log.registry import EmbeddedRegistry
from wherecast.store.position import Position
from wherecast.store.records import ChangeEntry

_PAGE = 1000
_ROWS_MAX = 16_384  # in one entry
_log = logging.getLogger("wherecast.store")


def restate_registry(database: Database, commits: LogCommits) -> int:
    """Appends the changes that lead from the readable changes to the registry.

    Returns:
        The number of new changes; 0 if no change is damaged, or if the registry is damaged, too.
    """
    with database.reading() as connection:
        marks = read_marks(connection)
    readable, damaged_to = _readable_changes(database, marks)
    if not damaged_to:
        return 0
    try:
        entries = _missing_entries(database, marks, readable, damaged_to)
    except StoreError:  # the registry cannot be read
        return 0
    if not entries:
        return 0
    end = entries[-1].end
    rows = list(map(change_row, entries))
    with commits.begin() as commit:
        commit.connection.executemany(INSERT_CHANGE, rows)
        commit.chain("restate", *(seal_of(row[4]) for row in rows))
        commit.marks = replace(commit.marks, version=end)
    count = end - marks.version
    what = "%s: %d changes were restated from the registry, in the place of damaged ones"
    _log.warning(what, database.path, count)
    return count


def _readable_changes(database: Database, marks: Marks) -> tuple[Projection, int]:
    """What the readable changes make, and the version after the last damaged change or 0."""
    readable, damaged_to = Projection(), 0
    for entry in read_changes(database, 0, marks.version):
        readable.take(entry)
        if entry.damage is not None:
            damaged_to = entry.end
    return readable, damaged_to


def _missing_entries(
    database: Database, marks: Marks, readable: Projection, damaged_to: int
) -> list[ChangeEntry]:
    """The entries that lead to the registry; none if the registry is right or not intact.

    Raises:
        StoreError: the registry cannot be read.
    """
    registry = EmbeddedRegistry(database)
    if difference(registry, readable) is None:
        return []
    if not _keeps_streams(registry, readable):
        return []
    if not _agrees_with_later_changes(database, registry, marks, damaged_to):
        return []
    rows = changes_between(readable, registry)
    entries = list(_entries(rows, marks.version, Position({0: marks.end}), marks.last_at))
    for entry in entries:
        readable.take(entry)
    return entries if difference(registry, readable) is None else []


def _keeps_streams(registry: EmbeddedRegistry, readable: Projection) -> bool:
    """Whether the registry has streams, those of the readable changes included.

    A stream never ends and its schema never changes; its options may. A registry without streams
    was lost.
    """
    streams = registry.streams()
    readable_streams = readable.streams()
    return bool(streams) and all(
        streams.get(name) == schema for name, schema in readable_streams.items()
    )


def _agrees_with_later_changes(
    database: Database, registry: EmbeddedRegistry, marks: Marks, damaged_to: int
) -> bool:
    """Whether the changes after the last damaged one change nothing in the registry."""
    expected = Projection()
    for entry in _entries(changes_between(Projection(), registry), 0, Position(), 0):
        expected.take(entry)
    for entry in read_changes(database, 0, marks.version):
        if entry.version >= damaged_to:
            expected.take(entry)
    return difference(registry, expected) is None


def changes_between(before: Registry, after: Registry) -> Iterator[tuple[Row, int | None]]:
    """The changes that lead from one registry to another; a subscription has its own time.

    Streams come first, then subscribers, then subscriptions.
    """
    known = before.stream_specs()
    for stream, spec in after.stream_specs().items():
        if known.get(stream) != spec:
            yield stream_row(stream, spec), None
    old, new = set(_subscribers(before)), set(_subscribers(after))
    for name in sorted(old - new):
        yield forget_row(name), None
    for name in sorted(new - old):
        yield subscriber_row(name), None
    for name in sorted(new):
        yield from _subscription_changes(name, before, after)


def _subscription_changes(
    name: str, before: Registry, after: Registry
) -> Iterator[tuple[Row, int | None]]:
    """The changes of the subscriptions of one subscriber."""
    old, new = _subscriptions(before, name), _subscriptions(after, name)
    for id in sorted(old.keys() - new.keys()):
        yield unsubscribe_row(name, id, old[id].stream), None
    for id, one in new.items():
        if old.get(id) != one:
            at = one.accepted_at
            assert at is not None, "what a registry has was accepted"
            yield subscribe_row(name, id, one.spec(at)), at


def _entries(
    rows: Iterable[tuple[Row, int | None]], version: int, acts_from: Position, at: int
) -> Iterator[ChangeEntry]:
    """Changes with their times, or a common one, as entries from a version on."""
    left = iter(rows)
    while some := list(islice(left, _ROWS_MAX)):
        times = np.array([at if time is None else time for _, time in some], np.int64)
        changes = batch_of([row for row, _ in some])
        yield ChangeEntry(version, len(some), acts_from, at, changes, times=times)
        version += len(some)


def _subscribers(registry: Registry) -> Iterator[str]:
    after = ""
    while names := registry.subscribers(after, _PAGE):
        yield from names
        after = names[-1]


def _subscriptions(registry: Registry, name: str) -> dict[str, Subscription]:
    found: dict[str, Subscription] = {}
    after = ""
    while page := registry.subscriptions(name, after, _PAGE):
        found |= {one.id: one for one in page}
        after = page[-1].id
    return found
