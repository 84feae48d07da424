"""The stage covers its range whatever is in it: damage and poison become dead letters."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

import wherecast as wc
from tests.live_log import LiveLog, told
from wherecast.pipeline.live.batch_plan import Range
from wherecast.pipeline.live.stage.match_range import MatchedRange, match_range
from wherecast.pipeline.live.subscriptions.live_subscriptions import LiveSubscriptions
from wherecast.store.records import Entry, RecordRun

AIR = wc.Schema.from_dict({"no2": "float"})
ANY = wc.Schema((), open=True)
SUBSCRIBED = [
    ("subscribe", "air", "ana", "s1", "no2 > 1"),
    ("subscribe", "any", "ana", "s2", "n > 1"),
    ("subscribe", "air", "bo", "s1", "no2 > 3"),
]
ROWS = [
    ("air", {"no2": 1.0}),
    ("any", {"n": 2}),
    ("air", {"no2": 4.0}),
    ("any", {"n": 2, "m": "x"}),
    ("air", {"no2": 2.0}),
]


def log() -> LiveLog:
    return LiveLog({"air": AIR, "any": ANY}, [("change", SUBSCRIBED), ("publish", ROWS)])


def known(of: LiveLog) -> LiveSubscriptions:
    subscriptions = LiveSubscriptions()
    subscriptions.advance(of.changes(0, of.changes_end), of.changes_end)
    return subscriptions


def matched(
    entries: Iterator[Entry], first: int, end: int, poison: tuple[int, ...] = ()
) -> MatchedRange:
    return match_range(Range(0, first, end), entries, known(log()), 7, poison)


ALL = {
    ("ana", 1): ["s2"],
    ("ana", 2): ["s1"],
    ("ana", 3): ["s2"],
    ("ana", 4): ["s1"],
    ("bo", 2): ["s1"],
}


@pytest.mark.parametrize("first", range(6))
@pytest.mark.parametrize("end", range(6))
def test_a_range_has_its_own_notifications(first: int, end: int) -> None:
    if first < end:
        got = matched(log().entries(first, end), first, end)
        assert told(got.notifications) == {
            (name, at): ids for (name, at), ids in ALL.items() if first <= at < end
        }
        assert got.range == Range(0, first, end)
        assert got.runs == (RecordRun(first, end - first),)
        assert got.figures.publications == end - first
        assert not got.dead_letters


def test_a_damaged_entry_is_a_dead_letter_and_the_rest_is_matched() -> None:
    entries = list(log().entries(0, 5))
    entries[2] = replace(entries[2], damage="a bit", attributes=b"", stream="")
    entries[4] = replace(entries[4], attributes=b"\x01no batch")
    got = matched(iter(entries), 0, 5)
    assert told(got.notifications) == {("ana", 1): ["s2"], ("ana", 3): ["s2"]}
    assert [(letter.offset, letter.at) for letter in got.dead_letters] == [(2, 7), (4, 7)]
    assert got.dead_letters[0].reason == "a bit"
    assert "no batch of this schema" in got.dead_letters[1].reason
    assert got.runs == (RecordRun(0, 5),)


def test_an_entry_of_an_unknown_stream_is_a_dead_letter() -> None:
    entries = [replace(entry, stream="water") for entry in log().entries(0, 1)]
    (letter,) = matched(iter(entries), 0, 1).dead_letters
    assert letter.reason == "stream water is not defined"


def test_withdrawals_and_ticks_are_covered_and_not_matched() -> None:
    entries = list(log().entries(0, 5))
    entries[2] = replace(entries[2], kind="withdrawal", attributes=b"")
    entries[3] = replace(entries[3], kind="tick", attributes=b"", stream="")
    got = matched(iter(entries), 0, 5)
    assert told(got.notifications) == {("ana", 1): ["s2"], ("ana", 4): ["s1"]}
    assert not got.dead_letters
    assert got.runs == (RecordRun(0, 5),)
    assert got.figures.publications == 3


def test_poison_is_left_out() -> None:
    got = matched(log().entries(0, 5), 0, 5, poison=(2, 3))
    assert told(got.notifications) == {("ana", 1): ["s2"], ("ana", 4): ["s1"]}
    assert [letter.offset for letter in got.dead_letters] == [2, 3]
    assert {letter.reason for letter in got.dead_letters} == {"matching it ends the process"}


@pytest.mark.parametrize("missing", [0, 2, 4])
def test_offsets_may_have_holes(missing: int) -> None:
    entries = [entry for entry in log().entries(0, 5) if entry.first != missing]
    got = matched(iter(entries), 0, 5)
    assert told(got.notifications) == {at: ids for at, ids in ALL.items() if at[1] != missing}
    offsets = [offset for run in got.runs for offset in range(run.offset, run.end)]
    assert offsets == [offset for offset in range(5) if offset != missing]
    assert not got.dead_letters
