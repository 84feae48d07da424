"""Every way to group gives, bit for bit, what a slow twin puts down plainly."""

from random import Random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wherecast.pipeline.live.stage import group_matches
from wherecast.pipeline.live.stage.join_shares import JoinedMatches
from wherecast.pipeline.live.subscriptions import held_versions
from wherecast.pipeline.live.subscriptions.roster import Roster
from wherecast.store.records import SEGMENT
from wherecast.store.segments.segments import problem_of

Named = list[tuple[str, str]]
Pairs = dict[tuple[int, tuple[str, str]], int]  # offset and name → version
names = st.sampled_from(["ana", "Ana", "žuta", "b", "𝄞", "\ue000", "", "ana\x00", "bb"])
ids = st.sampled_from(["s1", "s10", "s2", "ž", ""])
versions = st.lists(st.tuples(names, ids), min_size=1, max_size=40)
matches = st.lists(st.tuples(st.integers(10, 19), st.integers(0, 99)), max_size=30)
WAYS = {"few": (1 << 30, 0), "sorted": (0, 1 << 30), "scattered": (0, 0)}  # _FEW, _COMPILED_MIN


def roster_of(named: Named, merged: int = 0) -> Roster:
    """A roster of a version per name; after some of them its tables are made anew."""
    known = Roster()
    for number, (name, id) in enumerate(named):
        known.held.enter(100 + 7 * number, name, id, "air")
        if number + 1 == merged:
            known.held.merge()
    return known


def joined(distinct: Pairs) -> JoinedMatches:
    offsets = np.array([offset for offset, _ in distinct], np.int64)
    return JoinedMatches(offsets, 100 + 7 * np.array(list(distinct.values()), np.int64))


def grouped(way: str, distinct: Pairs, known: Roster) -> pa.RecordBatch:
    few, compiled = WAYS[way]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(group_matches, "_FEW", few)
        patch.setattr(group_matches, "_COMPILED_MIN", compiled)
        return group_matches.group_matches(joined(distinct), known)


def told(distinct: Pairs) -> pa.RecordBatch:
    """What a segment says, put down plainly."""
    rows: list[dict[str, object]] = []
    for name in sorted({name for _, (name, _) in distinct}):
        own = [(offset, id) for offset, (of, id) in distinct if of == name]
        ids = sorted({id for _, id in own})
        offsets = sorted({offset for offset, _ in own})
        matched = [sorted(ids.index(id) for at, id in own if at == offset) for offset in offsets]
        rows.append(
            {
                "subscriber": name,
                "subscription_ids": ids,
                "offsets": offsets,
                "matched": matched,
            }
        )
    return pa.RecordBatch.from_pylist(rows, schema=SEGMENT)


def parts(array: pa.Array) -> list[object]:
    """The offsets and values of an array with those inside it, without what padding has."""
    if pa.types.is_list(array.type):
        return [array.offsets.to_pylist(), *parts(array.values)]
    return [array.type, array.to_pylist(), array.null_count]


def same(one: pa.RecordBatch, other: pa.RecordBatch) -> bool:
    """Whether two batches are equal, also in how their lists are cut."""
    return one.equals(other, check_metadata=True) and all(
        parts(a) == parts(b) for a, b in zip(one.columns, other.columns, strict=True)
    )


def test_no_matches_are_no_notifications() -> None:
    none = np.zeros(0, np.int64)
    assert group_matches.group_matches(JoinedMatches(none, none), Roster()).num_rows == 0


def test_a_version_that_the_roster_does_not_know_is_refused() -> None:
    unknown = JoinedMatches(np.array([1]), np.array([101]))
    with pytest.raises(AssertionError, match="does not know a version"):
        group_matches.group_matches(unknown, roster_of([("ana", "s1")]))


@given(versions, matches, st.data())
def test_every_way_gives_what_the_twin_gives(
    named: Named, pairs: list[tuple[int, int]], data: st.DataObject
) -> None:
    """Versions of one subscription never act at once, so a name is there once at an offset."""
    distinct: Pairs = {
        (at, named[number % len(named)]): number % len(named) for at, number in pairs
    }
    if not distinct:
        return
    known = roster_of(named, data.draw(st.integers(0, len(named))))
    expected = told(distinct)
    assert problem_of(expected, 10, 20) is None
    for way in WAYS:
        assert same(grouped(way, distinct, known), expected), way


@pytest.mark.parametrize("merged", [0, 1_500, 3_000])
@pytest.mark.parametrize("ordered", [True, False])
def test_many_matches_of_many_subscribers(merged: int, ordered: bool) -> None:
    draw = Random(7)
    named = [(f"n{draw.randrange(300)}", f"s{draw.randrange(9)}") for _ in range(3_000)]
    known = roster_of(named, merged)
    pairs = [(draw.randrange(1 << 40, (1 << 40) + 50), draw.randrange(3_000)) for _ in range(9_000)]
    if ordered:
        pairs.sort()
    distinct: Pairs = {(at, named[number]): number for at, number in pairs}
    expected = told(distinct)
    for way in ("sorted", "scattered"):
        assert same(grouped(way, distinct, known), expected), way
    assert not known.held.names.marks().any()


def test_keys_that_are_too_wide_for_one_number_are_sorted_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(group_matches, "_KEY_BITS", 3)
    named = [(f"n{number % 5}", f"s{number}") for number in range(30)]
    distinct: Pairs = {(at, named[n]): n for at in range(9) for n in range(30) if (at * n) % 4}
    assert same(grouped("sorted", distinct, roster_of(named)), told(distinct))


def test_the_order_of_names_follows_changes_of_the_roster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_versions, "_ADDITIONS_MIN", 8)
    draw, named, known = Random(3), [], Roster()
    for number in range(60):
        named.append((f"n{draw.randrange(20)}", f"s{draw.randrange(4)}"))
        known.held.enter(100 + 7 * number, *named[-1], "air")
        known.held.settle()
        distinct: Pairs = {(at, named[n]): n for at in range(4) for n in range(len(named))}
        expected = told(distinct)
        for way in WAYS:
            assert same(grouped(way, distinct, known), expected), (way, number)
