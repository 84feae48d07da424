"""The demo's world is the same in every run, and worth showing."""

from wherecast import Filter
from wherecast.cli.demo import air
from wherecast.pipeline.stages.batch_stages import validate


def test_the_readings_are_drawn_from_a_seed() -> None:
    readings = air.publications()

    assert readings.equals(air.publications())
    assert readings.num_rows == air.PUBLICATIONS
    assert len(validate(readings.to_batches()[0], air.schema()).dead_letters) == 5


def test_every_subscription_can_match() -> None:
    subscriptions = air.subscriptions()

    assert len(subscriptions) == air.SUBSCRIPTIONS
    assert {s.subscriber for s in subscriptions} >= set(air.SHOWN)
    assert not [s for s in subscriptions if Filter(s.filter, air.schema()).warnings]


def test_changes_are_of_subscriptions_that_are_there() -> None:
    there = {(s.subscriber, s.id): s for s in air.subscriptions()}
    for change in air.changes():
        assert 0 < change.after < air.MICRO_BATCHES
        assert bool(change.put) != bool(change.removed)
        put = {(s.subscriber, s.id): s for s in change.put}
        assert len(put) == len(change.put)
        assert all(there.get(key) != s for key, s in put.items())
        assert not [s for s in change.put if Filter(s.filter, air.schema()).warnings]
        there |= put
        for s in change.removed:
            assert there.pop((s.subscriber, s.id)) == s
