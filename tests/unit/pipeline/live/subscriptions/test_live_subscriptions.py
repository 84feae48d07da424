"""Subscriptions act from exactly where they were accepted, up to where they ended."""

from dataclasses import replace

import numpy as np
import pytest

import wherecast as wc
from tests.live_log import LiveLog
from wherecast.columns import decode_rows
from wherecast.model import StoreError
from wherecast.pipeline.live.batch_plan import Range
from wherecast.pipeline.live.stage.decode_range import DecodedRange, StreamRows
from wherecast.pipeline.live.stage.match_range import match_range
from wherecast.pipeline.live.stage.match_share import match_share
from wherecast.pipeline.live.subscriptions.live_subscriptions import LiveSubscriptions
from wherecast.pipeline.live.subscriptions.roster import Roster
from wherecast.store.position import Position
from wherecast.store.records import NO_CHANGES, ChangeEntry

AIR = wc.Schema.from_dict({"no2": "float"})
ROW = {"no2": 45.0}


def of(*records: tuple[str, object]) -> LiveLog:
    return LiveLog({"air": AIR}, records)


def subscribe(id: str, text: str = "no2 > 40", subscriber: str = "ana") -> tuple[str, object]:
    return "change", [("subscribe", "air", subscriber, id, text)]


def unsubscribe(id: str) -> tuple[str, object]:
    return "change", [("unsubscribe", "air", "ana", id, "")]


PUBLISH = ("publish", [("air", ROW)])
FORGET = ("change", [("forget", "", "ana", "", "")])


def known(log: LiveLog) -> LiveSubscriptions:
    made = LiveSubscriptions()
    made.advance(log.changes(0, log.changes_end), log.changes_end)
    return made


def matches(subscriptions: LiveSubscriptions, count: int) -> list[tuple[int, str]]:
    """The offsets and the ids of the matches of so many publications, all of them `ROW`."""
    batch = decode_rows([ROW] * count, AIR).batch
    rows = (StreamRows("air", np.arange(count), batch),)
    decoded, roster = DecodedRange(Range(0, 0, count), (), rows, ()), subscriptions.roster
    found = [match_share(decoded, share, roster) for share in subscriptions.shares]
    return sorted(
        (offset, id)
        for one in found
        for offset, id in zip(one.offsets.tolist(), ids_of(roster, one.versions), strict=True)
    )


def ids_of(roster: Roster, versions: np.ndarray) -> list[str]:
    """The subscription id of each version."""
    names = roster.held.names_of(versions)
    assert (names >= 0).all()
    return roster.held.names.ids_of(names).to_pylist()


def singles(subscriptions: LiveSubscriptions, count: int) -> list[tuple[int, str]]:
    """The same, one publication after the other."""
    found = []
    for offset in range(count):
        versions = subscriptions.match_one("air", ROW, (0, offset), 0)
        assert versions is not None
        found += [(offset, id) for id in ids_of(subscriptions.roster, versions)]
    return sorted(found)


def test_publications_one_by_one_meet_the_same_subscriptions() -> None:
    log = of(
        PUBLISH, subscribe("a"), PUBLISH, subscribe("b"), subscribe("c", "no2 > 50"), PUBLISH,
        unsubscribe("a"), PUBLISH,
    )  # fmt: skip
    for shares in (1, 3):
        subscriptions = LiveSubscriptions(shares=shares)
        subscriptions.advance(log.changes(0, log.changes_end), log.changes_end)
        assert singles(subscriptions, 4) == matches(subscriptions, 4)
        assert singles(subscriptions, 4) == [(1, "a"), (2, "a"), (2, "b"), (3, "b")]


def test_a_bad_publication_and_an_unknown_stream_are_left_to_the_stage() -> None:
    subscriptions = known(of(subscribe("a")))
    assert subscriptions.match_one("air", {"no2": "x"}, (0, 0), 0) is None
    assert subscriptions.match_one("water", ROW, (0, 0), 0) is None


def test_it_acts_from_the_next_publication_on() -> None:
    log = of(PUBLISH, subscribe("a"), PUBLISH, subscribe("b"), PUBLISH)
    assert matches(known(log), 3) == [(1, "a"), (2, "a"), (2, "b")]


def test_a_change_ends_the_version_before_it() -> None:
    log = of(subscribe("a"), PUBLISH, subscribe("a", "no2 > 50"), PUBLISH, subscribe("a"), PUBLISH)
    assert matches(known(log), 3) == [(0, "a"), (2, "a")]


def test_unsubscribing_and_forgetting_end_it() -> None:
    log = of(subscribe("a"), subscribe("b"), PUBLISH, unsubscribe("a"), PUBLISH, FORGET, PUBLISH)
    assert matches(known(log), 3) == [(0, "a"), (0, "b"), (1, "b")]


def test_a_later_state_gives_the_same_for_earlier_publications() -> None:
    log = of(subscribe("a"), PUBLISH, subscribe("b"), PUBLISH, unsubscribe("a"), PUBLISH)
    grown, wanted = LiveSubscriptions(), [(0, "a"), (1, "a"), (1, "b"), (2, "b")]
    for version in range(log.changes_end + 1):
        grown.advance(log.changes(grown.roster.version, version), version)
    assert matches(grown, 3) == matches(known(log), 3) == wanted


