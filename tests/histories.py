"""Random histories of a log with records of all kinds, and a model of what they lead to.

A history is a list of plain steps. `play` does them on the log of a store; `Model` walks through
the same steps with dictionaries and evaluates every filter alone. The model imports nothing of the
store or the pipeline: it knows the steps, and the definition of sequences and versions.
"""

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa

from tests.contract.stores import changes
from wherecast import Schema
from wherecast.columns import decode_rows
from wherecast.columns.log_encoding import encode_batch
from wherecast.store.contracts import Log
from wherecast.store.position import Position
from wherecast.store.records import HEADERS, LinkMark, Publications, Withdrawals
from wherecast.store.store_items import (
    PendingChanges,
    PendingPublications,
    PendingTick,
    PendingWithdrawals,
    StoreItem,
)

STREAMS = ("air", "water")
SCHEMA = Schema.from_dict({"n": "int", "level": "int"})
SUBSCRIBERS = ("ana", "bob", "čiro")
_TESTS = {">": operator.gt, "<": operator.lt, "=": operator.eq, ">=": operator.ge}
GAP = 2**24  # sequences between two offsets of a log of one partition

Step = tuple[Any, ...]
"""("publish", stream, publisher, [(n, level, id or None), …]), ("withdraw", stream, publisher, id),
("tick",), ("link", name, position, stream, [rows]), ("subscribe", subscriber, id, stream, operator,
level), ("unsubscribe", subscriber, id), ("register", subscriber), ("forget", subscriber), or
("unknown", kind, text)."""


def random_history(random: Random, count: int) -> list[Step]:
    """So many steps; every publication has a number `n` of its own."""
    steps: list[Step] = [("register", name) for name in SUBSCRIBERS]
    numbers = iter(range(10**9))

    def row(id: str | None = None) -> tuple[int, int, str | None]:
        return next(numbers), random.randrange(10), id

    for place in range(count):
        kind = random.random()
        stream, subscriber = random.choice(STREAMS), random.choice(SUBSCRIBERS)
        publisher = random.choice(["", "p", "q"])
        if kind < 0.45:
            rows = [
                row(random.choice([None, f"id-{place}-{at}"]))
                for at in range(random.randrange(1, 6))
            ]
            steps.append(("publish", stream, publisher, rows))
        elif kind < 0.52:
            steps.append(("withdraw", stream, publisher, f"id-{random.randrange(count)}-0"))
        elif kind < 0.59:
            steps.append(("tick",))
        elif kind < 0.64:
            steps.append(
                ("link", "hub", place, stream, [row() for _ in range(random.randrange(3))])
            )
        elif kind < 0.84:
            test = random.choice(list(_TESTS)), random.randrange(10)
            steps.append(("subscribe", subscriber, random.choice("abc"), stream, *test))
        elif kind < 0.92:
            steps.append(("unsubscribe", subscriber, random.choice("abc")))
        elif kind < 0.95:
            steps.append(("unknown", random.choice(["offer", "withdraw", "session", "novel"]), "x"))
        else:
            steps += [("forget", subscriber), ("register", subscriber)]
    return steps


