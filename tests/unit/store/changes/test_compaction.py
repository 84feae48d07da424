"""When changes are worth compacting, and how what stands is cut into parts."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from tests.contract.stores import changes
from wherecast.store.changes import compaction
from wherecast.store.changes.compaction import compact, first_due
from wherecast.store.position import Position
from wherecast.store.records import NO_CHANGES, ChangeEntry

START = Position({0: 5, 1: 5})


def history(count: int, texts: Sequence[str] = ("a",)) -> list[ChangeEntry]:
    """Changes of as many subscriptions as there are texts, an entry each."""
    made = []
    for number in range(count):
        id = number % len(texts)
        batch = changes(("subscribe", "d", "ana", f"s{id}", texts[id]))
        made.append(ChangeEntry(number, 1, START, number, batch))
    return made


def test_it_is_not_looked_before_half_can_be_superseded() -> None:
    least = compaction.CHANGES_MIN
    assert first_due(0, 0) == least
    assert first_due(0, least) == 2 * least
    assert first_due(100, 10) == 100 + least
    assert first_due(100, 2 * least) == 100 + 2 * least


def test_few_are_not_worth_while() -> None:
    least = compaction.CHANGES_MIN
    assert compact(history(least - 1), START, least - 1).parts == []
    found = compact(history(least), START, least)
    (part,) = found.parts
    assert (part.version, part.count, part.compacted_to, found.end) == (0, least, least, least)
    assert part.changes.column("kind").to_pylist() == ["subscriber", "subscribe"]
    assert part.times is not None
    assert part.times.tolist() == part.row_versions.tolist() == [0, least - 1]
    assert (part.acts_from, part.at) == (START, least - 1)
    assert found.due == 2 * least


def test_standing_ones_are_not_worth_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "CHANGES_MIN", 4)
    texts = [f"a > {number}" for number in range(9)]
    found = compact(history(19, texts), START, 19)
    assert (found.parts, found.due) == ([], 19 + 4)
    assert len(compact(history(20, texts), START, 20).parts[0].changes) == 10


def test_parts_are_bounded_by_rows_and_by_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "ROWS_MAX", 4)
    monkeypatch.setattr(compaction, "TEXT_MAX", 1_000)
    texts = ["a" * (2_000 if number in (5, 6) else 10) for number in range(9)]
    parts = compact(history(2_000, texts), START, 2_000).parts
    assert [part.changes.num_rows for part in parts] == [4, 1, 1, 4]
    assert [part.version for part in parts] == [0, 1994, 1995, 1996]
    assert np.concatenate([part.row_versions for part in parts]).tolist() == [
        0,
        *range(1_991, 2_000),
    ]
    assert all(one.end == two.version for one, two in pairwise(parts))
    assert parts[-1].end == 2_000


@pytest.mark.parametrize("beyond", [{0: 6, 1: 5}, {0: 5, 1: 6}])
def test_it_ends_at_what_acts_later(beyond: dict[int, int]) -> None:
    entries = history(3_000)
    entries[2_000:] = [replace(one, acts_from=Position(beyond)) for one in entries[2_000:]]
    assert compact(entries, START, 3_000).end == 2_000


def test_it_ends_at_what_is_damaged() -> None:
    entries = history(3_000)
    entries[2_000] = replace(entries[2_000], changes=NO_CHANGES, damage="it is bad")
    found = compact(entries, START, 3_000)
    assert (found.end, found.due) == (2_000, 3_000 + compaction.CHANGES_MIN)


def test_half_of_what_was_compacted_is_not_compacted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "CHANGES_MIN", 2)
    monkeypatch.setattr(compaction, "ROWS_MAX", 2)
    forgotten = [("subscriber", "", "ana"), ("forget", "", "ana")]
    batch = changes(*forgotten)
    parts = [
        ChangeEntry(0, 2, START, 0, batch, compacted_to=4),
        ChangeEntry(2, 2, START, 0, NO_CHANGES, "it is bad"),
    ]
    assert compact(parts, START, 4).parts == []
    parts[1] = ChangeEntry(2, 2, START, 0, batch, compacted_to=4)
    assert compact(parts, START, 4).end == 4