def test_what_is_collected_acts_on_nothing_any_more() -> None:
    log = of(subscribe("a"), PUBLISH, unsubscribe("a"), subscribe("b"), PUBLISH)
    subscriptions = known(log)
    assert len(subscriptions) == 2
    subscriptions.collect(Position({0: 1}))
    assert len(subscriptions) == 1
    assert subscriptions.roster.floor == Position({0: 1})
    assert matches(subscriptions, 2)[-1:] == [(1, "b")]


def test_a_filter_that_cannot_be_read_is_counted_and_the_others_act() -> None:
    many = [("subscribe", "air", "ana", f"s{n:02d}", "no2 > 40") for n in range(20)]
    many[7] = ("subscribe", "air", "ana", "s07", "no2 >")
    subscriptions = known(of(("change", many), subscribe("one", "no2 ="), PUBLISH))
    assert subscriptions.unreadable == 2
    assert len(matches(subscriptions, 1)) == 19


def test_missing_changes_are_refused() -> None:
    log = of(subscribe("a"), subscribe("b"), subscribe("c"))
    with pytest.raises(StoreError, match="changes 0 to 1 are missing"):
        LiveSubscriptions().advance(log.changes(2, 4), 4)
    with pytest.raises(StoreError, match="changes 4 to 5 are missing"):
        LiveSubscriptions().advance(log.changes(0, 4), 6)


def test_what_is_known_already_is_passed_over() -> None:
    log = of(subscribe("a"), subscribe("b"), PUBLISH)
    subscriptions = known(log)
    subscriptions.advance(log.changes(0, 3), 3)
    assert matches(subscriptions, 1) == [(0, "a"), (0, "b")]


def test_it_is_restored_from_its_state() -> None:
    log = of(subscribe("a"), PUBLISH, subscribe("a", "no2 > 50"), subscribe("b"), PUBLISH)
    one = known(log)
    roster = Roster.restored(
        one.roster.state(), one.roster.version, one.roster.floor, one.roster.schemas
    )
    two = LiveSubscriptions.restored(roster, one.shares, one.factory)
    assert matches(two, 2) == matches(one, 2) == [(0, "a"), (1, "b")]
    two.advance(of(subscribe("a"), PUBLISH, subscribe("a", "no2 > 50"), subscribe("b"), PUBLISH,
                   unsubscribe("b")).changes(4, 5), 5)  # fmt: skip
    assert matches(two, 3) == [(0, "a"), (1, "b")]


def damaged(log: LiveLog, version: int) -> list[ChangeEntry]:
    """The changes of a log, of which one cannot be read."""
    return [
        replace(entry, acts_from=Position(), changes=NO_CHANGES, damage=f"change {version} is bad")
        if entry.version == version
        else entry
        for entry in log.changes(0, log.changes_end)
    ]


@pytest.mark.parametrize(
    ("version", "wanted"),
    [
        (1, [(1, "b"), (2, "a"), (2, "b")]),
        (2, [(0, "a"), (1, "a"), (2, "a")]),
        (3, [(0, "a"), (1, "a"), (1, "b"), (2, "a"), (2, "b")]),
    ],
)
def test_a_damaged_change_is_passed_over(version: int, wanted: list[tuple[int, str]]) -> None:
    log = of(subscribe("a"), PUBLISH, subscribe("b"), PUBLISH, subscribe("a", "no2 > 1"), PUBLISH)
    subscriptions = LiveSubscriptions()
    subscriptions.advance(damaged(log, version), log.changes_end)
    assert subscriptions.roster.version == log.changes_end
    assert subscriptions.roster.passed_over == {version: f"change {version} is bad"}
    assert matches(subscriptions, 3) == wanted


def test_without_the_definition_of_a_stream_its_publications_are_dead_letters() -> None:
    log, subscriptions = of(subscribe("a"), PUBLISH, unsubscribe("a"), PUBLISH), LiveSubscriptions()
    subscriptions.advance(damaged(log, 0), log.changes_end)
    assert (subscriptions.roster.schemas, subscriptions.unreadable) == ({}, 1)
    found = match_range(Range(0, 0, 2), log.entries(0, 2), subscriptions, at=0)
    assert [letter.offset for letter in found.dead_letters] == [0, 1]
    subscriptions.collect(Position({0: 2}))
    assert len(subscriptions) == 0


def test_a_version_that_was_dropped_stays_out_of_every_share() -> None:
    log = of(
        subscribe("a"), PUBLISH, unsubscribe("a"), unsubscribe("a"), subscribe("b", "no2 > 50")
    )
    subscriptions = LiveSubscriptions(shares=2)
    subscriptions.advance(log.changes(0, 4), 4)
    subscriptions.collect(Position({0: 1}))
    subscriptions.advance(log.changes(4, 5), 5)
    assert len(subscriptions.roster) == 1
    assert [len(share) for share in subscriptions.shares] == [1, 0]
    assert matches(subscriptions, 2) == []
