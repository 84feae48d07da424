"""What a user can see of a broker in this process, in memory and durable alike."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
import pytest

import wherecast as wc
from tests.contract.stores import withdrawals
from tests.unit.broker.brokers import LIMIT_S, SCHEMA, Open, opener, taken, values


@pytest.fixture(params=["memory", "durable"])
def open_broker(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    return opener(request.param, tmp_path)


def test_a_match_is_delivered_with_everything_it_carries(open_broker: Open) -> None:
    with open_broker() as broker:
        ana = broker.subscriber("ana")
        ana.subscribe("no2 > 40", id="s2")
        ana.subscribe("city = 'Zagreb'", id="s1")
        ana.subscribe("no2 > 1000", id="s0")
        sent_at = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
        publisher = broker.publisher("station-7")
        publisher.publish(
            wc.Publication({"no2": 45.0, "city": "Zagreb"}, "p1", b"\x00payload", sent_at)
        )
        publisher.publish({"no2": 1.0})
        [one] = taken(ana, 1)
        assert one.publication == wc.Publication(
            {"no2": 45.0, "city": "Zagreb"}, "p1", b"\x00payload", sent_at, publisher="station-7"
        )
        assert one.subscription_ids == ("s1", "s2")
        assert one.stream == "default"
        assert not one.redelivered


def test_ids_are_unique_within_a_stream_and_a_publisher(open_broker: Open) -> None:
    with open_broker() as broker:
        broker.define("evil", SCHEMA)
        station, other = broker.publisher("station-7"), broker.publisher("station-8")
        ana = broker.subscriber("ana")
        ana.subscribe("no2 > 0")
        assert station.publish({"no2": 9.0}, id="a", stream="evil").accepted == 1
        assert station.publish({"no2": 1.0}, id="a").accepted == 1
        assert other.publish({"no2": 2.0}, id="a").accepted == 1
        assert station.publish({"no2": 1.0}, id="a").duplicates == 1
        with pytest.raises(wc.PublicationError, match="came before with another body"):
            other.publish({"no2": 1.0}, id="a")
        found = [(one.publication.publisher, one.publication.id) for one in taken(ana, 2)]
        assert found == [("station-7", "a"), ("station-8", "a")]


def test_withdrawals_and_ticks_notify_nobody(open_broker: Open) -> None:
    with open_broker() as broker:
        station, ana = broker.publisher("station-7"), broker.subscriber("ana")
        ana.subscribe("no2 > 0")
        station.publish({"no2": 1.0}, id="a")
        log, at = broker._core.store.log, broker._core.clock()
        log.withdraw(withdrawals("a", publisher="station-7"), at)
        log.tick(at)
        station.publish({"no2": 2.0})
        assert values(taken(ana, 2)) == [1.0, 2.0]
        assert list(broker.dead_letters()) == []
        found = broker._core.publications_at(range(4))
        assert [one is None for one in found] == [False, True, True, False]


def test_id_and_time_are_filled_in(open_broker: Open) -> None:
    with open_broker() as broker:
        ana = broker.subscriber("ana")
        ana.subscribe("no2 > 0")
        before = datetime.now(UTC) - timedelta(seconds=1)
        broker.publisher("p").publish_all([{"no2": 1.0}, {"no2": 2.0}])
        first, second = taken(ana, 2)
        assert first.publication.id
        assert first.publication.id != second.publication.id
        assert first.publication.published_at is not None
        assert before <= first.publication.published_at <= datetime.now(UTC)
        assert first.cursor < second.cursor


def test_what_was_taken_comes_again_marked_until_acknowledged(open_broker: Open) -> None:
    with open_broker() as broker:
        ana = broker.subscriber("ana")
        ana.subscribe("no2 > 0")
        broker.publisher("p").publish_all([{"no2": float(number)} for number in (1, 2, 3)])
        assert [one.redelivered for one in taken(ana, 3)] == [False] * 3
        again = ana.take(3)
        assert [one.redelivered for one in again] == [True] * 3
        again[1].ack()
        again[1].ack()  # a second time does no harm
        assert values(ana.take(3)) == [1.0, 3.0]
        assert values(ana.take(1)) == [1.0]
        ana.ack_through(again[2])
        assert ana.take(3) == []
        assert ana.queued == 0


def test_take_waits_for_the_first_only(open_broker: Open) -> None:
    with open_broker() as broker:
        ana = broker.subscriber("ana")
        ana.subscribe("no2 > 0")
        assert ana.take(10) == []
        assert ana.take(10, timeout=0.01) == []
        with ThreadPoolExecutor(1) as waiting:
            found = waiting.submit(ana.take, 10, LIMIT_S)
            broker.publisher("p").publish({"no2": 1.0})
            assert values(found.result(LIMIT_S)) == [1.0]


@pytest.mark.parametrize("most", [0, -1, 1.5, "5", None])
def test_take_refuses_what_is_no_count(most: object) -> None:
    with (
        wc.Broker(SCHEMA) as broker,
        pytest.raises(wc.ConfigError, match=f"at least 1, not {most}"),
    ):
        broker.subscriber("ana").take(most)  # type: ignore[arg-type]


@pytest.mark.parametrize("timeout", [float("nan"), "1", None])
def test_take_refuses_what_is_no_time(timeout: object) -> None:
    with (
        wc.Broker(SCHEMA) as broker,
        pytest.raises(wc.ConfigError, match="a timeout is a number of seconds"),
    ):
        broker.subscriber("ana").take(1, timeout)  # type: ignore[arg-type]


def test_a_waiting_take_may_be_without_end(open_broker: Open) -> None:
    with open_broker() as broker, ThreadPoolExecutor(1) as waiting:
        ana = broker.subscriber("ana")
        ana.subscribe("no2 > 0")
        found = waiting.submit(ana.take, 1, float("inf"))
        broker.publisher("p").publish({"no2": 1.0})
        assert values(found.result(LIMIT_S)) == [1.0]


def test_an_iteration_gives_each_once_until_the_broker_is_closed(open_broker: Open) -> None:
    broker = open_broker()
    ana = broker.subscriber("ana")
    ana.subscribe("no2 > 0")
    publisher = broker.publisher("p")
    publisher.publish_all([{"no2": float(number)} for number in range(1, 6)])
    seen: list[object] = []
    all_seen = threading.Event()

    def read() -> None:
        for one in ana:
            seen.append(one.publication.attributes["no2"])
            one.ack()
            if len(seen) == 10:
                all_seen.set()

    with ThreadPoolExecutor(1) as reading:
        done = reading.submit(read)
        publisher.publish_all([{"no2": float(number)} for number in range(6, 11)])
        assert all_seen.wait(LIMIT_S)
        broker.close()
        done.result(LIMIT_S)
    assert seen == [float(number) for number in range(1, 11)]


def test_what_an_iteration_did_not_acknowledge_comes_again(open_broker: Open) -> None:
    with open_broker() as broker:
        ana = broker.subscriber("ana")
        ana.subscribe("no2 > 0")
        broker.publisher("p").publish_all([{"no2": 1.0}, {"no2": 2.0}])
        for one in ana:
            if one.publication.attributes["no2"] == 2.0:
                break
            one.ack()
        [left] = ana.take(10)
        assert left.publication.attributes["no2"] == 2.0
        assert left.redelivered


def test_a_subscription_acts_from_where_it_was_made(open_broker: Open) -> None:
    with open_broker() as broker:
        ana = broker.subscriber("ana")
        publisher = broker.publisher("p")
        publisher.publish({"no2": 1.0})
        ana.subscribe("no2 > 0", id="s1")
        publisher.publish({"no2": 2.0})
        ana.subscribe("no2 > 10", id="s1")  # replaces it
        publisher.publish_all([{"no2": 3.0}, {"no2": 13.0}])
        assert ana.unsubscribe("s1")
        assert not ana.unsubscribe("s1")
        publisher.publish({"no2": 14.0})
        ana.subscribe("no2 = 15", id="s2")
        publisher.publish({"no2": 15.0})
        assert values(taken(ana, 3)) == [2.0, 13.0, 15.0]  # what was queued stays


def test_many_subscriptions_at_once(open_broker: Open) -> None:
    with open_broker() as broker:
        ana = broker.subscriber("ana")
        bad = ana.subscribe_all({"a": "no2 > 1", "b": "no2 >", "c": "nope = 1", "d": "no2 > 2"})
        assert [id for id, _ in bad] == ["b", "c"]
        assert bad[0][1].position is not None
        assert [(one.id, one.filter) for one in ana.subscriptions()] == [
            ("a", "no2 > 1"),
            ("d", "no2 > 2"),
        ]
        broker.publisher("p").publish({"no2": 3.0})
        assert taken(ana, 1)[0].subscription_ids == ("a", "d")


def test_a_bad_filter_changes_nothing(open_broker: Open) -> None:
    with open_broker() as broker:
        ana = broker.subscriber("ana")
        ana.subscribe("no2 > 1", id="s1")
        with pytest.raises(wc.FilterError) as refused:
            ana.subscribe("no2 > 1 AND humidity > 2", id="s1")
        assert refused.value.position == 12
        assert [one.filter for one in ana.subscriptions()] == ["no2 > 1"]


def test_a_subscription_without_an_id_gets_one(open_broker: Open) -> None:
    with open_broker() as broker:
        ana = broker.subscriber("ana")
        made = {ana.subscribe("no2 > 0").id, ana.subscribe("no2 > 0").id}
        assert len(made) == 2
        broker.publisher("p").publish({"no2": 1.0})
        assert set(taken(ana, 1)[0].subscription_ids) == made


def test_the_same_id_again_is_a_duplicate_or_a_conflict(open_broker: Open) -> None:
    with open_broker() as broker:
        ana = broker.subscriber("ana")
        ana.subscribe("no2 > 0")
        publisher = broker.publisher("p")
        assert publisher.publish({"no2": 1.0}, id="x").accepted == 1
        again = publisher.publish({"no2": 1}, id="x")  # the same value, written otherwise
        assert (again.accepted, again.duplicates) == (0, 1)
        with pytest.raises(wc.PublicationError, match="id x came before with another body"):
            publisher.publish({"no2": 2.0}, id="x")
        with pytest.raises(wc.PublicationError, match="another body"):
            publisher.publish({"no2": 1.0}, payload=b"other", id="x")
        publisher.publish({"no2": 3.0})
        assert values(taken(ana, 2)) == [1.0, 3.0]


def test_bad_ones_among_good_ones(open_broker: Open) -> None:
    with open_broker() as broker:
        ana = broker.subscriber("ana")
        ana.subscribe("no2 > 0")
        done = broker.publisher("p").publish_all(
            [
                {"no2": 1.0},
                {"no2": "much"},
                wc.Publication({"no2": 2.0}, "x"),
                wc.Publication({"no2": 2.0}, "x"),
                wc.Publication({"no2": 3.0}, "x"),
                {"humidity": 1.0},
                wc.Publication({"no2": 4.0}, valid_for=timedelta(hours=1)),
                {"no2": 5.0},
            ]
        )
        assert (done.accepted, done.duplicates) == (3, 1)
        assert {row: error.problems[0].code for row, error in done.errors} == {
            1: "wrong_type",
            4: "conflict",
            5: "unknown_attribute",
            6: "not_supported",
        }
        assert values(taken(ana, 3)) == [1.0, 2.0, 5.0]


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (wc.Publication({"no2": 1.0}, valid_for=timedelta(1)), "valid_for is not supported yet"),
        (wc.Publication({"no2": 1.0}, payload=b"x" * (256 * 1024 + 1)), "the limit is 262144"),
        (wc.Publication({"no2": 1.0}, payload="x"), "payload is bytes"),  # type: ignore[arg-type]
        (wc.Publication({"no2": 1.0}, ""), "id is a string of 1 to 256 characters"),
        (wc.Publication({"no2": 1.0}, "x" * 257), "id is a string of 1 to 256 characters"),
        (wc.Publication({"no2": 1.0}, "\ud800"), "id is a string of 1 to 256 characters"),
        (wc.Publication({"no2": 1.0}, 5), "not the number 5"),  # type: ignore[arg-type]
        (wc.Publication({"no2": 1.0}, published_at="now"), "published_at is a datetime"),  # type: ignore[arg-type]
        ({"no2": float("inf"), "humidity": 1}, "unknown attribute humidity"),
        (None, "a publication is an object"),
        ("no2", "a publication is an object"),
    ],
)  # fmt: skip
def test_a_bad_publication_is_refused(open_broker: Open, given: object, text: str) -> None:
    with open_broker() as broker:
        ana = broker.subscriber("ana")
        ana.subscribe("no2 > 0")
        publisher = broker.publisher("p")
        with pytest.raises(wc.PublicationError, match=text):
            publisher.publish(given)  # type: ignore[arg-type]
        publisher.publish({"no2": 7.0})
        assert values(taken(ana, 1)) == [7.0]  # the bad one was not stored


def test_ids_and_payloads_at_their_limits(open_broker: Open) -> None:
    with open_broker() as broker:
        ana = broker.subscriber("ana")
        ana.subscribe("no2 > 0")
        payload = b"\xff" * (256 * 1024)
        broker.publisher("p").publish({"no2": 1.0}, payload=payload, id="ž" * 256)
        [one] = taken(ana, 1)
        assert one.publication.id == "ž" * 256
        assert one.publication.payload == payload


def test_streams_are_apart(open_broker: Open) -> None:
    with open_broker() as broker:
        broker.define("water", wc.Schema.from_dict({"level": "int"}))
        broker.define("water", wc.Schema.from_dict({"level": "int"}))  # the same again
        ana = broker.subscriber("ana")
        ana.subscribe("no2 > 0", id="s1")
        ana.subscribe("level > 0", id="s2", stream="water")
        publisher = broker.publisher("p")
        publisher.publish({"level": 3}, stream="water")
        publisher.publish({"no2": 4.0})
        found = [(one.stream, one.subscription_ids) for one in taken(ana, 2)]
        assert found == [("water", ("s2",)), ("default", ("s1",))]
        with pytest.raises(wc.PublicationError, match="unknown attribute no2"):
            publisher.publish({"no2": 1.0}, stream="water")


def test_an_unknown_stream_names_those_there_are(open_broker: Open) -> None:
    with open_broker() as broker:
        broker.define("water", SCHEMA)
        ana, publisher = broker.subscriber("ana"), broker.publisher("p")
        with pytest.raises(wc.ConfigError, match="unknown stream oil; there are: default, water"):
            publisher.publish({"no2": 1.0}, stream="oil")
        with pytest.raises(wc.ConfigError, match="unknown stream oil"):
            ana.subscribe("no2 > 0", stream="oil")
        with pytest.raises(wc.ConfigError, match="did you mean water"):
            publisher.publish({"no2": 1.0}, stream="watr")
        with pytest.raises(wc.ConfigError, match="a stream is a string"):
            publisher.publish({"no2": 1.0}, stream=None)  # type: ignore[arg-type]


def test_the_log_of_a_stream_is_kept_for_a_while(open_broker: Open) -> None:
    with open_broker() as broker:
        broker.define("water", SCHEMA, keep="1h")
        broker.define("water", SCHEMA, keep=timedelta(days=2))
        broker.define("water", SCHEMA)
        for bad in ("1 hour", 5, "-1s", timedelta(seconds=-1), "40000d"):
            with pytest.raises(wc.ConfigError, match="keep: "):
                broker.define("water", SCHEMA, keep=bad)  # type: ignore[arg-type]


def test_names_that_begin_with_an_at_sign_are_refused(open_broker: Open) -> None:
    with open_broker() as broker:
        ana = broker.subscriber("ana")
        for call in (
            lambda: broker.define("@water", SCHEMA),
            lambda: broker.subscriber("@b1"),
            lambda: broker.forget("@b1"),
            lambda: broker.publisher("@b1"),
            lambda: broker.publisher("p").publish({"no2": 1.0}, stream="@water"),
            lambda: ana.subscribe("no2 > 1", stream="@water"),
        ):
            with pytest.raises(wc.ConfigError, match="does not begin with @"):
                call()
        assert ana.subscribe("no2 > 1", id="@s1").id == "@s1"


def test_a_stream_keeps_its_schema(open_broker: Open) -> None:
    with open_broker() as broker:
        with pytest.raises(wc.ConfigError, match="there with another schema"):
            broker.define("default", wc.Schema.from_dict({"no2": "int"}))
        with pytest.raises(wc.ConfigError, match="needs a Schema, not null"):
            broker.define("water", None)  # type: ignore[arg-type]


def test_without_a_schema_any_attribute_is_accepted() -> None:
    with wc.Broker() as broker:
        ana = broker.subscriber("ana")
        ana.subscribe("height > 2 AND name = 'oak'")
        broker.publisher("p").publish_all([{"height": 3, "name": "oak"}, {"height": 3}, {"x": 1}])
        assert taken(ana, 1)[0].publication.attributes == {"height": 3.0, "name": "oak"}


@pytest.mark.parametrize("name", ["", "x" * 257, "\ud800", None, 5])
def test_what_is_no_name_is_refused(name: object) -> None:
    with wc.Broker(SCHEMA) as broker:
        with pytest.raises(wc.ConfigError, match="a subscriber is a string of 1 to 256"):
            broker.subscriber(name)  # type: ignore[arg-type]
        with pytest.raises(wc.ConfigError, match="a publisher is a string of 1 to 256"):
            broker.publisher(name)  # type: ignore[arg-type]
        if name is not None:
            with pytest.raises(wc.ConfigError, match="a subscription id is a string of 1 to 256"):
                broker.subscriber("ana").subscribe("no2 > 1", id=name)  # type: ignore[arg-type]


def test_a_foreign_notification_cannot_be_acknowledged(open_broker: Open) -> None:
    with open_broker() as broker:
        ana, bob = broker.subscriber("ana"), broker.subscriber("bob")
        bob.subscribe("no2 > 0")
        broker.publisher("p").publish({"no2": 1.0})
        [one] = taken(bob, 1)
        for acknowledge in (ana.ack, ana.ack_through):
            with pytest.raises(wc.AcknowledgementError, match="is a notification of bob"):
                acknowledge(one)
        assert len(bob.take(10)) == 1


def test_a_forgotten_subscriber_is_gone_and_its_name_begins_anew(open_broker: Open) -> None:
    with open_broker() as broker:
        ana = broker.subscriber("ana")
        ana.subscribe("no2 > 0", id="s1")
        publisher = broker.publisher("p")
        publisher.publish_all([{"no2": 1.0}, {"no2": 2.0}])
        [one, _] = taken(ana, 2)
        publisher.publish({"no2": 3.0})  # perhaps not matched yet
        assert broker.forget("ana")
        assert not broker.forget("ana")
        publisher.publish({"no2": 4.0})
        for call in (one.ack, ana.take, lambda: list(ana), lambda: ana.subscribe("no2 > 1")):
            with pytest.raises(wc.ConfigError, match="subscriber ana is not registered"):
                call()
        assert ana.queued == 0
        again = broker.subscriber("ana")
        assert again.subscriptions() == []
        again.subscribe("no2 > 4", id="s1")
        publisher.publish({"no2": 5.0})
        assert values(taken(again, 1)) == [5.0]
        assert len(again.take(10)) == 1


def test_forgetting_ends_an_iteration(open_broker: Open) -> None:
    with open_broker() as broker:
        ana = broker.subscriber("ana")
        ana.subscribe("no2 > 0")
        broker.publisher("p").publish({"no2": 1.0})
        for _ in ana:
            broker.forget("ana")


def test_several_threads_publish_and_take(open_broker: Open) -> None:
    threads, each = 4, 50
    with open_broker() as broker:
        subscribers = [broker.subscriber(f"s{number}") for number in range(threads)]
        for number, one in enumerate(subscribers):
            one.subscribe(f"city = 'c{number}'")
            one.subscribe("no2 = 0")

        def publish(number: int) -> int:
            publisher = broker.publisher(f"p{number}")
            calls = [
                publisher.publish({"no2": float(count), "city": f"c{number}"})
                for count in range(each)
            ]
            return sum(call.accepted for call in calls)

        def take(number: int) -> list[tuple[object, object]]:
            found: list[tuple[object, object]] = []
            while len(found) < each + threads - 1:
                some = subscribers[number].take(7, timeout=LIMIT_S)
                assert some, f"only {len(found)} came"
                attributes = [one.publication.attributes for one in some]
                found += [(values["city"], values["no2"]) for values in attributes]
                subscribers[number].ack_through(some[-1])
            return found

        with ThreadPoolExecutor(2 * threads) as pool:
            published = pool.map(publish, range(threads))
            got = list(pool.map(take, range(threads)))
            assert sum(published) == threads * each
        for number, found in enumerate(got):
            own = [value for city, value in found if city == f"c{number}"]
            assert own == [float(count) for count in range(each)]  # in the order published
            others = {city for city, _ in found} - {f"c{number}"}
            assert len(others) == threads - 1
        assert all(one.take(10) == [] for one in subscribers)


def test_several_threads_share_a_subscriber(open_broker: Open) -> None:
    with open_broker() as broker:
        ana = broker.subscriber("ana")
        ana.subscribe("no2 > 0")
        broker.publisher("p").publish_all([{"no2": float(number)} for number in range(1, 201)])
        taken(ana, 200)

        def work(_: int) -> set[object]:
            done = set()
            while some := ana.take(5):
                for one in some:
                    one.ack()
                    done.add(one.publication.attributes["no2"])
            return done

        with ThreadPoolExecutor(4) as pool:
            assert len(set.union(*pool.map(work, range(4)))) == 200
        assert ana.queued == 0


def test_a_closed_broker_says_so(open_broker: Open) -> None:
    broker = open_broker()
    ana, publisher = broker.subscriber("ana"), broker.publisher("p")
    ana.subscribe("no2 > 0", id="s1")
    publisher.publish({"no2": 1.0})
    [one] = taken(ana, 1)
    broker.close()
    broker.close()
    calls = [
        one.ack,
        ana.take,
        lambda: ana.ack_through(one),
        lambda: list(ana),
        ana.subscriptions,
        lambda: ana.queued,
        lambda: ana.subscribe("no2 > 1"),
        lambda: ana.subscribe_all({"a": "no2 > 1"}),
        lambda: ana.unsubscribe("s1"),
        lambda: publisher.publish({"no2": 1.0}),
        lambda: broker.define("water", SCHEMA),
        lambda: broker.publisher("q"),
        lambda: broker.subscriber("bob"),
        lambda: broker.forget("ana"),
    ]
    for call in calls:
        with pytest.raises(wc.ConfigError, match="the broker is closed"):
            call()


@pytest.mark.parametrize("schema", [{"no2": "float"}, "air.toml"])
def test_a_schema_must_be_one(schema: object) -> None:
    with pytest.raises(wc.ConfigError, match="needs a Schema"):
        wc.Broker(schema)  # type: ignore[arg-type]


def test_a_publication_that_was_damaged_later_is_counted_as_lost(tmp_path: Path) -> None:
    with wc.Broker(SCHEMA, data=tmp_path / "store") as broker:
        ana = broker.subscriber("ana")
        ana.subscribe("no2 > 0")
        broker.publisher("p").publish_all([{"no2": 1.0}, {"no2": 2.0}])
        broker.publisher("p").publish({"no2": 3.0})
        taken(ana, 3)
    connection = apsw.Connection(str(tmp_path / "store" / "log.db"))
    [(data,)] = connection.execute("SELECT attributes FROM entries WHERE first = 0")
    harmed = bytes(data[:-1]) + bytes([data[-1] ^ 1])
    connection.execute("UPDATE entries SET attributes = ? WHERE first = 0", (harmed,))
    connection.close()
    with wc.Broker(SCHEMA, data=tmp_path / "store") as broker:
        ana = broker.subscriber("ana")
        assert [one.publication.attributes for one in taken(ana, 1)] == [{"no2": 3.0}]
        assert ana.lost == 2
    with wc.Broker(SCHEMA, data=tmp_path / "store") as broker:
        assert broker.subscriber("ana").lost == 2


@pytest.mark.parametrize(
    "misuse",
    [
        lambda broker: broker.publisher("p").publish_all(None),
        lambda broker: broker.publisher("p").publish_all({"no2": 1.0}),
        lambda broker: broker.publisher("p").publish_all("no2"),
        lambda broker: broker.subscriber("ana").subscribe_all(5),
        lambda broker: broker.subscriber("ana").subscribe_all(["s1"]),
        lambda broker: broker.subscriber("ana").subscribe_all([(5, "no2 > 1")]),
        lambda broker: broker.subscriber("ana").unsubscribe([]),
        lambda broker: broker.forget(7),
        lambda broker: broker.subscriber("ana").ack("0"),
        lambda _: wc.Broker(data="a\0b"),
    ],
)
def test_misuse_is_told_in_one_line(misuse: Callable[[wc.Broker], object]) -> None:
    with wc.Broker(SCHEMA) as broker, pytest.raises(wc.ConfigError) as refused:
        misuse(broker)
    assert "\n" not in str(refused.value)


def test_what_is_odd_about_a_filter_is_told(open_broker: Open) -> None:
    with open_broker() as broker:
        ana = broker.subscriber("ana")
        (warning,) = ana.subscribe("no2 > 5 AND no2 < 3").warnings
        assert "can never match" in warning
        assert ana.subscribe("no2 > 5").warnings == ()


def test_any_number_may_be_taken(open_broker: Open) -> None:
    with open_broker() as broker:
        ana = broker.subscriber("ana")
        ana.subscribe("no2 > 40")
        broker.publisher("p").publish({"no2": 41.0})
        assert values(ana.take(10**30, timeout=LIMIT_S)) == [41.0]


def test_what_retention_removes_while_it_is_handed_out_is_lost_once(open_broker: Open) -> None:
    with open_broker() as broker:
        ana = broker.subscriber("ana")
        ana.subscribe("no2 > 40")
        broker.publisher("p").publish_all([{"no2": 41.0}, {"no2": 42.0}])
        taken(ana, 2)
        handed = broker._core.courier.take("ana", 2, LIMIT_S)
        batches = broker._core.store.batches
        assert batches.wait(lambda progress: progress.count == 2, LIMIT_S)
        end = batches.progress().sequence
        broker._core.courier.trim("ana", end, 2)
        broker._core.store.mailboxes.trim(end)
        broker._core.store.log.trim(broker._core.store.batches.progress().position)
        assert len(ana.notifications(handed)) in (0, 2)  # the publications may be at hand
        assert ana.lost == 2
