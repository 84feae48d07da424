"""One suite for every log and its registry."""

import itertools
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.contract.hand_clock import HandClock
from tests.contract.stores import (
    PLACES,
    SCHEMA,
    Body,
    Place,
    bodies_in,
    changes,
    placed_bodies_in,
    publications,
)
from wherecast.model import SchemaError, SubscriptionSpec
from wherecast.store.changes.projection import replay
from wherecast.store.contracts import Log, Registry
from wherecast.store.ids.publication_ids import generated_id
from wherecast.store.ids.recent_ids import IdWindow
from wherecast.store.position import Position
from wherecast.store.records import CHANGES, Receipt

THREADS = 8
HOUR_US = 3600 * 1_000_000
Open = Callable[[IdWindow | None], Place]


@pytest.fixture
def clock() -> HandClock:
    """The monotonic clock of every log that is opened."""
    return HandClock()


@pytest.fixture(params=PLACES)
def open_place(request: pytest.FixtureRequest, tmp_path: Path, clock: HandClock) -> Iterator[Open]:
    """Opens logs; what is open at the end is closed."""
    opened: list[Place] = []

    def open_one(window: IdWindow | None = None) -> Place:
        opened.append(PLACES[request.param](tmp_path / f"store-{len(opened)}", window, clock))
        return opened[-1]

    yield open_one
    for place in opened:
        place.close()


@pytest.fixture
def place(open_place: Open) -> Place:
    return open_place(None)


@pytest.fixture
def log(place: Place) -> Log:
    return place.log


@pytest.fixture
def registry(place: Place) -> Registry:
    return place.log.registry


def append(log: Log, *bodies: Body, at: int = 0, stream: str = "default") -> Receipt:
    return log.append(publications(bodies, stream), at)


def partitions(log: Log) -> list[int]:
    """Those that have something."""
    return sorted(log.ends())


def everything(log: Log) -> list[Body]:
    return [body for partition in partitions(log) for body in bodies_in(log, partition)]


def numbers(log: Log) -> list[int]:
    return sorted(body.number for body in everything(log))


