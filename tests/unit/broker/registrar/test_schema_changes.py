"""Whoever wants another schema is told which subscriptions that would break."""

import pytest

from wherecast.broker.registrar.registrar import Registrar
from wherecast.model import ConfigError, Schema, Subscription
from wherecast.store.open_store import open_store

SCHEMA = Schema.from_dict({"no2": "float", "city": "string"})


def told(given: list[tuple[str, str, str]], wanted: Schema) -> str:
    """What is told where these are subscribed: subscriber, id, filter."""
    registrar = Registrar(open_store("memory:"))
    registrar.define("air", SCHEMA, 0)
    registrar.define("water", SCHEMA, 0)
    for subscriber, id, filter in given:
        registrar.register(subscriber, 0)
        stream = "water" if id.startswith("w") else "air"
        registrar.subscribe(Subscription(id, filter, subscriber, stream), 0)
    with pytest.raises(ConfigError) as error:
        registrar.define("air", wanted, 0)
    assert registrar.schema("air") == SCHEMA
    return str(error.value)


def test_the_broken_ones_are_named() -> None:
    given = [
        ("ana", "s1", "no2 > 40"),
        ("ana", "s2", "city = 'Split'"),
        ("bob", "s1", "city LIKE 'Z%' AND no2 < 3"),
        ("bob", "w1", "city = 'Split'"),
    ]
    text = told(given, Schema.from_dict({"no2": "float"}))
    assert text.endswith("could not be read with it: s2 of ana, s1 of bob")


def test_many_are_counted() -> None:
    given = [("ana", f"s{number}", "city = 'Split'") for number in range(9)]
    text = told(given, Schema.from_dict({"city": "int", "no2": "float"}))
    assert text.endswith("s0 of ana, s1 of ana, s2 of ana, s3 of ana, s4 of ana and 4 more")


def test_where_none_breaks_another_stream_is_the_way() -> None:
    wanted = Schema.from_dict({"no2": "float", "city": "string", "pm10": "float"})
    text = told([("ana", "s1", "no2 > 40")], wanted)
    assert text.startswith("stream air is there with another schema")
    assert text.endswith("define another stream")