@dataclass
class Model:
    """What a history leads to.

    Attributes:
        records: the number of each publication in the order of the log; None for other records.
        versions: number of changes.
        marks: by link, the position of the last thing that came by it.
        counters: the last counter by stream and publisher.
        expected: by subscriber and number of a publication, the subscriptions that match it.
        current: by version of the change, subscriber and id of each subscription that stands.
    """

    records: list[int | None] = field(default_factory=list)
    versions: int = 0
    marks: dict[str, int] = field(default_factory=dict)
    counters: dict[tuple[str, str], int] = field(default_factory=dict)
    expected: dict[tuple[str, int], list[str]] = field(default_factory=dict)
    current: dict[int, tuple[str, str]] = field(default_factory=dict)
    _standing: dict[tuple[str, str], tuple[str, str, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.versions = len(STREAMS)  # which are defined first

    def walk(self, steps: Sequence[Step]) -> "Model":
        """Takes all steps in turn."""
        for kind, *content in steps:
            getattr(self, f"_{kind}")(*content)
        return self

    def _publish(self, stream: str, publisher: str, rows: list[tuple[int, int, Any]]) -> None:
        for number, level, _ in rows:
            self.records.append(number)
            for (subscriber, id), (on, test, limit) in self._standing.items():
                if on == stream and _TESTS[test](level, limit):
                    self.expected.setdefault((subscriber, number), []).append(id)
        for own in self.expected.values():
            own.sort()
        if publisher:
            key = stream, publisher
            self.counters[key] = self.counters.get(key, 0) + len(rows)

    def _withdraw(self, stream: str, publisher: str, id: str) -> None:
        self.records.append(None)

    def _tick(self) -> None:
        self.records.append(None)

    def _link(self, name: str, position: int, stream: str, rows: list[Any]) -> None:
        self.marks[name] = position
        self._publish(stream, "", rows)

    def _subscribe(self, subscriber: str, id: str, stream: str, test: str, level: int) -> None:
        self._end(lambda key: key == (subscriber, id))
        self._standing[subscriber, id] = stream, test, level
        self.current[self.versions] = subscriber, id
        self.versions += 1

    def _unsubscribe(self, subscriber: str, id: str) -> None:
        self._end(lambda key: key == (subscriber, id))
        self.versions += 1

    def _register(self, subscriber: str) -> None:
        self.versions += 1

    def _forget(self, subscriber: str) -> None:
        self._end(lambda key: key[0] == subscriber)
        self.versions += 1

    def _unknown(self, kind: str, text: str) -> None:
        self.versions += 1

    def _end(self, is_ended: Any) -> None:
        self._standing = {key: held for key, held in self._standing.items() if not is_ended(key)}
        self.current = {at: key for at, key in self.current.items() if not is_ended(key)}

    def sequences(self, subscriber: str) -> list[tuple[int, list[str]]]:
        """The queue of a subscriber in a dense log of one partition: sequences and ids."""
        return [
            ((offset + 1) * GAP - 1, self.expected[subscriber, number])
            for offset, number in enumerate(self.records)
            if number is not None and (subscriber, number) in self.expected
        ]


def define(log: Log) -> None:
    """Defines the streams of every history."""
    log.change(changes(*[("stream", name, "", "", SCHEMA.to_json()) for name in STREAMS]), at=1)


def play(log: Log, steps: Sequence[Step], at: int) -> None:
    """Does steps of a history on a log, whose streams are defined, at a time."""
    for step in steps:
        match item_of(step, at):
            case PendingPublications() as item:
                log.append(item.publications, item.at, item.mark)
            case PendingWithdrawals() as item:
                log.withdraw(item.withdrawals, item.at)
            case PendingTick():
                log.tick(at)
            case PendingChanges() as item:
                log.change(item.changes, at)


def item_of(step: Step, at: int) -> StoreItem:
    """A step of a history as a store takes it, at a time."""
    kind, *content = step
    if kind == "publish":
        return PendingPublications(_publications(*content), at)
    if kind == "withdraw":
        stream, publisher, id = content
        return PendingWithdrawals(Withdrawals(stream, _headers([id], publisher)), at)
    if kind == "tick":
        return PendingTick(at)
    if kind == "link":
        name, position, stream, rows = content
        mark = LinkMark(name, "its log", "its life", Position({0: position}))
        return PendingPublications(_publications(stream, "", rows), at, mark)
    return PendingChanges(changes(_change(kind, content)), at)


def _change(kind: str, content: Sequence[Any]) -> tuple[str, ...]:
    if kind == "subscribe":
        subscriber, id, stream, test, level = content
        return ("subscribe", stream, subscriber, id, f"level {test} {level}")
    if kind == "unknown":
        return (content[0], "", "", "", content[1])
    name = "subscriber" if kind == "register" else kind
    return (name, "", *content)


def _publications(
    stream: str, publisher: str, rows: Sequence[tuple[int, int, Any]]
) -> Publications:
    given = [{"n": number, "level": level} for number, level, _ in rows]
    data = encode_batch(decode_rows(given, SCHEMA).batch, SCHEMA)
    digests = np.array([number for number, _, _ in rows], np.uint64)
    headers = _headers([id for _, _, id in rows], publisher)
    return Publications(stream, data, headers, pa.nulls(len(rows), pa.binary()), digests)


def _headers(ids: Sequence[str | None], publisher: str) -> pa.RecordBatch:
    rows = [{"id": id, "publisher": publisher or None} for id in ids]
    return pa.RecordBatch.from_pylist(rows, HEADERS)