class TestAppending:
    def test_an_empty_log(self, log: Log) -> None:
        assert log.starts() == log.ends() == Position()
        assert log.changes_end() == log.bytes() == 0
        assert list(log.read(0, 0, 100)) == list(log.changes(0, 100)) == []

    def test_offsets_follow_one_another(self, log: Log) -> None:
        known: dict[tuple[int, int], int] = {}
        for number in range(0, 30, 3):
            receipt = append(log, *(Body(number + row) for row in range(3)))
            assert not receipt.duplicates.any()
            assert not receipt.conflicts.any()
            first = int(receipt.offsets[0])
            assert receipt.offsets.tolist() == [first, first + 1, first + 2]
            assert log.ends()[int(receipt.partitions[0])] >= first + 3
            known |= {(int(receipt.partitions[0]), first + row): number + row for row in range(3)}
        assert log.size() == 30
        for partition in partitions(log):
            for offset, body in placed_bodies_in(log, partition):
                assert known.pop((partition, offset)) == body.number
        assert not known

    def test_records_are_counted_and_skipped(self, log: Log) -> None:
        for number in range(12):
            append(log, *(Body(number) for _ in range(number % 4 + 1)))
        for partition, end in log.ends().items():
            offsets = [offset for offset, _ in placed_bodies_in(log, partition)]
            edges = [0, 1, *offsets, end - 1, end, end + 3]
            for start, stop in itertools.product(edges, edges):
                count = sum(start <= offset < stop for offset in offsets)
                assert log.count(partition, start, stop) == count
            for start in edges:
                left = [offset for offset in offsets if offset >= start]
                for count in range(len(left) + 2):
                    after = log.skip(partition, start, count)
                    if 0 < count <= len(left):
                        assert after == left[count - 1] + 1
                    assert after <= end
                    if start <= end:
                        assert log.count(partition, start, after) == min(count, len(left))
        assert log.size() == sum(number % 4 + 1 for number in range(12))
        log.trim(log.ends())
        assert log.size() == 0

    def test_everything_comes_back(self, log: Log) -> None:
        given = [Body(1, "a", b"\0\xff"), Body(2), Body(3, "ž" * 100), Body(4, None, b"")]
        receipt = append(log, *given, at=7, stream="air")
        (entry,) = log.read(int(receipt.partitions[0]), 0, 4)
        assert (entry.stream, entry.accepted_at, entry.count, entry.first) == ("air", 7, 4, 0)
        assert entry.headers is entry.payloads is None
        assert entry.rows is None
        assert list(bodies_in(log, int(receipt.partitions[0]))) == given

    def test_entries_that_overlap_a_range_are_read_whole(self, log: Log) -> None:
        receipts = [append(log, *[Body(number)] * 5) for number in range(12)]
        for receipt in receipts[:3]:
            partition = int(receipt.partitions[0])
            firsts = [e.first for e in log.read(partition, 0, 10**9)]
            own = [one for one in receipts if one.partitions[0] == partition]
            assert firsts == [int(one.offsets[0]) for one in own]
            one, two, three = firsts[:3]
            assert [e.first for e in log.read(partition, one + 4, three + 1)] == [one, two, three]
            assert [e.first for e in log.read(partition, two, two + 5)] == [two]
            assert [e.first for e in log.read(partition, two + 2, two + 3)] == [two]
            assert list(log.read(partition, two, two)) == []
            assert list(log.read(partition, 10**6, 10**7)) == []

    def test_a_large_entry_among_small_ones(self, log: Log) -> None:
        large = Body(0, None, bytes(9_000_000))
        for number in range(1, 7):
            append(log, Body(number))
            append(log, large)
        assert numbers(log) == [0] * 6 + list(range(1, 7))

    def test_threads_append_beside_one_another(self, log: Log) -> None:
        told: list[list[tuple[Receipt, int]]] = [[] for _ in range(THREADS)]

        def run(thread: int) -> None:
            for number in range(20):
                bodies = [Body(thread * 1000 + number, f"{thread}-{number}"), Body(-1)]
                told[thread].append((append(log, *bodies), thread * 1000 + number))

        in_threads(run)
        expected = {}
        for receipt, number in (one for thread in told for one in thread):
            assert receipt.offsets[1] == receipt.offsets[0] + 1
            expected[int(receipt.partitions[0]), int(receipt.offsets[0])] = number
        found = {
            (partition, offset): body.number
            for partition in partitions(log)
            for offset, body in placed_bodies_in(log, partition)
            if body.number >= 0
        }
        assert found == expected
        assert len(found) == THREADS * 20
        for thread in told:  # what one thread appended is in its order
            for partition in partitions(log):
                offsets = [int(r.offsets[0]) for r, _ in thread if r.partitions[0] == partition]
                assert offsets == sorted(offsets)


