"""The live stage gives the notifications of the log's order, however it is cut into batches.

The oracle walks the log one record at a time with a dictionary of subscriptions, and asks each
filter alone.
"""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.live_log import LiveLog, told
from wherecast import Filter, Schema
from wherecast.pipeline.live.batch_plan import Range
from wherecast.pipeline.live.stage.match_range import match_range
from wherecast.pipeline.live.subscriptions import roster
from wherecast.pipeline.live.subscriptions.live_subscriptions import LiveSubscriptions
from wherecast.store.position import Position

SCHEMAS = {
    "air": Schema.from_dict({"no2": "int", "city": "string"}),
    "open": Schema((), open=True),
}
FILTERS = ("no2 > 3", "no2 BETWEEN 2 AND 5", "city = 'a' OR no2 = 1", "no2 IS NULL", "no2 < 0")
OPEN_FILTERS = ("x > 3", "y = 'a'", "x = 1 OR y = 'b'")

names = st.sampled_from(["ana", "bob", "čiro"])
ids = st.sampled_from(["s1", "s2"])
changes = st.one_of(
    st.tuples(st.just("subscribe"), st.just("air"), names, ids, st.sampled_from(FILTERS)),
    st.tuples(st.just("subscribe"), st.just("open"), names, ids, st.sampled_from(OPEN_FILTERS)),
    st.tuples(st.just("unsubscribe"), st.just("air"), names, ids, st.just("")),
    st.tuples(st.just("forget"), st.just(""), names, st.just(""), st.just("")),
)
numbers = st.integers(0, 6)
rows = st.one_of(
    st.tuples(st.just("air"), st.fixed_dictionaries({}, optional={"no2": numbers})),
    st.tuples(st.just("open"), st.fixed_dictionaries({}, optional={"x": numbers, "y": ids})),
)
records = st.one_of(
    st.tuples(st.just("change"), st.lists(changes, min_size=1, max_size=20)),
    st.tuples(st.just("publish"), st.lists(rows, min_size=1, max_size=4)),
)


def expected(log: Sequence[tuple[str, Any]]) -> dict[tuple[str, int], list[str]]:
    """The subscriptions that match, by subscriber and offset."""
    standing: dict[tuple[str, str], tuple[str, Filter]] = {}
    found: dict[tuple[str, int], list[str]] = {}
    offset = 0
    for kind, content in log:
        for one in content:
            if kind == "publish":
                stream, row = one
                for (subscriber, id), (on, filter) in standing.items():
                    if on == stream and filter.matches(row):
                        found.setdefault((subscriber, offset), []).append(id)
                offset += 1
            elif one[0] == "subscribe":
                standing[one[2], one[3]] = one[1], Filter(one[4], SCHEMAS[one[1]])
            elif one[0] == "unsubscribe":
                standing.pop((one[2], one[3]), None)
            else:
                standing = {key: held for key, held in standing.items() if key[0] != one[2]}
    return {key: sorted(ids) for key, ids in found.items()}


@given(st.lists(records, max_size=12), st.data())
@settings(max_examples=150)
def test_the_cut_into_batches_makes_no_difference(log: list[Any], data: st.DataObject) -> None:
    made = LiveLog(SCHEMAS, log)
    count = made.end
    cuts = data.draw(st.lists(st.integers(0, count), max_size=4).map(sorted))
    known = LiveSubscriptions()
    found: dict[tuple[str, int], list[str]] = {}
    for first, end in zip([0, *cuts], [*cuts, count], strict=True):
        seen = data.draw(st.integers(made.changes_before(end), made.changes_end))
        known.advance(made.changes(known.roster.version, seen), seen)
        if data.draw(st.booleans()):
            known.collect(Position({0: first}))
        matched = match_range(Range(0, first, end), made.entries(first, end), known, at=0)
        assert sum(run.count for run in matched.runs) == end - first
        assert not matched.dead_letters
        found |= told(matched.notifications)
    assert found == expected(log)


def run(made: LiveLog, shares: int, cuts: list[tuple[int, int, bool]]) -> list[pa.RecordBatch]:
    """The segments of a log that is cut into batches, matched in so many shares.

    Args:
        made: the log.
        shares: how many.
        cuts: where each batch ends, how many changes it knows, and whether what ended is dropped.
    """
    known, first, segments = LiveSubscriptions(shares=shares), 0, []
    for end, changes, collects in cuts:
        known.advance(made.changes(known.roster.version, changes), changes, Position({0: first}))
        if collects:
            known.collect(Position({0: first}))
        matched = match_range(Range(0, first, end), made.entries(first, end), known, at=0)
        segments.append(matched.notifications)
        first = end
    return segments


@given(st.lists(records, max_size=12), st.data())
@settings(max_examples=100)
def test_the_cut_into_shares_makes_no_difference(log: list[Any], data: st.DataObject) -> None:
    made = LiveLog(SCHEMAS, log)
    ends = [*data.draw(st.lists(st.integers(0, made.end), max_size=3).map(sorted)), made.end]
    cuts, changes = [], 0
    for end in ends:
        at_least = max(changes, made.changes_before(end))
        changes = data.draw(st.integers(at_least, made.changes_end))
        cuts.append((end, changes, data.draw(st.booleans())))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(roster, "_SLACK", 3)  # numbers are soon used again
        whole = run(made, 1, cuts)
        for shares in (2, 5):
            assert run(made, shares, cuts) == whole
    assert {key: ids for one in whole for key, ids in told(one).items()} == expected(log)


def test_a_later_state_gives_the_same_for_earlier_publications() -> None:
    log: list[Any] = [
        ("change", [("subscribe", "air", "ana", "s1", "no2 > 3")]),
        ("publish", [("air", {"no2": 5})]),
        ("change", [("subscribe", "air", "ana", "s1", "no2 < 0")]),
        ("publish", [("air", {"no2": 5})]),
        ("change", [("forget", "", "ana", "", "")]),
    ]
    made = LiveLog(SCHEMAS, log)
    known = LiveSubscriptions()
    known.advance(made.changes(0, made.changes_end), made.changes_end)
    matched = match_range(Range(0, 0, 1), made.entries(0, 1), known, at=0)
    assert told(matched.notifications) == {("ana", 0): ["s1"]}
    later = match_range(Range(0, 1, 2), made.entries(1, 2), known, at=0)
    assert later.figures.matches == 0
