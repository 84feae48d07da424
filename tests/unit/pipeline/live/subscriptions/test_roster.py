"""A roster holds the versions that can still act, however many changes there were."""

from collections.abc import Iterator

import pyarrow as pa
import pytest

import wherecast as wc
from tests.contract.stores import changes
from wherecast.pipeline.live.subscriptions.live_subscriptions import LiveSubscriptions
from wherecast.pipeline.live.subscriptions.roster import Roster
from wherecast.store.position import Position
from wherecast.store.records import CHANGES, ChangeEntry

AIR = wc.Schema.from_dict({"no2": "float"})
LIVE = 1_000
PER_ENTRY = 10_000
DEFINED = changes(("stream", "air", "", "", AIR.to_json()))


def replacements(count: int, publications: bool) -> Iterator[ChangeEntry]:
    """Changes that replace the same subscriptions again and again, after one that defines air.

    Args:
        count: of the changes.
        publications: whether a publication lies between two entries.
    """
    yield ChangeEntry(0, 1, Position(), 0, DEFINED)
    names = [f"n{number % LIVE // 4}" for number in range(PER_ENTRY)]
    ids = [f"s{number % 4}" for number in range(PER_ENTRY)]
    kinds = pa.array(["subscribe"] * PER_ENTRY).cast(CHANGES.field("kind").type)
    streams, none = pa.array(["air"] * PER_ENTRY), pa.array([""] * PER_ENTRY)
    for number in range(count // PER_ENTRY):
        texts = pa.array([f"no2 > {number}"] * PER_ENTRY)
        columns = [kinds, streams, pa.array(names), pa.array(ids), texts, none]
        batch = pa.RecordBatch.from_arrays(columns, schema=CHANGES)
        position = Position({0: number if publications else 0})
        yield ChangeEntry(1 + number * PER_ENTRY, PER_ENTRY, position, 0, batch)


def rows(roster: Roster) -> list[int]:
    """How long everything is that a roster holds by name or version."""
    held = roster.held
    additions = [held._changed, held._new, held._dropped]
    return [held.rows, len(roster._spans), *map(len, additions), len(held._versions._slots) // 4]


@pytest.mark.parametrize(("count", "publications"), [(1_000_000, True), (100_000, False)])
def test_many_changes_of_a_thousand_subscriptions_leave_a_few_thousand_rows(
    count: int, publications: bool
) -> None:
    known, end = LiveSubscriptions(), 0
    for entry in replacements(count, publications):
        known.advance([entry], entry.end, start=entry.acts_from)
        end = max(end, *rows(known.roster))
    assert known.roster.version == count + 1
    assert end <= 8 * LIVE
    assert len(known) <= 4 * LIVE
    known.collect(Position({0: count}))
    assert len(known.roster) == len(known) == LIVE
    state = known.roster.state()
    assert state["versions"].num_rows == state["names"].num_rows == LIVE
    assert (
        sorted(state["names"]["standing"].to_pylist()) == state["versions"]["version"].to_pylist()
    )
    assert state["spans"].num_rows == 0


def test_subscribers_that_left_are_not_held() -> None:
    known = LiveSubscriptions()
    known.advance([ChangeEntry(0, 1, Position(), 0, DEFINED)], 1)
    for number in range(5_000):
        both = [
            ("subscribe", "air", f"n{number}", "s", "no2 > 1"),
            ("unsubscribe", "air", f"n{number}", "s"),
        ]
        known.advance([ChangeEntry(1 + 2 * number, 2, Position(), 0, changes(*both))], 0)
    assert known.roster.version == 10_001
    assert (len(known.roster), len(known), len(known.roster.held.names)) == (0, 0, 0)
    assert max(rows(known.roster)) <= 64


def test_a_version_is_the_number_of_its_change_for_good() -> None:
    one, entries = LiveSubscriptions(), list(replacements(2 * PER_ENTRY, True))
    one.advance(entries, 0)
    one.collect(Position({0: 1}))
    versions = one.roster.held.versions().tolist()
    last = entries[-1].end
    assert versions == list(range(last - LIVE, last))
    two = Roster.restored(one.roster.state(), last, one.roster.floor, one.roster.schemas)
    assert two.held.versions().tolist() == versions
