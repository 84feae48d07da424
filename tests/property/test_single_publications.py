"""A publication that is published alone comes to the same as one that is published in a list."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

import wherecast as wc
from tests.property.odd_rows import odd_row
from tests.property.strategies import make_row
from tests.property.test_plain_rows import ODD_NAMES, ODD_VALUES, WIDE
from tests.seeds import random_of
from wherecast.columns.log_encoding import decode_entry
from wherecast.columns.rows import rows_of
from wherecast.store.contracts import Store

LIMIT_S = 60.0
TEXTS = [
    "f > 1", "g <= 50 AND h >= 0", "s LIKE 'a%' OR b", "i IS NULL", "i % 2 = 0", "j > 3 AND NOT b",
    "array_contains(tags, 'a')", "n.x < 0 OR n.y.z = 'b'", "f / i > 1", "lower(s) = 'a'",
]  # fmt: skip
IDS = ["a", "b", "c", "d", "e", "é" * 256, "x" * 257, "", "\ud800", 5, None, None, None, None]
PAYLOADS = [None, None, b"", b"x", bytes(300), b"\xff" * (1 << 20), bytearray(b"x"), "x"]
MOMENTS = [
    None, None, None, datetime(2026, 5, 1, tzinfo=UTC), datetime(2026, 5, 1, 12, 0, 0, 1),
    datetime.min.replace(tzinfo=UTC), datetime.max, date(2026, 5, 1), "2026-05-01",
]  # fmt: skip


def odd_publication(random: Random, schema: wc.Schema) -> wc.Publication:
    """A publication of which anything may be odd; plain ones are frequent, repeated bodies too."""
    names = "fghijsbkm"
    row: Any = {name: value for name, value in make_row(random, schema).items() if name in names}
    if random.random() < 0.3:
        row = {"i": random.randrange(2)}
    if random.random() < 0.2:
        row = odd_row(random, schema, row)
    if random.random() < 0.15:
        row[random.choice(ODD_NAMES)] = random.choice(ODD_VALUES)
    if random.random() < 0.03:
        row = random.choice([None, [], "x", 5])
    return wc.Publication(
        row,
        random.choice(IDS),  # type: ignore[arg-type]
        random.choice(PAYLOADS) if random.random() < 0.3 else None,  # type: ignore[arg-type]
        random.choice(MOMENTS) if random.random() < 0.3 else None,  # type: ignore[arg-type]
        timedelta(hours=1) if random.random() < 0.03 else None,
    )


@contextmanager
def broker_of(schema: wc.Schema, data: Path | None) -> Iterator[tuple[wc.Broker, Any]]:
    with wc.Broker(schema, data=data) as broker:
        subscriber = broker.subscriber("ana")
        for number, text in enumerate(TEXTS):
            subscriber.subscribe(text, f"{number}")
        yield broker, subscriber


def alone(broker: wc.Broker, given: wc.Publication, name: str) -> Any:
    """What came of a publication that was published alone: counts, offset and problems."""
    try:
        done = broker.publisher(name).publish(given)
    except wc.PublicationError as error:
        return error.problems
    return done.accepted, done.duplicates, done.first, done.last


def either(broker: wc.Broker, given: wc.Publication, name: str) -> Any:
    """The same for one that is published in one way or the other."""
    is_even = broker._core.store.log.ends()[0] % 2 == 0
    return (alone if is_even else listed)(broker, given, name)


def listed(broker: wc.Broker, given: wc.Publication, name: str) -> Any:
    """The same for one that was published in a list."""
    done = broker.publisher(name).publish_all([given])
    for _, error in done.errors:
        return error.problems
    return done.accepted, done.duplicates, done.first, done.last


def log_of(store: Store, schema: wc.Schema) -> tuple[list[Any], set[str]]:
    """All publications of the log but for their times, and how they are written."""
    found: list[Any] = []
    encodings: set[str] = set()
    for one in store.log.read(0, 0, store.log.ends()[0], headers=True, payloads=True):
        assert one.headers is not None
        assert one.payloads is not None
        rows = rows_of(decode_entry(one.attributes, one.encoding, schema), schema)
        headers, payloads = one.headers.to_pylist(), one.payloads.to_pylist()
        found += zip(map(_exactly, rows), headers, payloads, strict=True)
        encodings.add(one.encoding)
    return found, encodings


def _exactly(row: Mapping[str, Any]) -> str:
    """Attributes in any order, of which 1, 1.0 and True, and the two zeros, are told apart."""
    return repr(sorted(row.items()))


def received(subscriber: Any) -> list[Any]:
    return [
        (
            one.cursor,
            _exactly(one.publication.attributes),
            one.publication.id,
            one.publication.payload,
            one.publication.publisher,
            one.subscription_ids,
            one.redelivered,
        )
        for one in subscriber.take(100_000, timeout=LIMIT_S)
    ]


def results(publish: Any, job: str, schema: wc.Schema, data: Path | None) -> list[Any]:
    """All outcomes, the log and what was received, for one way to publish."""
    random = random_of(job)
    given: list[tuple[wc.Publication, str]] = []
    for _ in range(80):
        one, name = odd_publication(random, schema), random.choice("pq")
        if given and random.random() < 0.3:  # an earlier one again, perhaps with another payload
            earlier, name = random.choice(given)
            one = replace(earlier, payload=random.choice([earlier.payload, b"other"]))
        given.append((one, name))
    with broker_of(schema, data) as (broker, subscriber):
        outcomes = [publish(broker, one, name) for one, name in given]
        store = broker._core.store
        log, encodings = log_of(store, schema)
        assert ("rows" in encodings) == (publish is not listed)
        broker.publisher("p").publish_all([{"f": 2.0}])  # the last one that ana gets
        ends = store.log.ends()
        assert store.batches.wait(lambda progress: progress.position.reaches(ends), LIMIT_S)
        got = received(subscriber)
        dead = list(broker.dead_letters())
        identity = store.log.identity
    return [outcomes, log, [repr(one).replace(identity, "log") for one in got], dead]


@pytest.mark.parametrize(
    ("publish", "kind"), [(alone, "memory"), (either, "memory"), (alone, "durable")]
)
@pytest.mark.parametrize("is_open", [False, True])
def test_it_makes_no_difference_whether_a_publication_comes_alone(
    publish: Any, kind: str, is_open: bool, tmp_path: Path
) -> None:
    schema, job = wc.Schema(WIDE.attributes, is_open), f"single {kind} {is_open}"
    data = tmp_path if kind == "durable" else None
    found = results(publish, job, schema, data and data / "alone")
    wanted = results(listed, job, schema, data and data / "listed")
    for mine, other in zip(found, wanted, strict=True):
        assert mine == other