class TestIds:
    def test_the_same_again_is_a_duplicate(self, log: Log) -> None:
        append(log, Body(1, "a"), Body(2, "b"))
        for _ in range(3):
            again = append(log, Body(1, "a"), Body(3, "c", b""), Body(9, "b"))
            assert again.duplicates.tolist()[0::2] == [True, False]
            assert again.conflicts.tolist() == [False, False, True]
            assert again.offsets[0] == again.offsets[2] == -1
        assert numbers(log) == [1, 2, 3]

    def test_rows_tell_which_were_appended(self, log: Log) -> None:
        append(log, Body(1, "a"))
        receipt = append(log, Body(1, "a"), Body(2, "b"), Body(9, "a"), Body(3))
        assert receipt.offsets[0] == receipt.offsets[2] == -1
        (entry,) = log.read(int(receipt.partitions[0]), int(receipt.offsets[1]), 10**9)
        assert entry.rows is not None
        assert entry.rows.tolist() == [1, 3]
        assert entry.count == 2
        assert numbers(log) == [1, 2, 3]

    def test_all_of_them_were_there(self, log: Log) -> None:
        append(log, Body(1, "a"))
        before = log.ends()
        receipt = append(log, Body(1, "a"), Body(2, "a"))
        assert receipt.offsets.tolist() == [-1, -1]
        assert log.ends() == before

    def test_an_id_twice_in_one_call(self, log: Log) -> None:
        receipt = append(
            log, Body(1, "a"), Body(2, "b"), Body(1, "a"), Body(3, "a"), Body(2, "b"), Body(4)
        )
        assert receipt.duplicates.tolist() == [False, False, True, False, True, False]
        assert receipt.conflicts.tolist() == [False, False, False, True, False, False]
        assert numbers(log) == [1, 2, 4]

    def test_one_of_many_threads_appends_an_id(self, log: Log) -> None:
        receipts: list[Receipt] = []

        def run(thread: int) -> None:
            receipts.extend(append(log, Body(number, f"id-{number}")) for number in range(20))

        in_threads(run)
        assert numbers(log) == list(range(20))
        assert sum(int(receipt.duplicates.sum()) for receipt in receipts) == (THREADS - 1) * 20

    def test_many_ids(self, log: Log) -> None:
        for start in range(0, 6000, 500):
            append(log, *(Body(number, f"id-{number}") for number in range(start, start + 500)))
        for start in range(0, 6000, 1500):
            ids = [f"id-{number}" for number in range(start, start + 1500, 7)]
            again = append(log, *(Body(int(id[3:]), id) for id in ids), Body(-1, f"new-{start}"))
            assert again.duplicates.tolist() == [True] * len(ids) + [False]

    def test_they_are_free_again_after_the_age(self, open_place: Open, clock: HandClock) -> None:
        log = open_place(IdWindow(age_us=24 * HOUR_US)).log

        def append_at(at: int, body: Body) -> Receipt:
            clock.now = at
            return append(log, body, at=at)

        append_at(0, Body(1, "a"))
        assert append_at(24 * HOUR_US - 1, Body(1, "a")).duplicates[0]
        assert append_at(24 * HOUR_US, Body(2, "a")).offsets[0] >= 0
        assert append_at(47 * HOUR_US, Body(2, "a")).duplicates[0]
        assert append_at(47 * HOUR_US, Body(1, "a")).conflicts[0]

    def test_they_are_free_again_after_so_many(self, open_place: Open) -> None:
        log = open_place(IdWindow(publications=10)).log
        append(log, Body(1, "a"))
        append(log, *(Body(number) for number in range(8)))
        assert append(log, Body(1, "a")).duplicates[0]
        append(log, Body(8))
        assert append(log, Body(1, "a")).offsets[0] >= 0
        assert append(log, Body(1, "a")).duplicates[0]

    def test_ids_that_the_log_gives_are_known(self, log: Log) -> None:
        receipt = append(log, Body(1), Body(2), Body(3, "a"))
        of = [
            generated_id(log.identity, int(receipt.partitions[0]), offset)
            for offset in (*receipt.offsets.tolist(), 10**6)
        ]
        again = append(log, Body(1, of[0]), Body(9, of[1]), Body(3, of[2]), Body(4, of[3]))
        assert again.duplicates.tolist() == [True, False, False, False]
        assert again.conflicts.tolist() == [False, True, False, True]  # the last may be given later
        assert numbers(log) == [1, 2, 3, 3]
        other = append(log, Body(5, generated_id("another", 0, 0)), Body(6, f"{log.identity}-0-x"))
        assert (other.offsets >= 0).all()

    def test_they_outlive_the_log_being_closed(self, place: Place) -> None:
        if place.reopen is None:
            pytest.skip("ends with its process")
        append(place.log, *(Body(number, f"id-{number}") for number in range(100)))
        append(place.log, Body(100, "id-100"), Body(101))
        place = place.reopen()
        again = append(place.log, Body(7, "id-7"), Body(7, "id-100"), Body(102, "id-102"))
        assert again.duplicates.tolist() == [True, False, False]
        assert again.conflicts.tolist() == [False, True, False]
        place.close()


