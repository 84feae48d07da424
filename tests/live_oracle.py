"""A life of subscriptions in a log, and what DuckDB says must be delivered of it.

The oracle reads the log alone: publications as a table per stream, and for every version of a
subscription the span of offsets in which it stood. It asks DuckDB for each version's WHERE clause
on its span.
"""

import os
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from tests.contract.feed import GAP
from tests.seeds import random_of, run_seed
from wherecast import Publication, Subscription
from wherecast.broker.broker_core import BrokerCore
from wherecast.broker.dispatch.acknowledgement import Acknowledgement
from wherecast.columns.log_encoding import decode_entry
from wherecast.store.contracts import Log, Store
from wherecast.store.embedded.cursors import EmbeddedCursors
from wherecast.store.embedded.directory import Directory
from wherecast.store.embedded.log.log import EmbeddedLog
from wherecast.store.records import Progress
from wherecast.workloads import Workload, mixed, stocks

SUBSCRIBERS = 40
LIMIT_S = 300.0
NOTIFIED = pa.schema([("subscriber", pa.string()), ("offset", pa.int64()), ("id", pa.string())])


@dataclass(frozen=True)
class Scale:
    """How long a life is: the number of publications, and of subscriptions at a time."""

    publications: int
    subscriptions: int


SHORT = Scale(2_000, 1_000)
LONG = Scale(10_000, 1_000)
WHOLE = Scale(int(os.environ.get("WHERECAST_ORACLE_PUBLICATIONS", "100000")), 1_000)


def scales(campaign: pytest.MarkDecorator) -> list[Any]:
    """A life for every run, one for a release, and one for a campaign of `make soak`."""
    return [
        pytest.param(SHORT, id="short"),
        pytest.param(LONG, id="long", marks=pytest.mark.release),
        pytest.param(WHOLE, id="whole", marks=campaign),
    ]


@dataclass
class _Player:
    """Publishes and changes subscriptions in an order that the seed of the run alone decides."""

    core: BrokerCore
    scale: Scale
    rng: Random
    workloads: dict[str, Workload]
    texts: dict[str, Iterator[str]]
    standing: set[tuple[str, str]]

    def begin(self) -> None:
        for name, workload in self.workloads.items():
            self.core.registrar.define(name, workload.schema, 0)
        for number in range(SUBSCRIBERS):
            name = f"subscriber-{number}"
            self.register(name)
            for stream, texts in self.texts.items():
                count = self.scale.subscriptions // SUBSCRIBERS // len(self.texts)
                some = {f"{stream}-{place}": next(texts) for place in range(count)}
                wanted = [Subscription(id, text, name, stream) for id, text in some.items()]
                assert not self.core.registrar.subscribe_all(name, wanted, 0)
                self.standing |= {(name, id) for id in some}

    def register(self, name: str) -> None:
        self.core.registrar.register(name, 0)
        self.core.courier.open(name)

    def add(self) -> None:
        """A new subscription, often under an id that another subscriber has, too."""
        name = f"subscriber-{self.rng.randrange(SUBSCRIBERS)}"
        own = self.scale.subscriptions  # so many ids that few of them are taken
        self.subscribe(name, f"s{self.rng.randrange(own)}")

    def subscribe(self, name: str, id: str) -> None:
        stream = self.rng.choice(list(self.texts))
        wanted = Subscription(id, next(self.texts[stream]), name, stream)
        self.core.registrar.subscribe(wanted, 0)
        self.standing.add((name, id))

    def change(self) -> None:
        """Adds one and removes another, changes one, or forgets a subscriber."""
        kind = self.rng.random()
        name, id = self.rng.choice(sorted(self.standing))
        if kind < 0.5:
            self.core.registrar.unsubscribe(name, id, 0)
            self.standing.discard((name, id))
            self.add()
        elif kind < 0.99:
            self.subscribe(name, id)
        else:
            gone = {pair for pair in self.standing if pair[0] == name}
            self.core.registrar.forget(name, 0)
            self.core.courier.forget(name)
            self.standing -= gone
            self.register(name)
            for _, other in sorted(gone):
                self.subscribe(name, other)


