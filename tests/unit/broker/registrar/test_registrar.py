"""Changes are checked before they are written, and written once."""

from datetime import timedelta
from pathlib import Path

import apsw
import pytest

from tests.unit.broker.feeding import SCHEMA, match, opened, publish, queued
from wherecast import ConfigError, FilterError, Schema, Subscription
from wherecast.broker.registrar.registrar import Registrar
from wherecast.model import StreamSpec, SubscriptionSpec
from wherecast.store.changes.change_batches import batch_of, stream_row, subscriber_row
from wherecast.store.open_store import StoreOptions, open_store
from wherecast.store.records import Cursor


def test_the_same_again_changes_nothing() -> None:
    store = open_store("memory:")
    registrar = opened(store)
    assert registrar.register("ana", 0)
    registrar.subscribe(Subscription("s1", "no2 > 1", "ana"), 0)
    end = store.log.changes_end()
    registrar.define("default", SCHEMA, 1)
    assert not registrar.register("ana", 1)
    registrar.subscribe(Subscription("s1", "no2 > 1", "ana"), 1)
    assert store.log.changes_end() == end
    registrar.subscribe(Subscription("s1", "no2 > 2", "ana"), 2)
    assert store.log.changes_end() == end + 1


def test_a_filter_that_never_matches_is_accepted_with_a_warning() -> None:
    store = open_store("memory:")
    registrar = opened(store)
    registrar.register("ana", 0)
    read = registrar.subscribe(Subscription("s1", "no2 > 5 AND no2 < 3", "ana"), 0).filter
    assert read.warnings
    assert store.registry.subscription("ana", "s1") is not None


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        (Subscription("s1", "no2 > 1", "bob"), "subscriber bob is not registered"),
        (Subscription("s1", "no2 > 1", "ana", "water"), "unknown stream water"),
        (Subscription("", "no2 > 1", "ana"), "a subscription id is a string"),
        (Subscription("s1", "no2 > 1", "ana", valid_for=timedelta(1)), "valid_for is not"),
    ],
)  # fmt: skip
def test_what_is_refused_changes_nothing(wanted: Subscription, text: str) -> None:
    store = open_store("memory:")
    registrar = opened(store)
    registrar.register("ana", 0)
    end = store.log.changes_end()
    with pytest.raises(ConfigError, match=text):
        registrar.subscribe(wanted, 0)
    with pytest.raises(ConfigError, match=text):
        registrar.subscribe_all(wanted.subscriber, [wanted], 0)
    assert store.log.changes_end() == end


def test_many_are_one_step_without_the_bad_ones() -> None:
    store = open_store("memory:")
    registrar = opened(store)
    registrar.register("ana", 0)
    wanted = [Subscription(f"s{n}", text, "ana") for n, text in enumerate(["no2 > 1", "no2 >"])]
    [(id, error)] = registrar.subscribe_all("ana", wanted, 0)
    assert id == "s1"
    assert isinstance(error, FilterError)
    assert [one.id for one in store.registry.subscriptions("ana")] == ["s0"]


def test_of_the_same_id_the_last_one_counts() -> None:
    store = open_store("memory:")
    registrar = opened(store)
    registrar.register("ana", 0)
    registrar.subscribe(Subscription("s1", "no2 > 1", "ana"), 0)
    again = [Subscription("s1", text, "ana") for text in ("no2 > 2", "no2 > 1")]
    assert registrar.subscribe_all("ana", again, 0) == []
    assert registrar.stored_specs("ana") == {"s1": SubscriptionSpec("default", "no2 > 1")}
    assert registrar.put("ana", again, 0).verdicts == ("changed", "changed")
    assert registrar.put("ana", [], 0).acts_from is None


def test_a_name_that_is_taken_again_gets_nothing_old() -> None:
    """Not even what was published before and is matched only now."""
    store = open_store("memory:")
    registrar = opened(store)
    registrar.register("ana", 0)
    registrar.subscribe(Subscription("s1", "no2 > 0", "ana"), 0)
    publish(store, [1, 2])
    match(store)
    publish(store, [3, 4])
    assert registrar.forget("ana", 0)
    assert not registrar.forget("ana", 0)
    publish(store, [5])
    registrar.register("ana", 0)
    assert list(store.registry.subscriptions("ana")) == []
    match(store)
    assert queued(store, "ana") == []
    registrar.subscribe(Subscription("s1", "no2 > 0", "ana"), 0)
    publish(store, [6])
    match(store)
    assert queued(store, "ana") == [5]


def test_a_name_whose_end_was_cut_short_gets_nothing_old() -> None:
    """The cursor of a subscriber that was forgotten is still there."""
    store = open_store("memory:")
    registrar = opened(store)
    registrar.register("ana", 0)
    registrar.subscribe(Subscription("s1", "no2 > 0", "ana"), 0)
    publish(store, [1, 2])
    match(store)
    assert registrar.forget("ana", 0)
    assert store.cursors.read("ana") == Cursor(0)
    assert registrar.register("ana", 0)
    assert queued(store, "ana") == []


