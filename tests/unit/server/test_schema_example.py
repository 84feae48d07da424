"""What is suggested to whoever starts a server is what its schema accepts."""

import shlex
from typing import Any

import pytest

import wherecast as wc
from wherecast.cli.publish import _value
from wherecast.server.schema_example import example_of

ODD = 'O\'Hara "$5"'


@pytest.mark.parametrize(
    "declared",
    [
        {"no2": {"type": "float", "min": 0, "max": 1000}},
        {"share": {"type": "float", "min": 0.1, "max": 0.9}},
        {"wide": {"type": "float", "min": -1e300, "max": 1e300}},
        {"price": {"type": "decimal", "scale": 2}},
        {"price": {"type": "decimal", "scale": 2, "min": 1, "max": 2}},
        {"count": {"type": "int", "max": -5}},
        {"count": {"type": "int", "min": 3, "max": 3}},
        {"count": {"type": "int", "min": 1, "max": 100, "step": 30}},
        {"hot": "bool"},
        {"seen": "timestamp"},
        {"seen": "timestamp_ntz"},
        {"day": "date"},
        {"city": "string"},
        {"city": {"type": "string", "values": [ODD]}},
        {"a b": "int", "sensor.no2": "float"},
    ],
)
def test_the_suggested_publication_matches_the_suggested_filter(declared: dict[str, Any]) -> None:
    schema = wc.Schema.from_dict(declared)
    found = example_of(schema)
    assert found is not None
    [filter], [pair] = map(shlex.split, found)
    name, _, text = pair.partition("=")
    value = _value(text, schema.to_dict()[name])
    assert wc.Filter(filter, schema).explain({name: value}).matched


def test_an_open_schema_takes_anything_and_some_have_no_example() -> None:
    assert example_of(wc.Schema((), open=True)) == ('"temperature >= 50"', "temperature=75")
    assert example_of(wc.Schema.from_dict({"a b": "int"})) is None
