"""What is kept, what is removed, and that what is taken from a queue is counted."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

import wherecast as wc
from wherecast.broker.broker_core import BrokerCore, CoreEnvironment
from wherecast.broker.core_limits import Retention
from wherecast.broker.dispatch.acknowledgement import Acknowledgement
from wherecast.broker.dispatch.retention import enforce
from wherecast.broker.intake.intake import prepare
from wherecast.pipeline.live.inline_pipeline import InlinePipeline
from wherecast.pipeline.live.segment_trimming import trim_segments
from wherecast.store.contracts import Store
from wherecast.store.open_store import StoreOptions, open_store
from wherecast.store.records import Cursor

GAP = 2**24  # sequences between two offsets of a log of one partition
SCHEMA = wc.Schema.from_dict({"no2": "int"})
DAY_US = 24 * 3600 * 1_000_000
KINDS = ("memory-1", "memory-3", "embedded")


class DayClock:
    """Two clocks, which the test moves by days: the wall clock may be ahead of the other one."""

    def __init__(self) -> None:
        self.day = 0
        self.days_ahead = 0

    def wall(self) -> int:
        return (self.day + self.days_ahead) * DAY_US

    def monotonic(self) -> int:
        return self.day * DAY_US


class Days:
    """A store in which ten publications come each day; Ana and Bob get all of them."""

    def __init__(self, store: Store, clock: DayClock) -> None:
        self.store = store
        self.clock = clock
        self.core = BrokerCore(store, SCHEMA, environment=CoreEnvironment(clock.wall))
        for name in ("ana", "bob"):
            self.core.registrar.register(name, 0)
            self.core.registrar.subscribe(wc.Subscription("s1", "no2 >= 0", name), 0)
            self.core.courier.open(name)
        self._pipeline = InlinePipeline(store, clock.wall)

    @property
    def now(self) -> int:
        return self.store.log.time(self.clock.wall())

    def pass_days(self, count: int) -> None:
        for _ in range(count):
            for number in range(10):
                one = prepare([wc.Publication({"no2": number})], "default", SCHEMA)
                self.store.log.append(one.good, self.clock.wall())
            while (batch := self._pipeline.next_batch()) is not None:
                progress = self._pipeline.commit(batch)
                self.core.courier.committed(progress.sequence)
            self.clock.day += 1

    def starts_at(self) -> int:
        """The number of records whose notifications were removed."""
        start = self.store.mailboxes.starts_at()
        return start // GAP if len(self.store.log.ends()) == 1 else start

    def trim(self, limits: Retention) -> None:
        enforce(self.store, self.core.courier.trim, self.core.door.save_cursors, limits, self.now)
        trim_segments(self.store)
        enforce(self.store, self.core.courier.trim, self.core.door.save_cursors, limits, self.now)

    def taken(self, name: str) -> int:
        return len(self.core.courier.take(name, 1000, 0))

    def ack(self, name: str, count: int) -> None:
        taken = self.core.courier.take(name, count, 0)
        self.core.ack(name, Acknowledgement(taken[-1].sequence))


@pytest.fixture(params=KINDS)
def days(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Days]:
    kind, clock = request.param, DayClock()
    if kind == "embedded":
        options = StoreOptions(monotonic=clock.monotonic)
        store = open_store(tmp_path / "store", options=options)
    else:
        options = StoreOptions(partitions=int(kind[-1]), monotonic=clock.monotonic)
        store = open_store("memory:", options=options)
    yield Days(store, clock)
    store.close()


def test_what_is_too_old_is_lost_and_counted(days: Days) -> None:
    days.pass_days(10)
    days.ack("bob", 85)
    days.trim(Retention(queue_age=timedelta(days=3)))
    assert days.taken("ana") == 30
    assert days.taken("bob") == 15
    lost = {name: cursor.lost for name, cursor in days.store.cursors.all()}
    assert lost == {"ana": 70, "bob": 0}
    assert days.core.courier.figures("ana").lost == 70
    assert days.starts_at() == 70
    assert days.store.log.size() == 30


def test_a_queue_that_is_closed_is_counted_too(days: Days) -> None:
    days.pass_days(5)
    elsewhere = BrokerCore(days.store, SCHEMA)  # where nobody has asked for a queue
    limits = Retention(queue_age=timedelta(days=2))
    enforce(days.store, elsewhere.courier.trim, elsewhere.door.save_cursors, limits, days.now)
    assert {name: cursor.lost for name, cursor in days.store.cursors.all()} == {
        "ana": 30,
        "bob": 30,
    }


def test_a_queue_that_is_too_large_loses_its_oldest(days: Days) -> None:
    days.pass_days(4)
    days.ack("bob", 30)
    each = days.store.log.bytes() // 40
    days.trim(Retention(queue_bytes_max=25 * each))
    assert 20 <= days.taken("ana") <= 26
    assert days.taken("bob") == 10
    lost = {name: cursor.lost for name, cursor in days.store.cursors.all()}
    assert lost == {"ana": 40 - days.taken("ana"), "bob": 0}


def test_single_acknowledgements_are_not_counted_as_lost(days: Days) -> None:
    days.pass_days(2)
    taken = days.core.courier.take("ana", 20, 0)
    sequences = tuple(taken[place].sequence for place in (3, 5, 15))
    days.core.ack("ana", Acknowledgement(sequences=sequences))
    days.trim(Retention(queue_age=timedelta(days=1)))
    assert days.taken("ana") == 9
    assert days.core.courier.figures("ana").lost == 8


def test_what_everyone_has_acknowledged_is_removed(days: Days) -> None:
    days.pass_days(6)
    for name in ("ana", "bob"):
        days.ack(name, 60)
    days.trim(Retention())
    assert days.starts_at() == 60
    assert days.store.log.size() == 0
    days.pass_days(1)
    assert days.taken("ana") == 10


def test_within_the_limits_nothing_is_removed(days: Days) -> None:
    days.pass_days(5)
    days.trim(Retention())
    assert days.taken("ana") == days.taken("bob") == 50
    assert days.store.log.size() == 50


@pytest.mark.parametrize("name", ["ana", "bob"])
def test_who_has_no_cursor_has_acknowledged_nothing(days: Days, name: str) -> None:
    days.pass_days(2)
    for one in ("ana", "bob"):
        days.ack(one, 20)
    days.core.registrar.register("aaron", 0)
    days.store.cursors.write({name: None})
    trim_segments(days.store)
    assert days.starts_at() == 0
    days.store.cursors.write({name: Cursor(days.store.batches.progress().sequence)})
    trim_segments(days.store)
    assert days.starts_at() == 20


def test_a_clock_that_goes_back_takes_nothing_from_a_queue(days: Days) -> None:
    days.pass_days(9)
    days.clock.day = 1
    days.pass_days(2)
    days.clock.day = 10
    days.trim(Retention())
    assert days.taken("ana") == 80


def held(days: Days) -> list[int]:
    """The days of the publications in the log."""
    log = days.store.log
    found = [
        entry.accepted_at // DAY_US
        for partition in log.ends()
        for entry in log.read(partition, 0, log.ends()[partition])
        for _ in range(entry.count)
    ]
    return sorted(found)


def test_a_stream_keeps_the_log_beyond_what_queues_need(days: Days) -> None:
    long = Retention(queue_age=timedelta(days=100))
    days.core.registrar.define("air", SCHEMA, 0, keep="1d")
    days.core.registrar.define("default", SCHEMA, 0, keep="3d")
    days.pass_days(10)
    days.ack("ana", 100)
    days.ack("bob", 20)
    days.trim(long)
    assert held(days) == sorted([*range(2, 10)] * 10)  # what Bob's queue needs is more
    days.ack("bob", 80)
    days.trim(long)
    assert days.store.mailboxes.starts_at() == days.store.batches.progress().sequence
    assert held(days) == sorted([7, 8, 9] * 10)
    days.core.registrar.define("default", SCHEMA, 0, keep="30d")
    days.pass_days(1)
    for name in ("ana", "bob"):
        days.ack(name, 10)
    days.trim(long)
    assert held(days) == sorted([7, 8, 9, 10] * 10)
    days.core.registrar.define("default", SCHEMA, 0, keep="0s")
    days.trim(long)
    assert held(days) == [10] * 10  # the stream air keeps them
    days.core.registrar.define("air", SCHEMA, 0, keep="0s")
    days.trim(long)
    assert held(days) == []


def test_a_clock_that_jumps_ahead_takes_nothing_from_what_is_kept(days: Days) -> None:
    days.core.registrar.define("default", SCHEMA, 0, keep="30d")
    days.pass_days(3)
    for name in ("ana", "bob"):
        days.ack(name, 30)
    days.clock.days_ahead = 800
    days.trim(Retention())
    assert len(held(days)) == 30