def test_a_subscriber_that_the_registry_lost_keeps_its_queue(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store")
    registrar = opened(store)
    registrar.register("ana", 0)
    registrar.subscribe(Subscription("s1", "no2 > 0", "ana"), 0)
    publish(store, [1, 2])
    match(store)
    connection = apsw.Connection(str(tmp_path / "store" / "log.db"))
    connection.execute("UPDATE subscribers SET name = 'anb'")
    connection.close()
    assert not registrar.register("ana", 1)
    assert store.registry.has_subscriber("ana")
    assert queued(store, "ana") == [0, 1]
    publish(store, [3])
    match(store)
    assert queued(store, "ana") == [0, 1, 2]
    store.close()


def test_with_several_partitions_nothing_new_is_missed() -> None:
    store = open_store("memory:", options=StoreOptions(partitions=3))
    registrar = opened(store)
    publish(store, [1, 2, 3])
    registrar.register("ana", 0)
    registrar.subscribe(Subscription("s1", "no2 > 3", "ana"), 0)
    for value in range(4, 12):
        publish(store, [value])
    match(store)
    assert len(queued(store, "ana")) == 8


def test_a_stream_keeps_its_schema() -> None:
    registrar = opened(open_store("memory:"))
    with pytest.raises(ConfigError, match="there with another schema"):
        registrar.define("default", Schema.from_dict({"no2": "int"}), 0)
    assert registrar.schema("default") == SCHEMA
    with pytest.raises(ConfigError, match="there are: default"):
        registrar.schema("water")


def test_a_subscriber_has_a_limit_of_subscriptions() -> None:
    store = open_store("memory:")
    registrar = Registrar(store, subscriptions_max=2)
    registrar.define("default", SCHEMA, 0)
    registrar.register("ana", 0)
    for id in ("a", "b", "a"):
        registrar.subscribe(Subscription(id, "no2 > 1", "ana"), 0)
    for call in (
        lambda: registrar.subscribe(Subscription("c", "no2 > 1", "ana"), 0),
        lambda: registrar.subscribe_all("ana", [Subscription("c", "no2 > 1", "ana")], 0),
    ):
        with pytest.raises(ConfigError, match=r"the limit limits\.subscriptions_max is 2"):
            call()
    registrar.subscribe_all("ana", [Subscription("b", "no2 > 2", "ana")], 0)
    registrar.unsubscribe("ana", "a", 0)
    registrar.subscribe(Subscription("c", "no2 > 1", "ana"), 0)
    assert Registrar(store, subscriptions_max=2).stored_specs("ana").keys() == {"b", "c"}


def test_how_long_the_log_of_a_stream_is_kept() -> None:
    store = open_store("memory:")
    registrar = opened(store)

    def kept() -> int:
        return store.registry.stream_specs()["default"].keep_us

    assert kept() == 0
    registrar.define("default", SCHEMA, 0, keep="1h")
    registrar.define("default", SCHEMA, 0)
    assert kept() == 3_600_000_000
    version = store.log.changes_end()
    registrar.define("default", SCHEMA, 0, keep=timedelta(hours=1))
    assert store.log.changes_end() == version
    for bad in ("1 hour", "-1s", "40000d"):
        with pytest.raises(ConfigError, match="keep: "):
            registrar.define("default", SCHEMA, 0, keep=bad)
    with pytest.raises(ConfigError, match="there with another schema"):
        registrar.define("default", Schema.from_dict({"no2": "int"}), 0, keep="2h")
    assert kept() == 3_600_000_000
    registrar.define("default", SCHEMA, 0, keep="0s")
    assert (kept(), registrar.schema("default")) == (0, SCHEMA)


def test_names_of_brokers_are_refused_and_the_store_takes_them() -> None:
    store = open_store("memory:")
    registrar = opened(store)
    store.log.change(
        batch_of([subscriber_row("@b1"), stream_row("@reports", StreamSpec(SCHEMA))]), 0
    )
    assert store.registry.has_subscriber("@b1")
    wanted = Subscription("s1", "no2 > 1", "@b1")
    for call in (
        lambda: registrar.define("@x", SCHEMA, 0),
        lambda: registrar.schema("@reports"),
        lambda: registrar.register("@b2", 0),
        lambda: registrar.forget("@b1", 0),
        lambda: registrar.subscribe(wanted, 0),
        lambda: registrar.subscribe_all("@b1", [wanted], 0),
        lambda: registrar.put("@b1", [wanted], 0),
        lambda: registrar.unsubscribe("@b1", "s1", 0),
        lambda: registrar.subscribe(Subscription("s1", "no2 > 1", "ana", "@reports"), 0),
    ):
        with pytest.raises(ConfigError, match="does not begin with @"):
            call()
    assert store.registry.subscribers() == ["@b1"]


def test_a_subscription_with_other_options_is_another_one() -> None:
    store = open_store("memory:")
    registrar = opened(store)
    registrar.register("ana", 0)
    plain, noticed = (
        Subscription("s", "no2 > 1", "ana"),
        Subscription(
            "s", "no2 > 1", "ana", notices=True, owner="bo", rank="ORDER BY no2 LIMIT 1", priority=3
        ),
    )
    verdicts = [
        registrar.subscribe(one, 0).verdict for one in (plain, plain, noticed, noticed, plain)
    ]
    assert verdicts == ["created", "unchanged", "changed", "unchanged", "changed"]
    registrar.subscribe(noticed, 0)
    stored = store.registry.subscription("ana", "s")
    assert stored is not None
    assert (stored.notices, stored.owner, stored.rank, stored.priority) == (
        *(True, "bo", "ORDER BY no2 LIMIT 1", 3),
    )
