"""A store on disk with something of everything in it."""

from pathlib import Path

from tests.contract.feed import segment
from tests.contract.stores import SCHEMA, Body, changes, publications
from wherecast.store.embedded.store import EmbeddedStore
from wherecast.store.position import Position
from wherecast.store.records import Batch, Cursor, DeadLetter

EACH = 5


def add_batch(store: EmbeddedStore, epoch: int, dead: tuple[DeadLetter, ...] = ()) -> None:
    """Publishes some, and matches them."""
    start = store.log.ends()
    bodies = [Body(start[0] + n, f"id-{start[0] + n}", b"payload") for n in range(EACH)]
    store.log.append(publications(bodies), at=1)
    end = start[0] + EACH
    parts = (segment(0, start[0], end),)
    batch = Batch(start, Position({0: end}), store.log.changes_end(), parts, dead, at=1)
    store.batches.commit(batch, epoch)


def match_all(store: EmbeddedStore) -> None:
    """Commits a batch of everything that is in the log: only what was matched is ever trimmed."""
    end = store.log.ends()
    parts = (segment(0, 0, end[0]),)
    batch = Batch(Position({0: 0}), end, store.log.changes_end(), parts, at=1)
    store.batches.commit(batch, store.batches.begin())


def fill(path: Path, batches: int = 3) -> None:
    """Makes a store."""
    store = EmbeddedStore(path)
    store.log.change(changes(("stream", "air", "", "", SCHEMA.to_json())), at=1)
    store.log.change(
        changes(("subscribe", "air", "ana", "s1", "no2 > 40"), ("subscriber", "", "bo")), at=2
    )
    epoch = store.batches.begin()
    for number in range(batches):
        letter = DeadLetter("air", 0, number * EACH, "it is bad", 1)
        add_batch(store, epoch, (letter,) if number == 1 else ())
    store.cursors.write({"ana": Cursor(EACH, frozenset({EACH + 2})), "bo": Cursor()})
    store.close()
