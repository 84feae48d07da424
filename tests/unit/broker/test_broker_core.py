"""The heart of a broker: its life, its clock, and what its calls give."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typing_extensions import override

import wherecast as wc
from wherecast.broker.broker_core import BrokerCore, CoreEnvironment
from wherecast.broker.subscriber import Subscriber
from wherecast.matching.engine import Engine
from wherecast.pipeline.live.subscriptions.share_index import IndexFactory
from wherecast.store.open_store import StoreOptions, open_store

SCHEMA = wc.Schema.from_dict({"no2": "float"})
AT = datetime(2001, 2, 3, 4, 5, 6, 7, UTC)
LIMIT_S = 600.0  # kernels may have to be compiled


def test_clock_and_identity_are_given() -> None:
    """Two brokers with the same identity, clock and calls deliver the same, times and ids too."""
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    environment = CoreEnvironment(clock=lambda: (AT - epoch) // timedelta(microseconds=1))
    found = []
    for _ in range(2):
        store = open_store("memory:", options=StoreOptions(identity="simulated"))
        core = BrokerCore(store, SCHEMA, environment=environment)
        core.register("ana")
        ana = Subscriber("ana", core)
        ana.subscribe("no2 > 0", id="s1")
        core.publish([wc.Publication({"no2": 1.0})], "default")
        [one] = ana.take(1, LIMIT_S)
        [entry] = store.log.read(0, 0, 1)
        found.append((one.publication, one.cursor, entry.accepted_at))
        core.close()
    assert found[0] == found[1]
    assert found[0][0].published_at == AT


@dataclass(frozen=True, slots=True)
class CountingFactory(IndexFactory):
    """Notes the schemas for which an index is made."""

    schemas: list[wc.Schema] = field(default_factory=list)

    @override
    def new(self, schema: wc.Schema) -> Engine:
        self.schemas.append(schema)
        return super(CountingFactory, self).new(schema)


def test_the_index_factory_is_given() -> None:
    factory = CountingFactory("betree")
    store = open_store("memory:")
    core = BrokerCore(store, SCHEMA, environment=CoreEnvironment(index=factory))
    core.register("ana")
    ana = Subscriber("ana", core)
    ana.subscribe("no2 > 0", id="s1")
    core.publish([wc.Publication({"no2": 1.0})], "default")
    assert [one.subscription_ids for one in ana.take(1, LIMIT_S)] == [("s1",)]
    assert factory.schemas == [SCHEMA]
    core.close()


@pytest.mark.parametrize("kind", ["columnar", "betree", "forest", "scan"])
def test_a_broker_matches_with_any_kind_of_index(kind: str, tmp_path: Path) -> None:
    for value in (3.0, 4.0):  # the second broker finds what the first one left
        with wc.Broker(SCHEMA, data=tmp_path / "store", index=kind) as broker:
            ana = broker.subscriber("ana")
            ana.subscribe_all({"a": "no2 > 1", "b": "no2 > 2 AND no2 < 9", "c": "no2 < 0"})
            broker.publisher("p").publish({"no2": value})
            [one] = ana.take(1, LIMIT_S)
            assert (one.subscription_ids, one.publication.attributes["no2"]) == (("a", "b"), value)
            one.ack()


def test_an_unknown_kind_of_index_is_refused(tmp_path: Path) -> None:
    with pytest.raises(wc.ConfigError, match="unknown kind of index beetree; did you mean betree"):
        wc.Broker(SCHEMA, data=tmp_path / "store", index="beetree")
    assert not (tmp_path / "store").exists()


def test_nothing_runs_before_the_first_check_and_after_the_close() -> None:
    core = BrokerCore(open_store("memory:"), SCHEMA)
    assert core.figures["batches"] == 0
    assert core.problem is None
    assert core.queued_in_all is None
    core.close()
    core.close()
    assert core.is_closed
    core.raise_failure()
    for call in (
        core.check,
        lambda: core.register("ana"),
        lambda: core.forget("ana"),
        lambda: core.open_queue("ana"),
        lambda: core.publish([], "default"),
    ):
        with pytest.raises(wc.ConfigError, match="the broker is closed"):
            call()


def test_publications_are_found_by_sequence_and_by_offset() -> None:
    core = BrokerCore(open_store("memory:"), SCHEMA)
    core.register("ana")
    ana = Subscriber("ana", core)
    ana.subscribe("no2 > 0")
    core.publish([wc.Publication({"no2": float(value)}) for value in range(1, 4)], "default")
    handed = core.courier.take("ana", 3, LIMIT_S)
    sequences = [one.sequence for one in handed]
    got = core.publications(sequences)
    assert [one and one.publication.attributes["no2"] for one in got][:1] == [1.0]
    assert core.cached_publications(sequences) == got
    assert core.publications_at([0, 1])[:1] == got[:1]
    core.close()


def test_subscriptions_are_a_list_that_can_be_asked_for_again() -> None:
    with wc.Broker(SCHEMA) as broker:
        ana = broker.subscriber("ana")
        many = {f"s{number:05}": "no2 > 1" for number in range(2_500)}  # more than a page
        assert ana.subscribe_all(many) == []
        found = ana.subscriptions()
        assert [one.id for one in found] == sorted(many)
        assert len(found) == len(ana.subscriptions()) == 2_500
    with pytest.raises(wc.ConfigError, match="the broker is closed"):
        ana.subscriptions()
