import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wherecast.pipeline.live.stage import group_matches
from wherecast.pipeline.live.stage.join_shares import JoinedMatches
from wherecast.pipeline.live.subscriptions.roster import Roster
from wherecast.store.segments.segments import problem_of

names = st.sampled_from(["ana", "Ana", "žuta", "b", "𝄞"])
versions = st.lists(st.tuples(names, st.sampled_from(["s1", "s10", "s2", "ž"])), min_size=1)
matches = st.lists(st.tuples(st.integers(10, 19), st.integers(0, 99)), max_size=30)


def roster_of(named: list[tuple[str, str]]) -> Roster:
    known = Roster()
    known.subscribers, known.ids = [name for name, _ in named], [id for _, id in named]
    return known


def test_no_matches_are_no_notifications() -> None:
    none = np.zeros(0, np.int64)
    assert group_matches.group_matches(JoinedMatches(none, none), Roster()).num_rows == 0


@given(versions, matches)
def test_one_by_one_and_as_columns_they_are_the_same(
    named: list[tuple[str, str]], pairs: list[tuple[int, int]]
) -> None:
    """Versions of one subscription never act at once, so a name is there once at an offset."""
    distinct = {(offset, named[number % len(named)]): number for offset, number in pairs}
    offsets = np.array([offset for offset, _ in distinct], np.int64)
    numbers = np.array([number % len(named) for number in distinct.values()], np.int64)
    known = roster_of(named)
    few = group_matches.group_matches(JoinedMatches(offsets, numbers), known)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(group_matches, "_FEW", 0)
        many = group_matches.group_matches(JoinedMatches(offsets, numbers), known)
    assert few.equals(many)
    assert problem_of(few, 10, 20) is None
    assert few.to_pylist() == told(distinct)


def told(distinct: dict[tuple[int, tuple[str, str]], int]) -> list[dict[str, object]]:
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
    return rows
