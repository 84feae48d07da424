"""Whoever matches, the leader of the door or the source, and whatever fails: the queues are right.

A random history passes the door in groups, one publication alone or several together; the source
steps now and then; commits and transactions fail; the process closes, or is killed, and begins
again. What subscribers get is what the model in `tests.histories` says.
"""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from random import Random
from threading import Event
from typing import Any

import pytest

from tests.histories import GAP, SCHEMA, SUBSCRIBERS, Model, Step, define, item_of, random_history
from tests.property.test_histories import DAY_US, KINDS, check_log, check_queues, match_all
from tests.seeds import jobs, random_of
from wherecast import Publication
from wherecast.broker import inline_source
from wherecast.broker.dispatch.acknowledgement import Acknowledgement
from wherecast.broker.dispatch.courier import Courier
from wherecast.broker.door.door import Door
from wherecast.broker.door.door_calls import DoorItem, PendingRow, PendingSave
from wherecast.broker.inline_source import InlineSource
from wherecast.broker.intake.single_publication import SingleIntake
from wherecast.model import StoreError
from wherecast.pipeline.live.repair.mend_segments import mend
from wherecast.store.contracts import Store
from wherecast.store.open_store import open_store
from wherecast.store.store_items import StoreItem, StoreResult

INTAKES = {stream: SingleIntake(stream, SCHEMA) for stream in ("air", "water")}


class FailingStore:
    """Writes to a store; some transactions of several items fail."""

    def __init__(self, store: Store, random: Random) -> None:
        self._store, self._random = store, random

    def write(self, items: Sequence[StoreItem]) -> list[StoreResult]:
        if len(items) > 1 and self._random.random() < 0.1:
            raise StoreError("disk full")
        return self._store.write(items)


