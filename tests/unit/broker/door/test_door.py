"""The door: what comes together is written together, in one order, and everybody hears of it."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest

import wherecast as wc
from wherecast.broker.door.door import Door
from wherecast.broker.door.door_calls import DoorCall, DoorItem, PendingRow, RowReceipt
from wherecast.broker.door.door_group import WrittenGroup
from wherecast.broker.intake.single_publication import SingleIntake
from wherecast.model.errors import StoreError
from wherecast.store.open_store import open_store
from wherecast.store.records import Cursor
from wherecast.store.store_items import (
    CursorWrites,
    PendingCursors,
    PendingPublications,
    PendingTick,
    StoreItem,
    StoreResult,
)

LIMIT_S = 60
SCHEMA = wc.Schema.from_dict({"no2": "float"})
INTAKE = SingleIntake("default", SCHEMA)


class HeldStore:
    """A store in memory whose transactions wait until the test lets them go on."""

    def __init__(self) -> None:
        self.store = open_store("memory:")
        self.groups: list[list[StoreItem]] = []
        self.began = threading.Semaphore(0)
        self.go_on = threading.Semaphore(0)
        self.refuses: Callable[[StoreItem], bool] = lambda item: False
        self.interrupts_at = -1

    def write(self, items: Sequence[StoreItem]) -> list[StoreResult]:
        self.groups.append(list(items))
        self.began.release()
        assert self.go_on.acquire(timeout=LIMIT_S)
        if len(self.groups) - 1 == self.interrupts_at:
            raise KeyboardInterrupt
        if any(map(self.refuses, items)):
            raise StoreError("disk full")
        return self.store.write(items)

    def sizes(self) -> list[int]:
        return [len(group) for group in self.groups]


class Handed(threading.Thread):
    """A thread that hands an item in."""

    def __init__(self, door: Door, item: DoorItem, key: str = "") -> None:
        super().__init__()
        self.result: Any = None
        self.error: BaseException | None = None
        self._call = lambda: door.write(item, key)
        self.start()

    def run(self) -> None:
        try:
            self.result = self._call()
        except (StoreError, KeyboardInterrupt) as error:
            self.error = error


def row(value: float, id: str | None = None) -> PendingRow:
    one = INTAKE.read(wc.Publication({"no2": value}, id), "")
    assert one is not None
    return PendingRow(one, 0)


def waits_for(door: Door, count: int) -> None:
    for _ in range(LIMIT_S * 1000):
        if door.waiting == count:
            return
        threading.Event().wait(0.001)
    raise AssertionError(f"{door.waiting} wait, not {count}")


def started(
    door: Door, held: HeldStore, items: Sequence[DoorItem], keys: Sequence[str] | None = None
) -> list[Handed]:
    """Threads that hand items in: the first leads alone, the others wait meanwhile, in order."""
    names = keys or [""] * len(items)
    threads = [Handed(door, items[0], names[0])]
    assert held.began.acquire(timeout=LIMIT_S)
    for count, (item, key) in enumerate(zip(items[1:], names[1:], strict=True), 1):
        threads.append(Handed(door, item, key))
        waits_for(door, count)
    return threads


def ended(threads: Sequence[threading.Thread]) -> None:
    for thread in threads:
        thread.join(LIMIT_S)
        assert not thread.is_alive()


def door_to(held: HeldStore, **more: Any) -> Door:
    return Door(held, **more)


def test_who_comes_during_a_transaction_shares_the_next_one() -> None:
    held = HeldStore()
    door = door_to(held)
    threads = started(door, held, [PendingTick(0)] * 5)
    held.go_on.release(2)
    ended(threads)
    assert held.sizes() == [1, 4]
    assert [thread.result.offsets.tolist() for thread in threads] == [[0], [1], [2], [3], [4]]
    assert not door.has_leader


def test_single_publications_of_a_stream_become_one_entry() -> None:
    held = HeldStore()
    threads = started(
        door_to(held), held, [row(0), row(1), row(2, "a"), row(3, "a"), row(2, "a"), PendingTick(0)]
    )
    held.go_on.release(2)
    ended(threads)
    assert held.sizes() == [1, 2]
    assert [thread.result for thread in threads[:5]] == [
        RowReceipt(0),
        RowReceipt(1),
        RowReceipt(2),
        RowReceipt(-1, is_conflict=True),
        RowReceipt(-1, is_duplicate=True),
    ]
    entries = list(held.store.log.read(0, 0, 9))
    assert [(entry.count, entry.encoding) for entry in entries] == [
        (1, "rows"),
        (2, "rows"),
        (1, "arrow"),
    ]


def test_a_group_has_a_limit() -> None:
    held = HeldStore()
    threads = started(door_to(held, calls_max=2), held, [PendingTick(0)] * 6)
    held.go_on.release(4)
    ended(threads)
    assert held.sizes() == [1, 2, 2, 1]


def test_nobody_who_floods_holds_up_the_others() -> None:
    held = HeldStore()
    items = [PendingCursors({name: Cursor(1)}) for name in ("x", "a1", "a2", "a3", "a4", "b1")]
    keys = ["x", "a", "a", "a", "a", "b"]
    threads = started(door_to(held, calls_max=2), held, items, keys)
    held.go_on.release(5)
    ended(threads)
    names = [
        [next(iter(item.cursors)) for item in group if isinstance(item, PendingCursors)]
        for group in held.groups
    ]
    assert names == [["x"], ["a1", "b1"], ["a2", "a3"], ["a4"]]


def test_a_bad_item_fails_alone() -> None:
    held = HeldStore()
    held.refuses = lambda item: isinstance(item, PendingTick)
    threads = started(door_to(held), held, [row(0), row(1), PendingTick(0), row(2)])
    held.go_on.release(5)
    ended(threads)
    assert [thread.result for thread in threads] == [
        RowReceipt(0),
        RowReceipt(1),
        None,
        RowReceipt(2),
    ]
    assert [str(thread.error) for thread in threads if thread.error] == ["disk full"]


class Changed:
    """Cursors that have changed."""

    def __init__(self) -> None:
        self.cursors: dict[str, Cursor | None] = {}

    def collect(self) -> CursorWrites:
        found, self.cursors = self.cursors, {}
        return found

    def restore(self, cursors: CursorWrites) -> None:
        self.cursors = {**cursors, **self.cursors}


def test_changed_cursors_ride_with_publications_and_fit_on_a_full_disk() -> None:
    held, changed = HeldStore(), Changed()
    held.refuses = lambda item: isinstance(item, PendingPublications)
    door = door_to(held, cursors=changed)
    changed.cursors = {"ana": Cursor(7)}
    held.go_on.release(4)
    with pytest.raises(StoreError, match="disk full"):
        door.write(row(1))
    assert held.sizes() == [2, 1, 1]  # together, then cursors first
    assert held.store.cursors.read("ana") == Cursor(7)


def test_cursors_that_could_not_be_stored_are_stored_by_whoever_comes_next() -> None:
    held, changed = HeldStore(), Changed()
    held.refuses = lambda item: True
    door = door_to(held, cursors=changed)
    changed.cursors = {"ana": Cursor(7)}
    held.go_on.release(3)
    with pytest.raises(StoreError):
        door.save_cursors()
    assert changed.cursors == {"ana": Cursor(7)}
    held.refuses = lambda item: False
    door.write(row(1))
    assert held.store.cursors.read("ana") == Cursor(7)
    door.save_cursors()  # nothing is left to store
    assert held.sizes() == [1, 2]


def test_followers_see_records_in_order_before_anybody_hears_of_them() -> None:
    held = HeldStore()
    seen: list[tuple[int, int, list[int]]] = []
    told: list[int] = []

    def follow(written: WrittenGroup) -> None:
        seen.append((written.first, written.end, [one.offset for one in written.rows]))
        assert len(told) < len(seen)

    door = door_to(held, follow=follow)
    held.go_on.release(3)
    for item in (row(1), PendingTick(0), row(2)):
        door.write(item)
        told.append(1)
    assert seen == [(0, 1, [0]), (1, 2, []), (2, 3, [2])]


def test_an_interrupted_leader_leaves_nobody_waiting() -> None:
    held = HeldStore()
    door = door_to(held)
    held.interrupts_at = 1
    threads = started(door, held, [PendingTick(0)] * 3)
    held.go_on.release(2)
    ended(threads)
    assert {type(thread.error) for thread in threads[1:]} == {KeyboardInterrupt, StoreError}
    held.go_on.release(1)
    assert door.write(PendingTick(0)).offsets.tolist() == [1]


def test_followers_are_to_look_where_a_leader_was_interrupted_after_the_commit() -> None:
    store = open_store("memory:")
    seen: list[tuple[int, int]] = []

    class Interrupted:
        def write(self, items: Sequence[StoreItem]) -> list[StoreResult]:
            store.write(items)
            raise KeyboardInterrupt

    door = Door(Interrupted(), follow=lambda written: seen.append((written.first, written.end)))
    with pytest.raises(KeyboardInterrupt):
        door.write(row(1))
    assert store.log.ends()[0] == 1
    assert seen == [(-1, -1)]  # nobody knows what was added
    assert not door.has_leader


class TestCommitter:
    def test_its_end_leaves_nobody_without_a_leader(self) -> None:
        held = HeldStore()
        door = door_to(held)
        held.interrupts_at = 1
        ends: list[int] = []
        done: list[DoorCall] = []
        door.open_to_submit()

        def serve() -> None:
            with pytest.raises(KeyboardInterrupt):
                door.serve(lambda: ends.append(len(done)))

        threads: list[threading.Thread] = [*started(door, held, [row(0)])]
        committer = threading.Thread(target=serve)
        committer.start()
        waits_for(door, 1)
        door.submit(row(1), done.append)
        threads.append(Handed(door, row(2)))
        waits_for(door, 3)
        held.go_on.release(2)
        ended([*threads, committer])
        assert [type(call.error) for call in done] == [StoreError]
        assert ends[-1] == 1  # they are told
        held.go_on.release(1)
        assert door.write(row(3)).offset == 1

    def test_it_writes_what_nobody_waits_for(self) -> None:
        held = HeldStore()
        door = door_to(held)
        done: list[Any] = []
        groups: list[int] = []
        door.open_to_submit()
        thread = threading.Thread(target=door.serve, args=(lambda: groups.append(len(done)),))
        thread.start()
        held.go_on.release(100)
        all_done = threading.Event()

        def note(call: DoorCall) -> None:
            done.append(call.result)
            if len(done) == 50:
                all_done.set()

        for number in range(50):
            door.submit(row(number), note)
        assert all_done.wait(LIMIT_S)
        assert [one.offset for one in done] == list(range(50))
        assert door.write(row(50)).offset == 50  # threads may still wait for theirs
        door.stop_serving()
        ended([thread])
        assert groups[-1] == 50
        with pytest.raises(StoreError, match="closing"):
            door.submit(row(1))
        assert door.write(row(51)).offset == 51  # whoever comes leads again

    def test_it_takes_the_lead_over_and_gives_it_back(self) -> None:
        held = HeldStore()
        door = door_to(held)
        threads: list[threading.Thread] = [*started(door, held, [row(0), row(1)])]
        door.open_to_submit()
        committer = threading.Thread(target=door.serve)
        committer.start()
        waits_for(door, 2)
        door.stop_serving()
        held.go_on.release(10)
        ended([*threads, committer])
        assert not door.has_leader
        assert door.write(row(2)).offset == 2
