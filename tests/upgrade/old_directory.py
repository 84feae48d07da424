"""The directory of layout 1 that is checked in, and what its queues hold.

Its queues and ids would expire as the months pass: so everything here happens an hour after the
last of its records.
"""

import base64
import json
import tarfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from wherecast.broker.broker_core import BrokerCore, CoreEnvironment
from wherecast.broker.publisher import Publisher
from wherecast.broker.subscriber import Subscriber
from wherecast.store.open_store import open_store

FILES = Path(__file__).parent / "layout_1"
EXPECTED: dict[str, list[dict[str, Any]]] = json.loads((FILES / "expected.json").read_text())
LAST_AT = 1794969101043946
NOW = LAST_AT + 3_600_000_000
END = {"no2": 99.0, "city": "Nowhere"}  # every subscriber has a subscription that matches it
_numbers = count()


def unpack(folder: Path) -> Path:
    """The directory as a killed process left it, in a folder."""
    with tarfile.open(FILES / "store.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    return folder / "store"


@contextmanager
def broker_at(path: Path, now: int = NOW) -> Iterator[BrokerCore]:
    """A broker whose clock stands still."""
    store = open_store(path)
    core = BrokerCore(store, None, path, environment=CoreEnvironment(clock=lambda: now))
    with closing(core):
        yield core


def delivered(path: Path) -> dict[str, list[dict[str, Any]]]:
    """What each subscriber receives before a publication that comes now; all is acknowledged.

    Queues are in order, so that everything before has come when that one comes.
    """
    with broker_at(path) as core:
        end = f"end-{next(_numbers)}"
        Publisher("end", core).publish(END, id=end)
        return {name: list(_before(Subscriber(name, core), end)) for name in EXPECTED}


def _before(subscriber: Subscriber, end: str) -> Iterator[dict[str, Any]]:
    while True:
        taken = subscriber.take(1000, timeout=60.0)
        subscriber.ack_through(taken[-1])
        for one in taken:
            publication = one.publication
            if publication.id == end:
                return
            payload = publication.payload
            yield {
                "id": publication.id,
                "attributes": dict(publication.attributes),
                "payload": payload and base64.b64encode(payload).decode(),
                "published_at": str(publication.published_at),
                "subscription_ids": list(one.subscription_ids),
            }
