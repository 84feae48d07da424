"""What is derived is rebuilt after damage, a damaged record is passed over, the rest is served."""

from pathlib import Path

import apsw
import pytest

from tests.unit.broker.brokers import SCHEMA, Open, opener, taken, values
from wherecast.broker.broker_core import BrokerCore
from wherecast.broker.subscriber import Subscriber
from wherecast.store.changes import compaction
from wherecast.store.embedded.store import EmbeddedStore
from wherecast.store.open_store import open_store

COUNT = 5
HARM_TO_REGISTRY = "UPDATE subscriptions SET at = 1 << 62"


def publish(tmp_path: Path) -> Path:
    """The directory of a broker whose subscriber has a segment for each of its notifications."""
    with opener("durable", tmp_path)() as broker:
        ana = broker.subscriber("ana")
        ana.subscribe("no2 > 0", id="s1")
        for number in range(1, COUNT + 1):
            broker.publisher("p").publish({"no2": float(number)})
            taken(ana, number)
    return next(path.parent for path in tmp_path.rglob("batches.db"))


def spoil(path: Path) -> None:
    """Damages every segment."""
    connection = apsw.Connection(str(path / "batches.db"))
    connection.execute("UPDATE segments SET data = zeroblob(length(data))")
    connection.close()


def test_they_are_counted(tmp_path: Path) -> None:
    path = publish(tmp_path)
    spoil(path)
    with opener("durable", tmp_path)() as broker:
        assert broker.subscriber("ana").queued == COUNT


def test_they_are_delivered_by_a_process_that_does_not_match(tmp_path: Path) -> None:
    path = publish(tmp_path)
    spoil(path)
    core = BrokerCore(open_store(path), SCHEMA, path, runs_pipeline=False)
    found = taken(Subscriber("ana", core), COUNT)
    assert values(found) == [float(number) for number in range(1, COUNT + 1)]
    core.close()


def execute(tmp_path: Path, statement: str) -> None:
    """Executes a statement on the log of the only store."""
    connection = apsw.Connection(str(next(tmp_path.rglob("log.db"))))
    connection.execute(statement)
    connection.close()


def damaged_changes(tmp_path: Path, *versions: int) -> Open:
    """A broker with the changes: stream, ana, s1, bo, s2; some of which are damaged."""
    opened = opener("durable", tmp_path)
    with opened() as broker:
        broker.subscriber("ana").subscribe("no2 > 0", id="s1")
        broker.subscriber("bo").subscribe("no2 > 1", id="s2")
    path = next(tmp_path.rglob("log.db"))
    connection = apsw.Connection(str(path))
    for version in versions:
        connection.execute("UPDATE changes SET batch = x'00' WHERE version = ?", (version,))
    assert connection.execute("SELECT count(*) FROM changes").get == 5
    connection.close()
    return opened


LOST = {0: {"ana", "bo"}, 1: set(), 2: {"ana"}, 3: set(), 4: {"bo"}}
"""Whose subscriptions go with a damaged change; without its schema a stream has none."""


@pytest.mark.parametrize("version", range(5))
def test_with_a_damaged_registry_a_damaged_change_is_passed_over_and_can_be_made_again(
    tmp_path: Path, version: int
) -> None:
    opened = damaged_changes(tmp_path, version)
    execute(tmp_path, HARM_TO_REGISTRY)
    with opened() as broker:
        broker.publisher("p").publish({"no2": 2.0})
        for name in {"ana", "bo"} - LOST[version]:
            assert values(taken(broker.subscriber(name), 1)) == [2.0]
        for name in LOST[version]:
            subscriber = broker.subscriber(name)
            assert not subscriber.subscriptions()
            subscriber.subscribe("no2 > 3", id="s1" if name == "ana" else "s2")
        broker.publisher("p").publish({"no2": 4.0})
        for name in LOST[version]:
            assert values(taken(broker.subscriber(name), 1)) == [4.0]
    with opened() as broker:
        broker.publisher("p").publish({"no2": 5.0})
        for name in ("ana", "bo"):
            expected = [4.0, 5.0] if name in LOST[version] else [2.0, 4.0, 5.0]
            subscriber = broker.subscriber(name)
            assert values(taken(subscriber, len(expected))) == expected
            assert len(subscriber.subscriptions()) == 1


