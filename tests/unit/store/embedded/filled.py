"""A store on disk with something of everything in it."""

from dataclasses import replace
from pathlib import Path

from tests.contract.feed import GAP, batch_of
from tests.contract.stores import SCHEMA, Body, changes, publications
from wherecast.store.embedded.store import EmbeddedStore
from wherecast.store.records import Cursor, DeadLetter

EACH = 5


def add_batch(store: EmbeddedStore, epoch: int, dead: tuple[DeadLetter, ...] = ()) -> None:
    """Publishes some, and matches them."""
    start = store.log.ends()
    bodies = [Body(start[0] + n, f"id-{start[0] + n}", b"payload") for n in range(EACH)]
    store.log.append(publications(bodies), at=1)
    end = start[0] + EACH
    batch = batch_of(0, start[0], end, store.log.changes_end())
    store.batches.commit(replace(batch, dead_letters=dead, at=1), epoch)


def match_all(store: EmbeddedStore, start: int = 0) -> None:
    """Commits a batch of everything from an offset on: only what was matched is ever trimmed."""
    end = store.log.ends()
    batch = batch_of(0, start, end[0], store.log.changes_end())
    store.batches.commit(replace(batch, at=1), store.batches.begin())


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
    through, beyond = EACH * GAP, frozenset({(EACH + 3) * GAP - 1})
    store.cursors.write({"ana": Cursor(through, beyond), "bo": Cursor()})
    store.close()