class TestChanges:
    def test_versions_follow_one_another(self, log: Log) -> None:
        first = log.change(changes(("stream", "air", "", "", SCHEMA.to_json())), at=5)
        second = log.change(changes(("subscriber", "", "ana"), ("subscriber", "", "bo")), at=6)
        third = log.change(changes(("forget", "", "bo")), at=7)
        assert (first.version, second.version, third.version) == (0, 1, 3)
        assert log.changes_end() == 4
        entries = list(log.changes(0, 100))
        assert [(e.version, e.at, e.acts_from) for e in entries] == [
            (0, 5, Position()),
            (1, 6, Position()),
            (3, 7, Position()),
        ]
        assert entries[1].changes.to_pylist() == [
            dict.fromkeys(CHANGES.names, "") | {"kind": "subscriber", "subscriber": name}
            for name in ("ana", "bo")
        ]
        assert [e.version for e in log.changes(2, 3)] == [1]
        assert [e.version for e in log.changes(1, 4)] == [1, 3]
        assert list(log.changes(4, 9)) == []

    def test_they_act_from_the_end_of_the_log(self, log: Log) -> None:
        for number in range(10):
            before = append(log, Body(number))
            accepted = log.change(changes(("subscriber", "", f"s{number}")), at=0)
            after = append(log, Body(number))
            assert before.offsets[0] < accepted.acts_from[int(before.partitions[0])]
            assert after.offsets[0] >= accepted.acts_from[int(after.partitions[0])]

    def test_they_act_exactly_among_threads(self, log: Log) -> None:
        receipts: list[list[tuple[int, Receipt, int]]] = [[] for _ in range(THREADS)]
        accepted: list[tuple[int, Position, int]] = []

        def run(thread: int) -> None:
            for number in range(20):
                known = len(accepted)
                if thread:
                    receipt = append(log, Body(number))
                    receipts[thread].append((known, receipt, len(accepted)))
                else:
                    counts = [len(own) for own in receipts]
                    done = log.change(changes(("subscriber", "", f"s{number}")), at=0)
                    for other, count in zip(receipts, counts, strict=True):
                        for _, receipt, _ in other[:count]:
                            assert receipt.offsets[0] < done.acts_from[int(receipt.partitions[0])]
                    accepted.append((number, done.acts_from, done.version))

        in_threads(run)
        for known, receipt, _ in (one for own in receipts for one in own):
            for _, acts_from, _ in accepted[:known]:
                assert receipt.offsets[0] >= acts_from[int(receipt.partitions[0])]

    def test_threads_change_beside_one_another(self, log: Log, registry: Registry) -> None:
        versions: list[int] = []

        def run(thread: int) -> None:
            for number in range(10):
                row = ("subscribe", "default", f"s{thread}", f"{number}", "no2 > 1")
                versions.append(log.change(changes(row, row), at=0).version)

        in_threads(run)
        assert sorted(versions) == list(range(0, THREADS * 20, 2))
        assert log.changes_end() == THREADS * 20
        assert registry.counts()["subscriptions"] == THREADS * 10

    def test_a_change_that_cannot_be_read_changes_nothing(
        self, log: Log, registry: Registry
    ) -> None:
        with pytest.raises(SchemaError):
            log.change(
                changes(
                    ("subscriber", "", "ana"),
                    ("stream", "air", "", "", '{"open":false,"attributes":{}}'),
                ),
                at=0,
            )
        assert log.changes_end() == 0
        assert not registry.has_subscriber("ana")