def test_with_a_damaged_registry_the_rest_of_several_damaged_changes_is_served(
    tmp_path: Path,
) -> None:
    opened = damaged_changes(tmp_path, 1, 2)
    execute(tmp_path, HARM_TO_REGISTRY)
    with opened() as broker:
        broker.publisher("p").publish({"no2": 2.0})
        assert values(taken(broker.subscriber("bo"), 1)) == [2.0]
        assert broker.subscriber("ana").queued == 0
    with opened() as broker:
        ana = broker.subscriber("ana")
        ana.subscribe("no2 > 0", id="s1")
        broker.publisher("p").publish({"no2": 4.0})
        assert values(taken(ana, 1)) == [4.0]


@pytest.mark.parametrize("versions", [(0,), (1,), (2,), (3,), (4,), (1, 2), (0, 2, 4)])
def test_what_damaged_changes_made_is_restated(tmp_path: Path, versions: tuple[int, ...]) -> None:
    opened = damaged_changes(tmp_path, *versions)
    for number in (2.0, 3.0):
        with opened() as broker:
            broker.publisher("p").publish({"no2": number})
            for name in ("ana", "bo"):
                subscriber = broker.subscriber(name)
                (notification,) = taken(subscriber, 1)
                assert values([notification]) == [number]
                subscriber.ack(notification)
                assert len(subscriber.subscriptions()) == 1


def test_a_subscription_of_a_restated_stream_can_be_replaced(tmp_path: Path) -> None:
    opened = damaged_changes(tmp_path, 0)
    with opened() as broker:
        broker.subscriber("ana").subscribe("no2 > 9", id="s1")
        broker.subscriber("cy").subscribe("no2 > 0", id="s3")
        broker.publisher("p").publish({"no2": 2.0})
        broker.publisher("p").publish({"no2": 10.0})
        assert values(taken(broker.subscriber("ana"), 1)) == [10.0]
        assert values(taken(broker.subscriber("bo"), 2)) == [2.0, 10.0]
        assert values(taken(broker.subscriber("cy"), 2)) == [2.0, 10.0]


def test_a_subscription_whose_end_was_damaged_stays_ended(tmp_path: Path) -> None:
    opened = opener("durable", tmp_path)
    with opened() as broker:
        ana = broker.subscriber("ana")
        ana.subscribe("no2 > 0", id="s1")
        ana.subscribe("no2 > 1", id="s2")
        ana.unsubscribe("s1")
    execute(tmp_path, "UPDATE changes SET batch = x'00' WHERE version = 4")
    with opened() as broker:
        ana = broker.subscriber("ana")
        assert [one.id for one in ana.subscriptions()] == ["s2"]
        broker.publisher("p").publish({"no2": 0.5})
        broker.publisher("p").publish({"no2": 2.0})
        (notification,) = taken(ana, 1)
        assert values([notification]) == [2.0]
        assert notification.subscription_ids == ("s2",)


def test_what_a_damaged_compacted_change_made_is_restated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "CHANGES_MIN", 2)
    opened = opener("durable", tmp_path)
    with opened() as broker:
        for name in ("ana", "bo", "cy"):
            for number in range(COUNT):
                broker.subscriber(name).subscribe(f"no2 > {number}", id="s1")
        broker.subscriber("cy").unsubscribe("s1")
    path = next(path.parent for path in tmp_path.rglob("log.db"))
    store = EmbeddedStore(path)
    store.log.trim(store.log.ends())
    assert [entry.version for entry in store.log.changes(0, store.log.changes_end())] == [0]
    store.close()
    execute(tmp_path, "UPDATE changes SET batch = x'00'")
    with opened() as broker:
        broker.publisher("p").publish({"no2": 2.0})
        broker.publisher("p").publish({"no2": 5.0})
        for name in ("ana", "bo"):
            assert values(taken(broker.subscriber(name), 1)) == [5.0]
        assert not broker.subscriber("cy").subscriptions()
        assert broker.subscriber("cy").queued == 0


def test_a_queue_outlives_the_damaged_registration_of_its_subscriber(tmp_path: Path) -> None:
    opened = opener("durable", tmp_path)
    with opened() as broker:
        ana = broker.subscriber("ana")
        ana.subscribe("no2 > 0", id="s1")
        broker.publisher("p").publish({"no2": 2.0})
        taken(ana, 1)
        ana.unsubscribe("s1")
    connection = apsw.Connection(str(next(tmp_path.rglob("log.db"))))
    connection.execute("UPDATE changes SET batch = x'00' WHERE version IN (1, 2)")
    connection.close()
    with opened() as broker:
        assert values(taken(broker.subscriber("ana"), 1)) == [2.0]
