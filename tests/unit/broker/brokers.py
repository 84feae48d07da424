"""Brokers for tests, in memory and durable, and waiting for what they deliver."""

from collections.abc import Callable
from pathlib import Path

import wherecast as wc
from wherecast.broker.subscriber import Notification, Subscriber

SCHEMA = wc.Schema.from_dict({"no2": "float", "city": "string"})
LIMIT_S = 60.0
"""How long a test waits for what must come."""

Open = Callable[[], wc.Broker]


def opener(kind: str, path: Path) -> Open:
    """Opens a broker of a kind; a durable one again and again on one directory."""
    return lambda: wc.Broker(SCHEMA, data=path / "store" if kind == "durable" else None)


def taken(subscriber: Subscriber, count: int) -> list[Notification]:
    """The first notifications, once there are so many."""
    found: list[Notification] = []
    while len(found) < count:
        before = len(found)
        found = subscriber.take(count, timeout=LIMIT_S)
        assert found, f"only {before} came"
    return found


def values(notifications: list[Notification], name: str = "no2") -> list[object]:
    return [one.publication.attributes[name] for one in notifications]
