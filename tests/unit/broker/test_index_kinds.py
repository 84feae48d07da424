"""A broker delivers the same with every kind of index, also after a restart with another kind."""

import asyncio
from pathlib import Path

import pytest

import wherecast as wc
from wherecast.matching.kinds import KINDS

SCHEMA = wc.Schema.from_dict({"no2": "float", "city": "string"})
FILTERS = {
    "high": "no2 > 40",
    "band": "no2 BETWEEN 10 AND 45",
    "home": "city = 'Split' OR city LIKE 'Z%'",
    "none": "no2 IS NULL",
    "not": "NOT (no2 > 20 AND city <> 'Split')",
}
ROWS = [
    {"no2": float(number % 60), "city": city} if number % 7 else {"city": city}
    for number, city in enumerate(["Split", "Zagreb", "Rijeka"] * 20)
]
LIMIT_S = 300.0  # the kernels of a tree may have to be compiled first
Delivered = list[tuple[str, tuple[str, ...], object]]


def taken(broker: wc.Broker, wanted: Delivered) -> Delivered:
    """What every subscriber gets, acknowledged; waits for as many as are wanted."""
    found: Delivered = []
    for name in ("ana", "bo"):
        subscriber = broker.subscriber(name)
        count = sum(owner == name for owner, _, _ in wanted)
        while count > 0 and (some := subscriber.take(1_000, timeout=LIMIT_S)):
            found += [(name, one.subscription_ids, one.publication.attributes) for one in some]
            subscriber.ack_through(some[-1])
            count -= len(some)
        assert not subscriber.take(1_000)
    return found


def play(broker: wc.Broker) -> None:
    for name in ("ana", "bo"):
        broker.subscriber(name).subscribe_all(FILTERS)
    publisher = broker.publisher("p")
    publisher.publish_all(ROWS[:30])
    broker.subscriber("ana").subscribe("no2 < 5", id="high")
    broker.subscriber("bo").unsubscribe("home")
    publisher.publish_all(ROWS[30:])


@pytest.fixture(scope="module")
def wanted() -> Delivered:
    """What filters give that are asked one by one."""
    found: Delivered = []
    held = {name: {id: wc.Filter(text, SCHEMA) for id, text in FILTERS.items()} for name in "ab"}
    later = {"a": dict(held["a"]), "b": dict(held["b"])}
    later["a"]["high"] = wc.Filter("no2 < 5", SCHEMA)
    del later["b"]["home"]
    for name, key in (("ana", "a"), ("bo", "b")):
        for number, row in enumerate(ROWS):
            filters = (held if number < 30 else later)[key]
            ids = tuple(sorted(id for id, filter in filters.items() if filter.matches(row)))
            if ids:
                found.append((name, ids, row))
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_delivers_the_same(kind: str, wanted: Delivered) -> None:
    with wc.Broker(SCHEMA, index=kind) as broker:
        play(broker)
        assert taken(broker, wanted) == wanted


@pytest.mark.parametrize("kind", KINDS)
def test_another_kind_takes_over_a_directory(tmp_path: Path, kind: str, wanted: Delivered) -> None:
    with wc.Broker(SCHEMA, tmp_path / "store", index=kind) as broker:
        for name in ("ana", "bo"):
            broker.subscriber(name).subscribe_all(FILTERS)
        broker.publisher("p").publish_all(ROWS[:30])
    other = KINDS[(KINDS.index(kind) + 1) % len(KINDS)]  # type: ignore[arg-type]
    with wc.Broker(SCHEMA, tmp_path / "store", index=other) as broker:
        broker.subscriber("ana").subscribe("no2 < 5", id="high")
        broker.subscriber("bo").unsubscribe("home")
        broker.publisher("p").publish_all(ROWS[30:])
        assert taken(broker, wanted) == wanted


def test_asyncio_takes_a_kind_too() -> None:
    async def run() -> int:
        async with wc.AsyncBroker(SCHEMA, index="betree") as broker:
            ana = await broker.subscriber("ana")
            await ana.subscribe("no2 > 40")
            await (await broker.publisher("p")).publish({"no2": 41.0})
            return len(await ana.take(1, timeout=LIMIT_S))

    assert asyncio.run(run()) == 1


@pytest.mark.parametrize("make", [wc.Broker, wc.AsyncBroker])
def test_an_unknown_kind_is_refused_and_the_nearest_named(make: type) -> None:
    with pytest.raises(wc.ConfigError, match=r"unknown kind of index betre; did you mean betree\?"):
        make(SCHEMA, index="betre")
