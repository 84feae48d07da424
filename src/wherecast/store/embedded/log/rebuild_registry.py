"""The tables of the registry, compared with the changes of the log and rebuilt from them.

The registry is derived data. A damaged change makes nothing, here as in matching: so the registry
names exactly the subscriptions that are matched. What an intact registry knows of damaged changes
is restated as new changes before; see `restate_registry`.

Concurrency: the owner rebuilds before any other thread of its process reads or writes.
"""

import logging
from itertools import islice

import numpy as np

from wherecast.model import StoreError
from wherecast.store.changes.change_batches import batch_of, timed
from wherecast.store.changes.projection import Projection
from wherecast.store.embedded.database import Database
from wherecast.store.embedded.log.change_reading import read_changes
from wherecast.store.embedded.log.log_tables import read_marks
from wherecast.store.embedded.log.registry import EmbeddedRegistry, project

CHANGES_MAX = 10_000  # comparing more at each start would take too long; a repair has no limit
_PAGE = 1000
_ROWS_AT_ONCE = 16_384
_log = logging.getLogger("wherecast.store")


def rebuild_registry(database: Database, changes_max: int | None = CHANGES_MAX) -> str | None:
    """Rebuilds the tables from the changes, where the two differ; returns the first difference.

    Args:
        database: of the log.
        changes_max: a log with more changes than this is left as it is; None compares any log.
    """
    with database.reading() as connection:
        version = read_marks(connection).version
    expected, rows = Projection(), 0
    for entry in read_changes(database, 0, version):
        rows += entry.changes.num_rows
        if changes_max is not None and rows > changes_max:
            return None
        expected.take(entry)
    try:
        problem = difference(EmbeddedRegistry(database), expected)
    except StoreError as error:
        problem = str(error)
    if problem is not None:
        _log.warning("%s: %s; the registry is rebuilt from the changes", database.path, problem)
        _replace(database, expected)
    return problem


def _replace(database: Database, expected: Projection) -> None:
    """Puts other content in the place of the tables."""
    rows = expected.rows()
    with database.transaction() as connection:
        for table in ("streams", "subscribers", "subscriptions"):
            connection.execute(f"DELETE FROM {table}")
        while some := list(islice(rows, _ROWS_AT_ONCE)):
            times = np.array([change.at for change in some], np.int64)
            project(connection, timed(batch_of([change.row for change in some]), times))


def difference(registry: EmbeddedRegistry, expected: Projection) -> str | None:
    """The first difference between the tables of a registry and what the changes make.

    Raises:
        StoreError: the tables cannot be read.
    """
    if dict(registry.stream_specs()) != dict(expected.stream_specs()):
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
