"""One suite for every log: kinds of records, publishers, link marks and log time."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.contract.hand_clock import HandClock
from tests.contract.stores import (
    PLACES,
    Body,
    Place,
    bodies_in,
    changes,
    headers_of,
    publications,
    withdrawals,
)
from wherecast.store.contracts import Log
from wherecast.store.ids.recent_ids import IdWindow
from wherecast.store.position import Position
from wherecast.store.records import Entry, LinkMark, Receipt, Withdrawals

SECOND = 1_000_000
DAY = 24 * 3600 * SECOND
YEAR = 365 * DAY
START = 50 * YEAR
Open = Callable[[], Place]


@pytest.fixture
def clock() -> HandClock:
    """The monotonic clock of every log that is opened."""
    return HandClock()


@pytest.fixture(params=PLACES)
def open_place(request: pytest.FixtureRequest, tmp_path: Path, clock: HandClock) -> Iterator[Open]:
    opened: list[Place] = []

    def open_one() -> Place:
        path = tmp_path / f"store-{len(opened)}"
        opened.append(PLACES[request.param](path, IdWindow(age_us=DAY), clock))
        return opened[-1]

    yield open_one
    for place in opened:
        place.close()


@pytest.fixture
def log(open_place: Open) -> Log:
    return open_place().log


def append(log: Log, *bodies: Body, at: int = 0, stream: str = "default") -> Receipt:
    return log.append(publications(bodies, stream), at)


def entries(log: Log) -> list[Entry]:
    """Every entry, by partition."""
    found = [
        list(log.read(partition, 0, end, headers=True, payloads=True))
        for partition, end in log.ends().items()
    ]
    return [entry for one in found for entry in one]


def rows(entry: Entry, *names: str) -> list[Any]:
    """Some headers of the records of an entry."""
    assert entry.headers is not None
    columns = [entry.headers.column(name).to_pylist() for name in names]
    return list(zip(*columns, strict=True)) if len(names) > 1 else columns[0]


class TestKinds:
    def test_each_has_offsets(self, log: Log) -> None:
        receipts = [
            append(log, Body(1, "a"), Body(2)),
            log.withdraw(withdrawals("a", "b", publisher="p"), at=1),
            log.tick(at=2),
            append(log, Body(3)),
        ]
        told = [
            (partition, offset)
            for receipt in receipts
            for partition, offset in zip(
                receipt.partitions.tolist(), receipt.offsets.tolist(), strict=True
            )
        ]
        held = [
            (entry.partition, offset)
            for entry in entries(log)
            for offset in range(entry.first, entry.end)
        ]
        assert sorted(told) == sorted(held)
        assert len(set(told)) == len(told)
        for partition, end in log.ends().items():
            assert max(offset for one, offset in told if one == partition) < end

    def test_a_withdrawal_names_its_publication(self, log: Log) -> None:
        log.withdraw(withdrawals("a", "b", stream="air", publisher="p"), at=7)
        [entry] = entries(log)
        assert (entry.kind, entry.stream, entry.count) == ("withdrawal", "air", 2)
        assert (entry.accepted_at, entry.attributes, entry.source) == (7, b"", "")
        assert rows(entry, "publisher", "id") == [("p", "a"), ("p", "b")]
        assert entry.payloads is not None
        assert entry.payloads.null_count == 2

    def test_a_withdrawal_without_a_name_is_a_bug(self, log: Log) -> None:
        with pytest.raises(AssertionError):
            log.withdraw(Withdrawals("air", headers_of(id=["a", None])), at=0)
        assert log.ends() == Position()

    def test_a_tick_is_in_every_partition(self, log: Log) -> None:
        for _ in range(3):
            append(log, Body(1))
        receipt = log.tick(at=9)
        for partition, offset in zip(receipt.partitions, receipt.offsets, strict=True):
            [entry] = log.read(int(partition), int(offset), int(offset) + 1, True, True)
            assert (entry.kind, entry.stream, entry.count) == ("tick", "", 1)
            assert (entry.accepted_at, entry.attributes) == (9, b"")
        assert sorted(receipt.partitions.tolist()) == sorted(log.ends())

    def test_ids_of_publications_beside_other_records(self, log: Log) -> None:
        for number in range(6):
            append(log, Body(number, f"{number}"))
            log.withdraw(withdrawals(f"{number}"), at=0)
            log.tick(at=0)
        log.trim(Position(dict.fromkeys(log.ends(), 5)))
        again = append(log, *(Body(number, f"{number}") for number in range(6)))
        assert again.duplicates.all()

    def test_an_id_that_stands_for_another_record_is_free(self, log: Log) -> None:
        receipt = log.tick(at=0)
        id = f"{log.identity}-{receipt.partitions[0]}-{receipt.offsets[0]}"
        assert append(log, Body(1, id)).offsets[0] >= 0

    def test_they_are_trimmed_alike(self, log: Log) -> None:
        append(log, Body(1))
        log.withdraw(withdrawals("a"), at=0)
        log.tick(at=0)
        log.trim(log.ends())
        assert log.starts() == log.ends()
        assert (entries(log), log.bytes()) == ([], 0)

    def test_a_change_acts_behind_them(self, log: Log) -> None:
        receipt = log.tick(at=0)
        accepted = log.change(changes(("subscriber", "", "ana")), at=0)
        for partition, offset in zip(receipt.partitions, receipt.offsets, strict=True):
            assert offset < accepted.acts_from[int(partition)] == log.ends()[int(partition)]

    def test_headers_come_back(self, log: Log) -> None:
        given = {
            "published_at": [1, None],
            "valid_until": [None, 5],
            "origin_at": [7, 8],
            "counter": [None, 9],
        }
        log.append(publications([Body(1, "a", b"x"), Body(2)], **given), at=0)
        [entry] = entries(log)
        assert entry.headers is not None
        for name, values in given.items():
            column = entry.headers.column(name)
            assert column.cast("int64").to_pylist() == values
        for headers in (False, True):
            for payloads in (False, True):
                [entry] = log.read(entry.partition, 0, 2, headers, payloads)
                assert (entry.headers is not None) == headers
                assert (entry.payloads is not None) == payloads


class TestScopeOfIds:
    def test_an_id_of_another_stream_is_another_id(self, log: Log) -> None:
        """A15: a taken id on one stream blocked it on all others."""
        append(log, Body(666, "order-1"), stream="evil")
        receipt = append(log, Body(1, "order-1"), stream="default")
        assert (receipt.conflicts.any(), receipt.duplicates.any()) == (False, False)
        assert receipt.offsets[0] >= 0

    def test_an_id_of_another_publisher_is_another_id(self, log: Log) -> None:
        bodies = [Body(number, "a", None, name) for number, name in enumerate([None, "p", "q"])]
        assert (append(log, *bodies).offsets >= 0).all()
        again = append(log, *bodies, Body(9, "a", None, "q"))
        assert again.duplicates.tolist() == [True, True, True, False]
        assert again.conflicts.tolist() == [False, False, False, True]

    def test_also_after_they_were_trimmed(self, open_place: Open) -> None:
        place = open_place()
        append(place.log, Body(1, "a", None, "p"))
        place.log.trim(place.log.ends())
        if place.reopen is not None:
            place = place.reopen()
        log = place.log
        assert append(log, Body(1, "a", None, "q"), Body(1, "a")).offsets.min() >= 0
        assert append(log, Body(1, "a", None, "p"), stream="other").offsets[0] >= 0
        assert append(log, Body(1, "a", None, "p")).duplicates[0]
        place.close()


class TestCounters:
    def test_they_are_consecutive_by_stream_and_publisher(self, open_place: Open) -> None:
        place = open_place()
        names = ["p", None, "q", "p", "p"]
        for stream in ("air", "sea", "air"):
            append(place.log, *(Body(1, None, None, name) for name in names), stream=stream)
        if place.reopen is not None:
            place = place.reopen()
        append(place.log, Body(1, None, None, "q"), stream="air")
        found: dict[tuple[str, str | None], list[int | None]] = {}
        for entry in entries(place.log):
            for name, counter in rows(entry, "publisher", "counter"):
                found.setdefault((entry.stream, name), []).append(counter)
        assert {key: sorted(one) for key, one in found.items() if key[1]} == {
            ("air", "p"): [1, 2, 3, 4, 5, 6],
            ("air", "q"): [1, 2, 3],
            ("sea", "p"): [1, 2, 3],
            ("sea", "q"): [1],
        }
        assert {counter for key, one in found.items() if not key[1] for counter in one} == {None}
        place.close()

    def test_what_was_not_appended_is_not_counted(self, log: Log) -> None:
        append(log, Body(1, "a", None, "p"))
        append(log, Body(1, "a", None, "p"), Body(2, "b", None, "p"))
        assert sorted(one for e in entries(log) for one in rows(e, "counter")) == [1, 2]

    def test_those_that_came_over_a_link_stay(self, log: Log) -> None:
        bodies = [Body(number, None, None, "p") for number in range(3)]
        log.append(publications(bodies, counter=[7, None, 5]), at=0)
        append(log, Body(9, None, None, "p"))
        assert [rows(entry, "counter") for entry in entries(log)] == [[7, 8, 5], [9]]

    def test_threads_share_them(self, log: Log) -> None:
        def run() -> None:
            for _ in range(20):
                append(log, Body(1, None, None, "p"), Body(2, None, None, "p"))

        threads = [threading.Thread(target=run) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        counters = sorted(one for e in entries(log) for one in rows(e, "counter"))
        assert counters == list(range(1, 241))


def mark(position: int, link: str = "hub", incarnation: str = "1") -> LinkMark:
    return LinkMark(link, "other-log", incarnation, Position({0: position}))


class TestLinkMarks:
    def test_there_is_none_at_first(self, log: Log) -> None:
        assert log.link_marks() == {}

    def test_a_mark_moves_with_its_rows(self, open_place: Open) -> None:
        place = open_place()
        place.log.append(publications([Body(1, "a")]), 0, mark(5))
        place.log.withdraw(withdrawals("a"), 0, mark(6))
        place.log.append(publications([Body(2)]), 0, mark(3, "edge", "2"))
        append(place.log, Body(3))
        if place.reopen is not None:
            place = place.reopen()
        assert place.log.link_marks() == {"hub": mark(6), "edge": mark(3, "edge", "2")}
        found = sorted((entry.kind, entry.source) for entry in entries(place.log))
        assert found == [
            ("publication", ""),
            ("publication", "edge"),
            ("publication", "hub"),
            ("withdrawal", "hub"),
        ]
        place.close()

    def test_it_moves_where_no_row_is_new(self, log: Log) -> None:
        log.append(publications([Body(1, "a")]), 0, mark(5))
        ends = log.ends()
        assert log.append(publications([Body(1, "a")]), 0, mark(9)).duplicates[0]
        log.append(publications([]), 0, mark(4, "edge"))
        assert log.ends() == ends
        assert log.link_marks() == {"hub": mark(9), "edge": mark(4, "edge")}

    def test_it_stays_where_an_append_fails(self, log: Log) -> None:
        log.append(publications([Body(1)]), 0, mark(5))
        with pytest.raises(AssertionError):
            log.withdraw(Withdrawals("air", headers_of(id=[None])), 0, mark(6))
        assert log.link_marks() == {"hub": mark(5)}


def times(log: Log) -> list[int]:
    """The times of all records and changes; each partition and the changes are in order."""
    found = [
        [entry.accepted_at for entry in log.read(partition, 0, end)]
        for partition, end in log.ends().items()
    ]
    found.append([entry.at for entry in log.changes(0, log.changes_end())])
    assert all(one == sorted(one) for one in found)
    return sorted(time for one in found for time in one)


class TestTime:
    def write(self, log: Log, wall: int) -> None:
        """One record of each kind, and a change."""
        append(log, Body(1), at=wall)
        log.change(changes(("subscriber", "", "ana")), at=wall)
        log.withdraw(withdrawals("a"), at=wall)
        log.tick(at=wall)

    def test_a_receipt_tells_the_time(self, log: Log) -> None:
        assert append(log, Body(1), at=START).at == START
        assert append(log, Body(1), at=START - 5).at == START
        assert log.tick(at=START + 5).at == log.time(START) == START + 5

    @pytest.mark.parametrize("jump", [8 * DAY, -YEAR])
    def test_a_clock_that_jumps_for_some_seconds(
        self, log: Log, clock: HandClock, jump: int
    ) -> None:
        append(log, Body(1, "a"), at=START)
        for clock.now in range(0, 3 * SECOND, SECOND // 10):
            self.write(log, START + clock.now + jump)
            assert append(log, Body(1, "a"), at=START + clock.now + jump).duplicates[0]
        clock.now = 10 * SECOND
        assert log.time(START + clock.now) == START + clock.now
        assert START <= times(log)[0] <= times(log)[-1] < START + 5 * SECOND
        assert append(log, Body(1, "a"), at=START + clock.now).duplicates[0]

    def test_a_clock_that_stands_still(self, log: Log, clock: HandClock) -> None:
        append(log, Body(1, "a"), at=START)
        for clock.now in range(0, 5 * DAY, DAY):
            self.write(log, START)
            assert append(log, Body(1, "a"), at=START).duplicates[0]
        assert set(times(log)) == {START}

    def test_a_step_at_opening_is_believed(self, open_place: Open, clock: HandClock) -> None:
        place = open_place()
        if place.reopen is None:
            pytest.skip("ends with its process")
        append(place.log, Body(1, "a"), at=START)
        place = place.reopen()
        assert place.log.time(START - YEAR) == START
        place = place.reopen()
        assert append(place.log, Body(1, "a"), at=START + DAY - 1).duplicates[0]
        assert append(place.log, Body(2), at=START + 9 * DAY).at < START + DAY + 2 * SECOND
        place = place.reopen()
        assert append(place.log, Body(2, "a"), at=START + 9 * DAY).offsets[0] >= 0
        place = place.reopen()
        assert place.log.time(0) == START + 9 * DAY
        place.close()

    def test_threads_race_with_clocks_of_their_own(self, log: Log, clock: HandClock) -> None:
        def run(thread: int) -> None:
            for number in range(10):
                self.write(log, START + (number * 7 + thread * 13) % 50)

        threads = [threading.Thread(target=run, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert START <= times(log)[0] <= times(log)[-1] < START + 50


_RECORD = st.one_of(
    st.tuples(
        st.just("publication"),
        st.lists(
            st.tuples(
                st.integers(0, 1), st.sampled_from([None, "a", "b"]), st.sampled_from([None, "p"])
            ),
            min_size=1,
            max_size=3,
        ),
        st.sampled_from(["air", "sea"]),
    ),
    st.tuples(st.just("withdrawal"), st.just([]), st.sampled_from(["air", "sea"])),
    st.tuples(st.just("tick"), st.just([]), st.just("")),
)


def test_random_histories(open_place: Open) -> None:
    """Records of all kinds against a list and a dictionary."""

    @given(st.lists(_RECORD, max_size=12))
    def check(history: list[tuple[str, list[tuple[int, str | None, str | None]], str]]) -> None:
        place = open_place()
        log = place.log
        taken: dict[tuple[str, str | None, str], int] = {}
        expected: list[tuple[str, str, int]] = []
        bodies: list[Body] = []
        for kind, given_rows, stream in history:
            if kind == "tick":
                expected += [("tick", "", 1)] * len(log.tick(at=0).offsets)
            elif kind == "withdrawal":
                log.withdraw(withdrawals("a", stream=stream), at=0)
                expected.append((kind, stream, 1))
            else:
                call = [Body(number, id, None, name) for number, id, name in given_rows]
                new = []
                for body in call:
                    if body.id is None:
                        new.append(body)
                    elif (stream, body.publisher, body.id) not in taken:
                        taken[stream, body.publisher, body.id] = body.number
                        new.append(body)
                receipt = append(log, *call, stream=stream)
                assert int((receipt.offsets >= 0).sum()) == len(new)
                bodies += new
                expected += [(kind, stream, len(new))] if new else []
        found = sorted((entry.kind, entry.stream, entry.count) for entry in entries(log))
        assert found == sorted(expected)
        held = [body for partition in log.ends() for body in bodies_in(log, partition)]
        assert sorted(map(repr, held)) == sorted(map(repr, bodies))
        place.close()

    check()