class Life:
    """A door, queues and a source over a store, as a broker has them.

    Attributes:
        stored: by subscriber, the sequences whose acknowledgement is stored.
        seen: by subscriber, the sequences that were received in this life or an earlier one.
    """

    def __init__(self, store: Store, random: Random, before: "Life | None") -> None:
        self.stored: dict[str, set[int]] = before.stored if before else _none()
        self.seen: dict[str, set[int]] = before.seen if before else _none()
        self._earlier = {name: set(some) for name, some in self.seen.items()}
        self._acked = {name: set(some) for name, some in self.stored.items()}
        self._random = random
        self.store = store
        self.courier = Courier(store, lambda first, end: None, hurry=lambda: self.source.hurry())
        self.source = InlineSource(store, self.courier, lambda: DAY_US)
        self.door = Door(FailingStore(store, random), self.courier.cursors, self.source.follow)
        self.led = 0  # groups that the leader matched
        for name in SUBSCRIBERS:
            self.courier.open(name)

    def write(self, items: Sequence[DoorItem]) -> None:
        """Hands items in, which are written together."""
        before = self.source.figures.publications
        self.door.open_to_submit()  # the leader below serves what is submitted
        *first, last = items
        for item in first:
            self.door.submit(item)
        with self.source._matching if self._random.random() < 0.1 else nullcontext():
            self.door.write(last)  # while the source matches, the leader leaves it to the source
        self.led += self.source.figures.publications > before
        self.stored |= {name: set(some) for name, some in self._acked.items()}

    @contextmanager
    def commits_fail(self) -> Iterator[None]:
        commit = self.store.batches.commit

        def full(*_: Any) -> Any:
            raise StoreError("the disk is full")

        self.store.batches.commit = full  # type: ignore[method-assign]
        yield
        self.store.batches.commit = commit  # type: ignore[method-assign]

    def step(self) -> None:
        """Lets the source work; its commits may fail."""
        self.source.wake()
        if self._random.random() < 0.3:
            with self.commits_fail():
                self.source.step(Event())
        else:
            self.source.step(Event())

    def receive(self, model: Model, is_all: bool) -> None:
        """Takes what waits, which is what the model says but for what was acknowledged."""
        for _ in range(2 if is_all else 0):  # what is tried again, and what came since
            self.source.wake()
            self.source.step(Event())
        log = self.store.log  # whose offsets may have holes, which the model has not
        entries = log.read(0, 0, log.ends()[0])
        places = [offset for one in entries for offset in range(one.first, one.end)]
        for name in SUBSCRIBERS:
            got = self.courier.take(name, 10**6, 0)
            found = [(one.sequence, list(one.subscription_ids)) for one in got]
            all_ = [((places[at // GAP] + 1) * GAP - 1, ids) for at, ids in model.sequences(name)]
            wanted = [one for one in all_ if one[0] not in self._acked[name]]
            assert found == (wanted if is_all else wanted[: len(found)]), name
            marked = {one.sequence for one in got if one.redelivered}
            assert {one.sequence for one in got} & self._earlier[name] <= marked
            self.seen[name] |= {one.sequence for one in got}
            self._acknowledge(name, [one.sequence for one in got])

    def _acknowledge(self, name: str, sequences: list[int]) -> None:
        if not sequences or self._random.random() < 0.3:
            return
        if self._random.random() < 0.5:
            through = self._random.choice(sequences)
            self._acked[name] |= {one for one in sequences if one <= through}
            done = Acknowledgement(through)
        else:
            some = self._random.sample(sequences, self._random.randrange(1, len(sequences) + 1))
            self._acked[name] |= set(some)
            done = Acknowledgement(sequences=tuple(some))
        assert self.courier.acknowledge([(name, done)]) == [None]
        if self._random.random() < 0.5:
            self.door.save_cursors()
            self.stored |= {one: set(some) for one, some in self._acked.items()}


def _none() -> dict[str, set[int]]:
    return {name: set() for name in SUBSCRIBERS}


def items_of(step: Step, random: Random) -> list[DoorItem]:
    """A step as it is handed in; publications come one by one now and then."""
    if step[0] == "publish" and random.random() < 0.7:
        _, stream, publisher, rows = step
        found: list[DoorItem] = []
        for number, level, id in rows:
            given = Publication({"n": number, "level": level}, id)
            single = INTAKES[stream].read(given, publisher)
            assert single is not None
            found.append(PendingRow(single, DAY_US))
        return found
    return [item_of(step, DAY_US)]


def reopened(life: Life, kind: str, path: Path, random: Random) -> tuple[Store, Path]:
    """The store of the next life; the process ended well, or was killed."""
    is_killed = random.random() < 0.5
    if not is_killed:
        life.source.finish()
        life.write([PendingSave()])
    if kind != "embedded":  # what is in memory stays; another broker takes over
        return life.store, path
    if is_killed:
        path = Path(shutil.copytree(path, path.parent / f"killed-{random.random()}"))
    life.store.close()
    return open_store(path), path


@pytest.mark.parametrize("kind", ["memory-1", "memory-sparse-1", "embedded"])
@pytest.mark.parametrize("job", jobs(20, in_make_test=2, in_release=6))
def test_a_history_that_passes_the_door_leads_to_the_same(
    kind: str, job: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = random_of(f"door {kind} {job}")
    for name, most in (("_RECORDS_MAX", 8), ("_NOTIFICATIONS_MAX", 10), ("_LITTLE", 4)):
        monkeypatch.setattr(inline_source, name, random.choice([1, most, 10 * most]))
    steps, model = random_history(random, 150), Model()
    path = tmp_path / "store"
    store = KINDS[kind].open(tmp_path)
    define(store.log)
    life, led = Life(store, random, None), 0
    while steps:
        some, steps = steps[: (cut := random.randrange(1, 4))], steps[cut:]
        model.walk(some)
        items = [item for step in some for item in items_of(step, random)]
        for group in _groups(items, random):
            life.write(group)
        if random.random() < 0.3:
            life.step()
        if random.random() < 0.3:
            life.receive(model, is_all=random.random() < 0.5)
        if random.random() < 0.05:
            led += life.led
            store, path = reopened(life, kind, path, random)
            life = Life(store, random, life)
    life.receive(model, is_all=True)
    life.receive(model, is_all=True)  # what is left now
    assert led + life.led > (0 if KINDS[kind].is_sparse else 10)
    life.source.finish()
    assert store.batches.progress().count == len(model.records)
    check_log(store.log, model)
    check_queues(store, model, KINDS[kind])
    if kind == "embedded":  # records know what their notifications are made of
        mend(store, 0, store.batches.progress().sequence, DAY_US)
        check_queues(store, model, KINDS[kind])
    with closing(KINDS[kind].replayed(store, path)) as again:
        match_all(again, random)
        check_queues(again, model, KINDS[kind])


def _groups(items: list[DoorItem], random: Random) -> Iterator[list[DoorItem]]:
    """Items that come together."""
    while items:
        count = random.choice([1, 1, 2, 5])
        yield items[:count]
        items = items[count:]