def play(core: BrokerCore, scale: Scale) -> None:
    """Publishes to two streams, with changes of subscriptions after every few publications."""
    workloads = {"mixed": mixed(seed=run_seed()), "stocks": stocks(seed=run_seed())}
    texts = {name: _texts(workload) for name, workload in workloads.items()}
    player = _Player(core, scale, random_of("life"), workloads, texts, set())
    player.begin()
    rows = {name: _rows(w, scale.publications) for name, w in workloads.items()}
    left = scale.publications
    while left:
        count = min(left, player.rng.choice([1, 2, 10, 50, 100]))
        stream = player.rng.choice(list(rows))
        some = [Publication(next(rows[stream])) for _ in range(count)]
        assert core.publish(some, stream).accepted == count
        left -= count
        for _ in range(player.rng.randrange(4)):
            player.change()


def _texts(workload: Workload) -> Iterator[str]:
    for batch in workload.filters(1_000_000):
        yield from batch.column("filter").to_pylist()


def _rows(workload: Workload, count: int) -> Iterator[dict[str, Any]]:
    for batch in workload.publications(count):
        for row in batch.to_pylist():
            yield {name: value for name, value in row.items() if value is not None}


def is_after(done: Progress, progress: Progress) -> bool:
    """Whether something was committed since."""
    return progress != done


