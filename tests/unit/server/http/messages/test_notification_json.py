"""Notifications as JSON: the same from memory and from the log, and never much at once."""

from collections.abc import Iterator

import orjson
import pytest

pytest.importorskip("fastapi")

import wherecast as wc
from wherecast.broker.broker_core import BrokerCore
from wherecast.delivery import Notification
from wherecast.server.http.messages.notification_json import (
    Objects,
    objects_at_hand,
    objects_within,
)
from wherecast.store.open_store import open_store

SCHEMA = wc.Schema.from_dict({"n": "int"})
PAYLOAD = b"x" * 10_000


@pytest.fixture
def core() -> Iterator[BrokerCore]:
    """A core at which ana gets everything."""
    made = BrokerCore(open_store("memory:"), SCHEMA)
    made.register("ana")
    made.registrar.subscribe(wc.Subscription("s1", "n >= 0", "ana"), 0)
    yield made
    made.close()


def handed(core: BrokerCore, count: int) -> tuple[Notification, ...]:
    """So many publications, published and handed out."""
    core.publish([wc.Publication({"n": n}, payload=PAYLOAD) for n in range(count)], "default")
    taken: tuple[Notification, ...] = ()
    while len(taken) < count:
        taken = core.courier.take("ana", count, 60)
    return taken


def at_hand(core: BrokerCore, some: tuple[Notification, ...], bytes_max: int = 1 << 20) -> Objects:
    found = objects_at_hand(core, some, bytes_max)
    assert found is not None
    return found


def test_from_memory_they_are_what_the_log_says(core: BrokerCore) -> None:
    some = handed(core, 3)
    there = at_hand(core, some)
    core._shelf._kept.clear()
    core._shelf._firsts.clear()
    assert objects_at_hand(core, some, 1 << 20) is None
    assert there == objects_within(core, "ana", some, 1 << 20)
    first = orjson.loads(there.each[0])
    assert first["publication"]["attributes"] == {"n": 0}
    assert first["subscription_ids"] == ["s1"]
    assert first["redelivered"] is False


def test_they_are_few_and_not_much(core: BrokerCore) -> None:
    some = handed(core, 17)
    assert objects_at_hand(core, some, 1 << 20) is None
    assert objects_at_hand(core, (), 1 << 20) is None
    for found in (at_hand(core, some[:16], 30_000), objects_within(core, "ana", some, 30_000)):
        assert found.used == len(found.each) == 3
    assert at_hand(core, some[:2], 1).used == 1
