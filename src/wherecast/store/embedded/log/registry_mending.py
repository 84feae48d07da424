"""Whether the tables of the registry are what the changes make, and how they are made anew.

Concurrency: the owner mends before anybody else of its process reads or writes.
"""

import logging
from collections.abc import Iterator

from wherecast.model import StoreError, Subscription
from wherecast.store.changes.change_batches import Row, timed_of
from wherecast.store.changes.projection import Projection, accepted_at
from wherecast.store.contracts import Registry
from wherecast.store.embedded.database import Database
from wherecast.store.embedded.log.change_reading import read_changes
from wherecast.store.embedded.log.log_tables import read_marks
from wherecast.store.embedded.log.registry import EmbeddedRegistry, project
from wherecast.store.records import ChangeEntry

_CHANGES_MAX = 10_000  # reading more at each start would take too long; the check of a store does
_PAGE = 1000
_log = logging.getLogger("wherecast.store")


def mend_registry(database: Database) -> None:
    """Makes the tables anew where they are not what the changes make.

    Where changes are damaged or missing, the tables stay as they are: they may know more.
    """
    with database.reading() as connection:
        version = read_marks(connection).version
    entries, rows, expected = [], 0, Projection()
    for entry in read_changes(database, 0, version):
        rows += entry.changes.num_rows
        if entry.damage is not None or rows > _CHANGES_MAX:
            return
        entries.append(entry)
        expected.take(entry)
    try:
        problem = difference(EmbeddedRegistry(database), expected)
    except StoreError as error:
        problem = str(error)
    if problem is not None:
        _log.warning("%s: %s; it is made anew", database.path, problem)
        _make_anew(database, entries)


def _make_anew(database: Database, entries: list[ChangeEntry]) -> None:
    with database.transaction() as connection:
        for table in ("streams", "subscribers", "subscriptions"):
            connection.execute(f"DELETE FROM {table}")
        for entry in entries:
            project(connection, timed_of(entry))


def rows_between(made: Projection, kept: EmbeddedRegistry) -> Iterator[tuple[Row, int]]:
    """Changes that lead from one registry to another one, with the times of subscriptions."""
    known = made.streams()
    for stream, schema in kept.streams().items():
        if known.get(stream) != schema:
            yield ("stream", stream, "", "", schema.to_json()), 0
    before, after = set(_subscribers(made)), set(_subscribers(kept))
    for name in sorted(before - after):
        yield ("forget", "", name, "", ""), 0
    for name in sorted(after):
        if name not in before:
            yield ("subscriber", "", name, "", ""), 0
        old, new = _subscriptions(made, name), _subscriptions(kept, name)
        for id in old.keys() - new.keys():
            yield ("unsubscribe", old[id].stream, name, id, ""), 0
        for id, one in new.items():
            if old.get(id) != one:
                yield ("subscribe", one.stream, name, id, one.filter), accepted_at(one)


def _subscribers(registry: Registry | Projection) -> Iterator[str]:
    after = ""
    while names := registry.subscribers(after, _PAGE):
        yield from names
        after = names[-1]


def _subscriptions(registry: Registry | Projection, name: str) -> dict[str, Subscription]:
    found: dict[str, Subscription] = {}
    after = ""
    while page := registry.subscriptions(name, after, _PAGE):
        found |= {one.id: one for one in page}
        after = page[-1].id
    return found


def difference(registry: EmbeddedRegistry, expected: Projection) -> str | None:
    """The first thing in which a registry is not what it should be."""
    if dict(registry.streams()) != dict(expected.streams()):
        return "the streams of the registry are not what the changes make"
    if registry.counts() != expected.counts():
        return f"the registry counts {registry.counts()}, the changes make {expected.counts()}"
    after = ""
    while names := expected.subscribers(after, _PAGE):
        if registry.subscribers(after, _PAGE) != names:
            return "the subscribers of the registry are not what the changes make"
        for name in names:
            if not _same_subscriptions(registry, expected, name):
                return f"the subscriptions of {name!r} are not what the changes make"
        after = names[-1]
    return None


def _same_subscriptions(registry: EmbeddedRegistry, expected: Projection, name: str) -> bool:
    after = ""
    while page := expected.subscriptions(name, after, _PAGE):
        if registry.subscriptions(name, after, _PAGE) != page:
            return False
        after = page[-1].id
    return not registry.subscriptions(name, after, 1)
