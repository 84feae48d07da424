"""When a query stands still, and who hears of it."""

from threading import Event

import wherecast as wc
from wherecast.broker.broker_core import BrokerCore
from wherecast.broker.publisher import Publisher
from wherecast.pipeline.live.inline_pipeline import InlinePipeline
from wherecast.pipeline.live.standstill import Standstill, watched
from wherecast.store.open_store import open_store
from wherecast.store.position import Position


def at(offset: int) -> Position:
    return Position({0: offset})


def test_commits_stand_still_where_publications_wait_and_nothing_is_committed() -> None:
    standstill = Standstill(10.0, now_s=0.0)
    looks = [(5, 5, 100.0), (5, 6, 101.0), (5, 9, 109.9), (5, 9, 110.0), (5, 9, 119.9)]
    assert [standstill.look(at(reached), at(end), now) for reached, end, now in looks] == [
        False, False, False, True, False,
    ]  # fmt: skip
    assert standstill.look(at(5), at(9), 120.0)  # as long again


def test_a_commit_is_a_sign_of_life_however_much_waits() -> None:
    standstill = Standstill(10.0, now_s=0.0)
    for second in range(100):
        assert not standstill.look(at(second // 9), at(1_000), float(second))


def test_a_log_of_which_everything_is_matched_does_not_stand_still() -> None:
    standstill = Standstill(10.0, now_s=0.0)
    assert not any(standstill.look(at(5), at(5), float(second)) for second in range(0, 1_000, 7))


def test_the_other_partitions_count_too() -> None:
    standstill, ends = Standstill(10.0, now_s=0.0), Position({0: 5, 1: 7})
    assert not standstill.look(Position({0: 5, 1: 6}), ends, 0.0)
    assert standstill.look(Position({0: 5, 1: 6}), ends, 10.0)


def test_whoever_watches_gives_up_where_nothing_helps() -> None:
    store = open_store("memory:")
    core = BrokerCore(store, wc.Schema.from_dict({"no2": "float"}), runs_pipeline=False)
    Publisher("p", core).publish({"no2": 1.0})
    gave_up = Event()
    with watched(store, 0.0, gave_up.set) as stands:
        assert stands.wait(60)
        assert gave_up.wait(60)
    core.close()


def test_whoever_watches_is_calm_where_everything_is_matched() -> None:
    store = open_store("memory:")
    core = BrokerCore(store, wc.Schema.from_dict({"no2": "float"}), runs_pipeline=False)
    Publisher("p", core).publish({"no2": 1.0})
    pipeline = InlinePipeline(store, lambda: 0)
    batch = pipeline.next_batch()
    assert batch is not None
    pipeline.commit(batch)
    with watched(store, 3600.0, lambda: None) as stands:
        pass
    assert not stands.is_set()
    core.close()
