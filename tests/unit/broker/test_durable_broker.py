"""What outlives a durable broker, and what a directory is refused for."""

from pathlib import Path

import pytest

import wherecast as wc
from tests.unit.broker.brokers import SCHEMA, Open, opener, taken, values


@pytest.fixture
def open_broker(tmp_path: Path) -> Open:
    return opener("durable", tmp_path)


def test_what_was_not_acknowledged_outlives_the_broker(open_broker: Open) -> None:
    with open_broker() as broker:
        ana = broker.subscriber("ana")
        ana.subscribe("no2 > 0", id="s1")
        publisher = broker.publisher("p")
        for number in (1, 2, 3, 4):
            publisher.publish({"no2": float(number)}, payload=bytes([number]))
        found = taken(ana, 4)
        found[0].ack()
        found[2].ack()
    with open_broker() as broker:
        ana = broker.subscriber("ana")
        again = taken(ana, 2)
        assert values(again) == [2.0, 4.0]
        assert [one.publication for one in again] == [found[1].publication, found[3].publication]
        assert [one.cursor for one in again] == [found[1].cursor, found[3].cursor]
        assert all(one.redelivered for one in again)
        broker.publisher("p").publish({"no2": 5.0})
        assert [one.redelivered for one in taken(ana, 3)] == [True, True, False]
        ana.ack_through(found[3])  # a notification of the earlier life
        assert values(taken(ana, 1)) == [5.0]


def test_what_was_published_and_not_matched_is_matched_later(open_broker: Open) -> None:
    with open_broker() as broker:
        broker.subscriber("ana").subscribe("no2 > 0")
        broker.publisher("p").publish_all([{"no2": float(number)} for number in range(1, 101)])
    with open_broker() as broker:
        assert values(taken(broker.subscriber("ana"), 100)) == list(map(float, range(1, 101)))


def test_subscriptions_streams_and_ids_outlive_the_broker(open_broker: Open) -> None:
    with open_broker() as broker:
        broker.define("water", wc.Schema.from_dict({"level": "int"}))
        broker.subscriber("ana").subscribe("level > 0", id="s1", stream="water")
        broker.publisher("p").publish({"level": 1}, id="x", stream="water")
    with open_broker() as broker:
        ana, publisher = broker.subscriber("ana"), broker.publisher("p")
        assert [(one.id, one.filter, one.stream) for one in ana.subscriptions()] == [
            ("s1", "level > 0", "water")
        ]
        assert publisher.publish({"level": 1}, id="x", stream="water").duplicates == 1
        with pytest.raises(wc.PublicationError, match="another body"):
            publisher.publish({"level": 2}, id="x", stream="water")
        publisher.publish({"level": 3}, stream="water")
        assert values(taken(ana, 2), "level") == [1, 3]


def test_a_forgotten_subscriber_stays_so(open_broker: Open) -> None:
    with open_broker() as broker:
        broker.subscriber("ana").subscribe("no2 > 0")
        broker.publisher("p").publish({"no2": 1.0})
        assert broker.forget("ana")
    with open_broker() as broker:
        ana = broker.subscriber("ana")
        broker.subscriber("bob").subscribe("no2 > 1")
        broker.publisher("p").publish({"no2": 2.0})
        taken(broker.subscriber("bob"), 1)  # so everything is matched
        assert ana.take(10) == []
        assert ana.queued == 0


def test_a_directory_has_one_broker(open_broker: Open) -> None:
    with open_broker() as broker:
        with pytest.raises(wc.StoreError, match="is in use by process"):
            open_broker()
        broker.publisher("p").publish({"no2": 1.0})  # the first one is unharmed
    open_broker().close()


def test_another_schema_is_refused_and_the_directory_is_given_back(tmp_path: Path) -> None:
    path = tmp_path / "store"
    wc.Broker(SCHEMA, data=path).close()
    with pytest.raises(wc.ConfigError, match="stream default is there with another schema"):
        wc.Broker(wc.Schema.from_dict({"no2": "int"}), data=path)
    with (
        wc.Broker(data=path) as broker,  # without one, that of the directory is taken
        pytest.raises(wc.PublicationError, match="unknown attribute"),
    ):
        broker.publisher("p").publish({"humidity": 1.0})


def test_a_place_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(wc.ConfigError, match="cannot use"):
        wc.Broker(SCHEMA, data=tmp_path / "file")
    with pytest.raises(wc.ConfigError, match="is no store, and not empty: it has file"):
        wc.Broker(SCHEMA, data=tmp_path)
    with pytest.raises(wc.ConfigError, match="data is a directory, not the number 5"):
        wc.Broker(SCHEMA, data=5)  # type: ignore[arg-type]