class TestRegistry:
    def test_what_the_changes_made(self, log: Log, registry: Registry) -> None:
        assert registry.streams() == {}
        assert registry.counts() == {"streams": 0, "subscribers": 0, "subscriptions": 0}
        log.change(
            changes(
                ("stream", "air", "", "", SCHEMA.to_json()),
                ("subscriber", "", "ana"),
                ("subscribe", "air", "ana", "s2", "no2 > 40"),
                ("subscribe", "air", "ana", "s1", "no2 > 1"),
                ("subscribe", "air", "bo", "s1", "no2 > 2"),
                ("subscribe", "air", "ana", "s1", "no2 > 3"),
            ),
            at=1_500_000,
        )
        assert registry.streams() == {"air": SCHEMA}
        assert registry.subscribers() == ["ana", "bo"]
        assert registry.counts() == {"streams": 1, "subscribers": 2, "subscriptions": 3}
        found = registry.subscription("ana", "s1")
        assert found is not None
        assert (found.filter, found.stream, found.subscriber) == ("no2 > 3", "air", "ana")
        assert found.starts_at is not None
        assert found.starts_at.isoformat() == "1970-01-01T00:00:01.500000+00:00"
        log.change(changes(("unsubscribe", "", "ana", "s2"), ("forget", "", "bo")), at=0)
        assert registry.subscription("ana", "s2") is None
        assert registry.subscriptions("bo") == []
        assert not registry.has_subscriber("bo")
        assert registry.counts() == {"streams": 1, "subscribers": 1, "subscriptions": 1}

    def test_pages(self, log: Log, registry: Registry) -> None:
        names = sorted(
            f"{sign}{number}" for sign in ("a", "Z", "ž", "\U0001f600", "￿") for number in range(5)
        )
        log.change(changes(*(("subscribe", "d", name, "x", "a") for name in names[::-1])), at=0)
        log.change(changes(*(("subscribe", "d", "ana", name, "a") for name in names)), at=0)
        names = sorted([*names, "ana"])
        assert registry.subscribers(limit=4) == names[:4]
        assert registry.subscribers(after=names[3], limit=4) == names[4:8]
        assert registry.subscribers(after=names[-1]) == []
        names.remove("ana")
        page = registry.subscriptions("ana", after=names[10], limit=3)
        assert [subscription.id for subscription in page] == names[11:14]

    def test_some_of_a_subscriber(self, log: Log, registry: Registry) -> None:
        assert registry.among("ana", ["a"]) == {}
        assert registry.count("ana") == 0
        names = ["a", "ž", "b\0c", "d"]
        log.change(changes(*(("subscribe", "d", "ana", name, "x") for name in names)), at=0)
        log.change(changes(("subscribe", "d", "bo", "e", "x")), at=0)
        log.change(changes(("unsubscribe", "d", "ana", "d", "")), at=0)
        found = registry.among("ana", [*names, "e", "f"])
        assert found == dict.fromkeys(names[:3], SubscriptionSpec("d", "x"))
        assert registry.among("ana", []) == {}
        assert (registry.count("ana"), registry.count("bo")) == (3, 1)

    def test_of_many_changes_of_one_subscription_the_last_counts(
        self, log: Log, registry: Registry
    ) -> None:
        rows = [
            ("subscribe", "d", f"s{number % 3}", f"{number % 7}", f"a > {number}")
            for number in range(3000)
        ]
        log.change(changes(*rows, ("subscribe", "d", "s0", "0", "b")), at=0)
        expected = replay(log, 3001)
        for name in ("s0", "s1", "s2"):
            assert registry.subscriptions(name) == expected.subscriptions(name)
        last = registry.subscription("s2", "3")
        assert last is not None
        assert last.filter == f"a > {max(n for n in range(3000) if n % 3 == 2 and n % 7 == 3)}"

    def test_it_can_be_rebuilt_at_any_version(self, log: Log, registry: Registry) -> None:
        log.change(changes(("subscribe", "d", "ana", "1", "a"), ("forget", "", "ana")), at=3)
        log.change(changes(("subscribe", "d", "bo", "1", "a"), ("subscriber", "", "c")), at=4)
        assert replay(log, 0).counts()["subscribers"] == 0
        assert replay(log, 1).subscribers() == ["ana"]
        assert replay(log, 2).subscribers() == []
        assert replay(log, 3).subscribers() == ["bo"]
        assert replay(log, 4).subscribers() == registry.subscribers()


