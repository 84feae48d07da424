"""Filters with several conjunctions are reported once, however and wherever these are found."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from random import Random

import pyarrow as pa
import pytest

from tests.unit.matching.columnar.alternatives import (
    SCHEMA,
    alternatives,
    batch_of,
    expected,
    publication,
)
from wherecast import Index
from wherecast.language import read_filters
from wherecast.matching.columnar.search import tree_matching
from wherecast.matching.columnar.search.stamp_pool import StampPool
from wherecast.matching.columnar.search.tree_matching import TreeSearch
from wherecast.matching.columnar.snapshot import Snapshot, SnapshotMatches

BY_GROUP = TreeSearch(groups_max=-1, first_rows=1)
NO_ROOM = TreeSearch(room=1)
ORDERS = {
    "by row": TreeSearch(),
    "by group": BY_GROUP,
    "by row, no room": NO_ROOM,
    "by group, no room": TreeSearch(groups_max=-1, first_rows=1, room=1),
}


def rows_of(found: SnapshotMatches) -> list[list[int]]:
    ends = found.offsets.tolist()
    return [sorted(found.numbers[a:b].tolist()) for a, b in pairwise(ends)]


def draw(
    seed: int, filters: int, rows: int, plain: bool = False
) -> tuple[list[str], pa.RecordBatch]:
    rng = Random(seed)
    texts = [alternatives(rng, plain) for _ in range(filters)]
    return texts, batch_of([publication(rng) for _ in range(rows)])


@pytest.mark.parametrize("plain", [False, True], ids=["any predicate", "ranges"])
def test_every_way_agrees_with_the_reference(way: str, plain: bool) -> None:
    texts, batch = draw(1, 200, 320, plain)
    index = Index(SCHEMA)
    index.add_all(enumerate(texts))
    assert index.match(batch).to_pylist() == expected(texts, batch)
    alone = index.match(batch.slice(7, 1)).to_pylist()
    assert alone == expected(texts, batch.slice(7, 1))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.usefixtures("trees")
def test_marks_begin_anew_in_both_orders(order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stamps of a snapshot serve match after match, and 255 marks are few."""
    monkeypatch.setattr(tree_matching, "_spare", tree_matching.SpareArrays())
    texts, batch = draw(2, 150, 300)
    wanted = expected(texts, batch)
    made = Snapshot.of(read_filters(texts, SCHEMA))
    made.search = ORDERS[order]
    for start, rows in ((0, 300), (0, 1), (100, 200), (0, 300), (299, 1), (20, 254), (0, 300)):
        found = rows_of(made.match(batch.slice(start, rows)))
        assert found == wanted[start : start + rows]


@pytest.mark.parametrize("order", [None, BY_GROUP], ids=["by row", "by group"])
@pytest.mark.usefixtures("trees")
def test_a_row_may_need_more_room_after_it_was_begun(
    order: TreeSearch | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Filters that the row has reported before it ran out of room are reported all the same."""
    monkeypatch.setattr(tree_matching, "_spare", tree_matching.SpareArrays())
    texts = [f"no2 > {n % 5} OR pm10 > {n % 3} OR hour > {n % 4}" for n in range(3_000)]
    made = Snapshot.of(read_filters(texts, SCHEMA))
    made.search = TreeSearch(-1, 1, room=1) if order else NO_ROOM
    rows = [{"no2": 9.0, "pm10": 9.0, "hour": 9}] * 5 + [{"hour": 9}, {"no2": 9.0}]

    found = rows_of(made.match(batch_of(rows)))

    assert found == [list(range(3_000))] * 7


@pytest.mark.parametrize("order", [None, BY_GROUP], ids=["by row", "by group"])
@pytest.mark.usefixtures("trees")
def test_matches_at_the_same_time_have_stamps_of_their_own(order: TreeSearch | None) -> None:
    texts, batch = draw(3, 120, 260)
    wanted = expected(texts, batch)
    made = Snapshot.of(read_filters(texts, SCHEMA))
    made.search = order
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: rows_of(made.match(batch)), range(60)))
    assert all(each == wanted for each in found)


def test_several_runs_with_hidden_and_replaced_filters(way: str) -> None:
    texts, batch = draw(4, 240, 300)
    index, current = Index(SCHEMA), dict(enumerate(texts[:200]))
    for start in range(0, 200, 50):
        index.add_all({id: current[id] for id in range(start, start + 50)})
        index.match(batch.slice(0, 3))
    for id in range(0, 200, 7):
        index.remove(id)
        del current[id]
    for id, text in zip(range(3, 200, 5), texts[200:], strict=False):
        index.add(id, text)
        current[id] = text
    ids = sorted(current)
    wanted = expected([current[id] for id in ids], batch)
    assert index.match(batch).to_pylist() == [[ids[place] for place in row] for row in wanted]


@pytest.mark.parametrize("kind", ["betree", "forest"])
def test_trees_report_a_filter_once(kind: str) -> None:
    texts, batch = draw(5, 200, 300)
    index = Index(SCHEMA, kind=kind)
    index.add_all(enumerate(texts))
    assert index.match(batch).to_pylist() == expected(texts, batch)


def test_stamps_are_lent_to_one_match_at_a_time() -> None:
    pool = StampPool(10)
    with pool.borrow() as one, pool.borrow() as other:
        assert one.marks is not other.marks
        assert one.last is not other.last
    with pool.borrow() as again:
        assert any(again.marks is each.marks for each in (one, other))