def taken(core: BrokerCore, wanted: pa.Table) -> pa.Table:
    """What all subscribers receive until their queues are empty, a row per match.

    It waits for as many notifications as are wanted, since a queue hears of a commit a moment
    after the store has it; then it looks for more.
    """
    end = core.store.log.ends()[0]
    while (done := core.store.batches.progress()).position[0] < end:
        assert core.store.batches.wait(partial(is_after, done), LIMIT_S)
        core.raise_failure()
    pairs = wanted.group_by(["subscriber", "offset"]).aggregate([])
    due = Counter(pairs.column("subscriber").to_pylist())
    found = _Rows()
    limit_s = LIMIT_S
    for number in range(SUBSCRIBERS):
        name = f"subscriber-{number}"
        left = due[name]
        while some := core.courier.take(name, 1_000, limit_s if left > 0 else 0):
            for one in some:
                found.add(name, one.sequence // GAP, one.subscription_ids)
            left -= len(some)
            core.ack(name, Acknowledgement(some[-1].sequence))
        if left > 0:  # something is lost: the others need not be waited for as well
            limit_s = 0.0
    return found.table()


def stored(store: Store, born: dict[str, int]) -> pa.Table:
    """What the mailboxes hold of all subscribers since they were registered, a row per match."""
    found = _Rows()
    end = store.batches.progress().sequence
    for name, offset in born.items():
        start = offset * GAP
        while start < end:
            queued = store.mailboxes.queued(name, start, 1_000)
            sequences = queued.sequences.tolist()
            for sequence, ids in zip(sequences, queued.subscription_ids, strict=True):
                found.add(name, sequence // GAP, ids)
            start = queued.end
    return found.table()


class _Rows:
    """Rows of `NOTIFIED`; each publication is notified once to a subscriber."""

    def __init__(self) -> None:
        self._columns: tuple[list[str], list[int], list[str]] = [], [], []
        self._seen: set[tuple[str, int]] = set()

    def add(self, subscriber: str, offset: int, ids: Any) -> None:
        assert (subscriber, offset) not in self._seen
        assert list(ids) == sorted(set(ids))
        self._seen.add((subscriber, offset))
        names, offsets, found = self._columns
        names += [subscriber] * len(ids)
        offsets += [offset] * len(ids)
        found += ids

    def table(self) -> pa.Table:
        return pa.table([*map(pa.array, self._columns)], schema=NOTIFIED)


@dataclass(frozen=True)
class Version:
    """A subscription from one change of it to the next."""

    subscriber: str
    id: str
    stream: str
    filter: str
    start: int
    end: int


def history(log: Log) -> tuple[list[Version], dict[str, int]]:
    """All versions of all subscriptions, and from where on each subscriber has its queue."""
    last = log.ends()[0]
    standing: dict[tuple[str, str], Version] = {}
    ended: list[Version] = []
    born: dict[str, int] = {}

    def end(keys: list[tuple[str, str]], at: int) -> None:
        for key in keys:
            was = standing.pop(key)
            ended.append(Version(was.subscriber, was.id, was.stream, was.filter, was.start, at))

    for entry in log.changes(0, log.changes_end()):
        at = entry.acts_from[0]
        for row in entry.changes.to_pylist():
            key = row["subscriber"], row["id"]
            if row["kind"] == "subscriber":
                born[row["subscriber"]] = at
            elif row["kind"] == "forget":
                end([other for other in standing if other[0] == row["subscriber"]], at)
            elif row["kind"] in ("subscribe", "unsubscribe"):
                end([key] if key in standing else [], at)
                if row["kind"] == "subscribe":
                    standing[key] = Version(*key, row["stream"], row["text"], at, last)
    end(list(standing), last)
    return ended, born


def exported(store: Store) -> dict[str, pa.Table]:
    """The publications of each stream with their offsets; times without a zone."""
    schemas = store.registry.streams()
    parts: dict[str, list[pa.Table]] = {}
    for entry in store.log.read(0, 0, store.log.ends()[0]):
        assert entry.damage is None
        batch = decode_entry(entry.attributes, entry.encoding, schemas[entry.stream])
        rows = batch if entry.rows is None else batch.take(pa.array(entry.rows))
        table = pa.Table.from_batches([rows])
        for place, field in enumerate(table.schema):
            if pa.types.is_timestamp(field.type):
                naive = table.column(place).cast(pa.timestamp("us"))
                table = table.set_column(place, field.name, naive)
        offsets = pa.array(range(entry.first, entry.first + entry.count), pa.int64())
        parts.setdefault(entry.stream, []).append(table.append_column("offset", offsets))
    return {stream: pa.concat_tables(tables) for stream, tables in parts.items()}


def expected(store: Store) -> pa.Table:
    """What DuckDB finds on the log and the history of its subscriptions, a row per match."""
    versions, born = history(store.log)
    found: list[pa.Table] = []
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        for stream, table in exported(store).items():
            connection.register("given", table)
            connection.execute(f'CREATE TABLE {stream} AS SELECT * FROM given ORDER BY "offset"')
        for one in versions:
            start = max(one.start, born[one.subscriber])
            if start >= one.end:
                continue
            span = f'"offset" >= {start} AND "offset" < {one.end}'
            query = f'SELECT "offset" FROM {one.stream} WHERE {span} AND ({one.filter})'
            offsets = connection.sql(query).to_arrow_table().column(0)
            names = [pa.repeat(text, len(offsets)) for text in (one.subscriber, one.id)]
            found.append(pa.table([names[0], offsets, names[1]], schema=NOTIFIED))
    return pa.concat_tables(found)


def check_same(given: pa.Table, wanted: pa.Table) -> None:
    """Fails where two tables of `NOTIFIED` differ as multisets, with some of the differences."""
    with duckdb.connect() as connection:
        connection.register("given", given)
        connection.register("wanted", wanted)
        for left, right in (("given", "wanted"), ("wanted", "given")):
            query = f"(SELECT * FROM {left}) EXCEPT ALL (SELECT * FROM {right})"
            more = connection.execute(f"{query} ORDER BY ALL LIMIT 5").fetchall()
            assert not more, f"{left} has more than {right}: {more}"
    assert len(given) == len(wanted)


def log_alone(path: Path, target: Path) -> Path:
    """A copy of a store that was closed, with nothing in it but the log; nobody has a cursor.

    What is in the write-ahead file stays there while workers of Spark still read the log.
    """
    target.mkdir()
    for name in ("format", "log.db", "log.db-wal"):
        if (path / name).exists():
            shutil.copy(path / name, target / name)
    with closing(Directory(target)) as directory, closing(EmbeddedLog(directory)) as log:
        cursors = EmbeddedCursors(log)
        cursors.write(dict.fromkeys(dict(cursors.all())))
    return target
