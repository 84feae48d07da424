"""The registry as tables of `log.db`, written in the transaction of each change.

Concurrency: any number of threads and processes; each call sees one state.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import apsw
import pyarrow as pa
from typing_extensions import override

from wherecast.model import Schema, StreamSpec, Subscription, SubscriptionSpec, WherecastError
from wherecast.store.changes.change_batches import runs_of
from wherecast.store.contracts import Registry
from wherecast.store.embedded.database import Database, damaged
from wherecast.store.embedded.log.log_tables import KnownMarks, read_marks

_UNSORTED_MAX = 1_000  # more changes of a kind are sorted, to write each page once
_HELD = "stream, filter, options, at"
_REGISTER = "INSERT OR IGNORE INTO subscribers VALUES (?)"
_STATEMENTS: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    # before it per subscriber, for each change, with these fields
    "stream": (
        "",
        "INSERT OR REPLACE INTO streams VALUES (?, ?, ?)",
        ("stream", "text", "options"),
    ),
    "subscriber": ("", _REGISTER, ("subscriber",)),
    "forget": (
        "DELETE FROM subscriptions WHERE subscriber = ?",
        "DELETE FROM subscribers WHERE name = ?",
        ("subscriber",),
    ),
    "subscribe": (
        _REGISTER,
        "INSERT OR REPLACE INTO subscriptions VALUES (?, ?, ?, ?, ?, ?)",
        ("subscriber", "id", "stream", "text", "options", "at"),
    ),
    "unsubscribe": (
        "",
        "DELETE FROM subscriptions WHERE subscriber = ? AND id = ?",
        ("subscriber", "id"),
    ),
}


def project(connection: apsw.Connection, changes: pa.RecordBatch) -> None:
    """Applies a batch of `CHANGES` with a column `at` to the tables, within a transaction.

    Changes of one kind that follow one another may be sorted: the order of those of one
    subscription stays. Changes of other kinds are passed over.
    """
    for kind, run in runs_of(changes):
        if kind not in _STATEMENTS:
            continue
        before, statement, names = _STATEMENTS[kind]
        if run.num_rows > _UNSORTED_MAX:
            run = run.sort_by([("subscriber", "ascending"), ("id", "ascending")])
        if before:
            subscribers = run.column("subscriber").unique().to_pylist()
            connection.executemany(before, ((name,) for name in subscribers))
        columns = [run.column(name).to_pylist() for name in names]
        connection.executemany(statement, zip(*columns, strict=True))


@dataclass(frozen=True, slots=True)
class _Streams:
    """The streams by name: their schemas, and their schemas with options."""

    schemas: Mapping[str, Schema]
    specs: Mapping[str, StreamSpec]


class EmbeddedRegistry(Registry):
    """The tables that `project` writes.

    Args:
        database: has them.
        marks: of the log; None reads them each time.
    """

    def __init__(self, database: Database, marks: KnownMarks | None = None) -> None:
        self._database = database
        self._marks = marks or KnownMarks(database, is_owner=False)
        self._streams: tuple[int, _Streams] = (-1, _Streams({}, {}))
        self._counts: tuple[int, dict[str, int]] = (-1, {})

    @override
    def streams(self) -> Mapping[str, Schema]:
        return self._known_streams().schemas

    @override
    def stream_specs(self) -> Mapping[str, StreamSpec]:
        return self._known_streams().specs

    def _known_streams(self) -> "_Streams":
        """The streams, read again where changes came."""
        known, streams = self._streams
        if known == self._marks.now().version:
            return streams
        with self._database.reading() as connection:
            version = read_marks(connection).version
            every = "SELECT name, schema, options FROM streams"
            rows: list[Any] = connection.execute(every).fetchall()
        specs = {name: self._stream(name, *texts) for name, *texts in rows}
        schemas = {name: spec.schema for name, spec in specs.items()}
        streams = _Streams(MappingProxyType(schemas), MappingProxyType(specs))
        self._streams = (version, streams)
        return streams

    @override
    def has_subscriber(self, name: str) -> bool:
        return bool(self._all("SELECT 1 FROM subscribers WHERE name = ?", name))

    @override
    def subscribers(self, after: str = "", limit: int = 1000) -> list[str]:
        page = "SELECT name FROM subscribers WHERE name > ? ORDER BY name LIMIT ?"
        return [name for (name,) in self._all(page, after, limit)]

    @override
    def subscription(self, subscriber: str, id: str) -> Subscription | None:
        one = f"SELECT {_HELD} FROM subscriptions WHERE subscriber = ? AND id = ?"
        found = self._all(one, subscriber, id)
        return self._subscription(subscriber, id, found[0]) if found else None

    @override
    def subscriptions(
        self, subscriber: str, after: str = "", limit: int = 1000
    ) -> list[Subscription]:
        page = f"""SELECT id, {_HELD} FROM subscriptions
            WHERE subscriber = ? AND id > ? ORDER BY id LIMIT ?"""
        rows = self._all(page, subscriber, after, limit)
        return [self._subscription(subscriber, id, held) for id, *held in rows]

    @override
    def among(self, subscriber: str, ids: Sequence[str]) -> dict[str, SubscriptionSpec]:
        one = f"SELECT id, {_HELD} FROM subscriptions WHERE subscriber = ? AND id = ?"
        with self._database.reading() as connection:
            rows = list(connection.executemany(one, ((subscriber, id) for id in ids)))
        return {id: self._spec(subscriber, id, held) for id, *held in rows}

    @override
    def count(self, subscriber: str) -> int:
        [(found,)] = self._all(
            "SELECT count(*) FROM subscriptions WHERE subscriber = ?", subscriber
        )
        return int(found)

    @override
    def counts(self) -> dict[str, int]:
        known, counts = self._counts
        if known != self._marks.now().version:
            with self._database.reading() as connection:
                version = read_marks(connection).version
                counts = {
                    table: connection.execute(f"SELECT count(*) FROM {table}").get
                    for table in ("streams", "subscribers", "subscriptions")
                }
            self._counts = (version, counts)
        return dict(counts)

    def _all(self, statement: str, *values: str | int) -> list[tuple[Any, ...]]:
        with self._database.reading() as connection:
            return connection.execute(statement, values).fetchall()

    def _stream(self, name: str, schema: str, options: str) -> StreamSpec:
        try:
            return StreamSpec.read(schema, options)
        except (WherecastError, ValueError, TypeError, KeyError, AttributeError) as error:
            what = f"the definition of stream {name} in the registry: {error}"
            raise damaged(self._database.path, what) from error

    def _spec(self, subscriber: str, id: str, held: Sequence[Any]) -> SubscriptionSpec:
        try:
            return SubscriptionSpec.read(*held[:3])
        except WherecastError as error:
            what = f"subscription {id} of {subscriber} in the registry: {error}"
            raise damaged(self._database.path, what) from error

    def _subscription(self, subscriber: str, id: str, held: Sequence[Any]) -> Subscription:
        spec = self._spec(subscriber, id, held)
        try:
            return Subscription.accepted(subscriber, id, spec, held[3])
        except OverflowError as error:
            what = f"the time of subscription {id} of {subscriber} in the registry is none"
            raise damaged(self._database.path, what) from error
