import pytest

from wherecast.model import ConfigError, Schema, SchemaError, StreamSpec

SCHEMA = Schema.from_dict({"no2": "float"})


def test_there_and_back() -> None:
    for spec in (StreamSpec(SCHEMA), StreamSpec(SCHEMA, 3_600_000_000)):
        assert StreamSpec.read(SCHEMA.to_json(), spec.options_json()) == spec
    assert StreamSpec(SCHEMA).options_json() == ""
    assert StreamSpec(SCHEMA, 5).options_json() == '{"keep_us":5}'


@pytest.mark.parametrize(
    "text", ["{", "null", '{"keep":5}', '{"keep_us":-1}', '{"keep_us":1.5}', '{"keep_us":1e30}']
)
def test_damaged_options_are_named(text: str) -> None:
    with pytest.raises(ConfigError, match="option"):
        StreamSpec.read(SCHEMA.to_json(), text)


def test_a_damaged_schema_is_named() -> None:
    with pytest.raises(SchemaError):
        StreamSpec.read('{"open":false,"attributes":{"a":"x"}}', "")