_NAMES = st.sampled_from(["ana", "bo", "c\0d", "ž"])
_CHANGE = st.one_of(
    st.tuples(st.just("stream"), _NAMES, st.just(""), st.just(""), st.just(SCHEMA.to_json())),
    st.tuples(st.sampled_from(["subscriber", "forget"]), st.just(""), _NAMES),
    st.tuples(st.just("subscribe"), _NAMES, _NAMES, _NAMES, st.sampled_from(["a > 1", "b"])),
    st.tuples(st.just("unsubscribe"), st.just(""), _NAMES, _NAMES),
)


@pytest.mark.parametrize("kind", PLACES)
def test_the_registry_is_the_projection_of_the_changes(
    kind: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    @given(st.lists(st.lists(_CHANGE, min_size=1, max_size=12), max_size=6))
    def check(batches: list[list[tuple[str, ...]]]) -> None:
        place = PLACES[kind](tmp_path_factory.mktemp("store"), None)
        for number, rows in enumerate(batches):
            place.log.change(changes(*rows), at=number)
        registry, version = place.log.registry, place.log.changes_end()
        assert version == sum(map(len, batches))
        expected = replay(place.log, version)
        assert registry.streams() == expected.streams()
        assert registry.counts() == expected.counts()
        assert registry.subscribers() == expected.subscribers()
        for name in ("ana", "bo", "c\0d", "ž"):
            assert registry.subscriptions(name) == expected.subscriptions(name)
            assert registry.has_subscriber(name) == expected.has_subscriber(name)
        place.close()

    check()


class TestTrimming:
    def test_entries_wholly_before_a_position_go(self, log: Log) -> None:
        receipts = [append(log, *[Body(number, None, bytes(100))] * 5) for number in range(12)]
        firsts: dict[int, list[int]] = {}
        for receipt in receipts:
            firsts.setdefault(int(receipt.partitions[0]), []).append(int(receipt.offsets[0]))
        full = log.bytes()
        assert full >= 12 * 5 * 100
        ends = log.ends()
        log.trim(Position({partition: own[2] + 2 for partition, own in firsts.items()}))
        starts = Position({partition: own[2] for partition, own in firsts.items()})
        assert log.starts() == starts
        assert log.ends() == ends
        assert 0 < log.bytes() < full
        for partition in partitions(log):
            assert [e.first for e in log.read(partition, 0, 10**9)] == firsts[partition][2:]
        log.trim(Position())
        assert log.starts() == starts

    def test_all_of_it(self, log: Log) -> None:
        for number in range(6):
            append(log, Body(number, f"{number}"))
        ends = log.ends()
        log.trim(Position({partition: offset + 5 for partition, offset in ends.items()}))
        assert log.starts() == log.ends() == ends
        assert log.bytes() == 0
        assert everything(log) == []
        receipts = [append(log, Body(number)) for number in range(3)]
        for receipt in receipts:
            assert receipt.offsets[0] >= ends[int(receipt.partitions[0])]
        assert numbers(log) == [0, 1, 2]

    def test_ids_that_were_given_stay_taken(self, open_place: Open) -> None:
        place = open_place(IdWindow(publications=10))
        append(place.log, Body(1, "a"), Body(2), Body(3, "b"))
        place.log.trim(place.log.ends())
        if place.reopen is not None:
            place = place.reopen()
        again = append(place.log, Body(1, "a"), Body(9, "b"), Body(4, "c"))
        assert again.duplicates.tolist() == [True, False, False]
        assert again.conflicts.tolist() == [False, True, False]
        for number in range(10):
            append(place.log, Body(number))
            place.log.trim(place.log.ends())
        assert (append(place.log, Body(1, "a"), Body(9, "b"), Body(9, "c")).offsets >= 0).all()
        place.close()

    def test_ids_that_the_log_gave_are_free_again(self, log: Log) -> None:
        receipt = append(log, Body(1), Body(2))
        log.trim(log.ends())
        given = generated_id(log.identity, int(receipt.partitions[0]), int(receipt.offsets[1]))
        assert append(log, Body(3, given)).offsets[0] >= 0

    def test_changes_stay(self, log: Log) -> None:
        log.change(changes(("subscriber", "", "ana")), at=0)
        append(log, Body(1))
        log.trim(log.ends())
        assert [entry.version for entry in log.changes(0, 9)] == [0]


class TestReopening:
    @pytest.fixture(autouse=True)
    def _only_what_lasts(self, place: Place) -> None:
        if place.reopen is None:
            pytest.skip("ends with its process")

    def test_everything_is_there(self, place: Place) -> None:
        given = [Body(number, f"{number}", bytes(number)) for number in range(50)]
        append(place.log, *given)
        append(place.log, Body(50), Body(1, "1"))
        accepted = place.log.change(changes(("subscribe", "air", "ana", "s", "no2 > 1")), at=9)
        identity, ends, size = place.log.identity, place.log.ends(), place.log.bytes()
        assert place.reopen
        place = place.reopen()
        log = place.log
        assert (log.identity, log.ends(), log.bytes()) == (identity, ends, size)
        assert everything(log) == [*given, Body(50)]
        (entry,) = log.changes(0, log.changes_end())
        assert (entry.version, entry.acts_from, entry.at) == (0, accepted.acts_from, 9)
        assert log.registry.subscribers() == ["ana"]
        assert append(log, Body(51)).offsets[0] == ends[0]
        place.close()

    def test_what_was_trimmed_stays_away(self, place: Place) -> None:
        append(place.log, Body(1))
        ends = place.log.ends()
        place.log.trim(ends)
        assert place.reopen
        place = place.reopen()
        assert place.log.starts() == place.log.ends() == ends
        place.close()


def in_threads(run: Callable[[int], None]) -> None:
    """Runs a function with the numbers of threads, and gives the first error of one."""
    errors: list[BaseException] = []
    begin = threading.Barrier(THREADS)

    def guarded(thread: int) -> None:
        try:
            begin.wait(60)
            run(thread)
        except BaseException as error:
            errors.append(error)
            raise

    threads = [threading.Thread(target=guarded, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()
    if errors:
        raise errors[0]


class TestWait:
    @pytest.fixture(autouse=True)
    def only_wakings(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Has those who wait look again only where they are woken."""
        monkeypatch.setattr("wherecast.store.wake._LOOK_AGAIN_S", 3600.0)

    def test_what_is_there_is_not_waited_for(self, log: Log) -> None:
        assert not log.wait(lambda ends: len(ends) > 0, 0)
        append(log, Body(1))
        assert log.wait(lambda ends: len(ends) > 0, 0)
        assert not log.wait(lambda ends: len(ends) == 0, 0.01)

    def test_a_record_wakes(self, log: Log) -> None:
        reached = threading.Semaphore(0)

        def wait() -> None:
            known = Position()
            for _ in range(5):
                assert log.wait(lambda ends, known=known: ends != known, 60)
                known = log.ends()
                reached.release()

        waiting = [threading.Thread(target=wait) for _ in range(2)]
        for thread in waiting:
            thread.start()
        for number in range(5):
            append(log, Body(number))
            assert reached.acquire(timeout=60)
            assert reached.acquire(timeout=60)
        for thread in waiting:
            thread.join(60)

    def test_whoever_is_woken_looks_again(self, log: Log) -> None:
        looks, is_true = threading.Semaphore(0), threading.Event()

        def look(_: Position) -> bool:
            looks.release()
            return is_true.is_set()

        thread = threading.Thread(target=log.wait, args=(look, 60))
        thread.start()
        assert looks.acquire(timeout=60)
        is_true.set()
        log.wake()
        thread.join(60)
        assert not thread.is_alive()
