"""Notifications that were damaged on disk are made again, whoever meets them first."""

from pathlib import Path

import apsw

from tests.unit.client.brokers import SCHEMA, opener, taken, values
from wherecast.client.desk import Desk
from wherecast.client.subscriber import Subscriber
from wherecast.store.embedded.store import EmbeddedStore

COUNT = 5


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
    desk = Desk(EmbeddedStore(path), SCHEMA, path, runs_pipeline=False)
    found = taken(Subscriber("ana", desk), COUNT)
    assert values(found) == [float(number) for number in range(1, COUNT + 1)]
    desk.close()
