"""Which texts are read without a parser, and what they say."""

import pytest

from wherecast.language.bulk.plain_reader import PlainFilter, PlainReader
from wherecast.language.meaning.keys import RANGES, float_key
from wherecast.model import DEFAULT_LIMITS, Limits, Schema

SCHEMA = Schema.from_dict(
    {
        "a": "int", "x": "float", "no2": "float", "s": "string", "t": "timestamp", "b": "bool",
        "d": {"type": "decimal", "scale": 2}, "g": {"type": "float", "min": 0, "step": 0.5},
    }
)  # fmt: skip
LEAST, MOST = RANGES["float"]


def read_second(first: str, second: str, limits: Limits = DEFAULT_LIMITS) -> PlainFilter | None:
    """What is read of a text after another one made its form known."""
    reader = PlainReader(SCHEMA, limits)
    assert reader.read(first) is None
    return reader.read(second)


@pytest.mark.parametrize(
    ("first", "second", "ends", "strings"),
    [
        ("x > 1", "x > 2.5", [float_key(2.5) + 1, MOST], []),
        ("x < 1 AND a >= 2", "x < -0.0 AND a >= 2", None, None),
        ("x < 1 AND a >= 2", "x < 0.0 AND a >= 7", [7, 2**63 - 1, LEAST, -1], []),
        ("x > -1.5", "x > -2", [float_key(-2.0) + 1, MOST], []),
        ("a > -1", "a > -007", [-6, 2**63 - 1], []),
        ("a BETWEEN 1 AND 2", "a BETWEEN 3 AND 3", [3, 3], []),
        ("1 < a AND a <= 9", "3 < a AND a <= 5", [4, 5], []),
        ("a <> 5", "a <> 7", [7, 7], []),
        ("s = 'x' AND a = 1", "s = 'it is 5' AND a = 3", [3, 3, 0, 0], ["it is 5"]),
        ("s <> 'x'", "s <> ''", [0, 0], [""]),
        ("lower(s) = 'a'", "lower(s) = 'b'", [0, 0], ["b"]),
        ("a + x > 1", "a + x > 2", [float_key(2.0) + 1, MOST], []),
        ("TRUE AND x > 1", "TRUE AND x > 2", [float_key(2.0) + 1, MOST], []),
        ("no2 > 5", "no2 > 7", [float_key(7.0) + 1, MOST], []),
        ("`no2` > 5", "`no2` > 7", [float_key(7.0) + 1, MOST], []),
        ("NOT (x < 1 OR x > 5)", "NOT (x < 2 OR x > 3)", [float_key(2.0), float_key(3.0)], []),
    ],
)
def test_what_is_read(
    first: str, second: str, ends: list[int] | None, strings: list[str] | None
) -> None:
    found = read_second(first, second)
    assert (None if found is None else found.ends) == ends
    assert (None if found is None else list(found.strings)) == strings


def test_attributes_are_in_the_order_of_the_schema() -> None:
    found = read_second("s <> 'x' AND x > 1 AND a = 1", "s <> 'y' AND x > 2 AND a = 2")
    assert found is not None
    assert [attribute.name for attribute in found.form.attributes] == ["a", "x", "s"]
    assert found.form.excepts == (False, False, True)
    assert found.text == "s <> 'y' AND x > 2 AND a = 2"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("x > 1", "x > 1e5"),
        ("x > 1", "x > 5."),
        ("x > 1", "x > .5"),
        ("x > 1", "x > '5'"),
        ("x > 1", "x > 1234567890123456789"),
        ("a > 1", "a > 1.5"),
        ("s = 'a'", "s = 5"),
        ("s = 'a'", "s = 'it''s'"),
        ("s = 'a'", r"s = 'it\'s'"),
        ("s = 'a'", "s = '\x1f'"),
        ("s = 'a'", "s = '\ud800'"),
        ("s = 'a'", f"s = '{'x' * 1100}'"),
        ("a > 1 AND a < 5", "a > 5 AND a < 5"),
        ("x > 1 -- 5", "x > 2 -- 5"),
        ("x > 1 -- it's", "x > 2 -- it's"),
        ("x > 1 /* '5' */", "x > 1 /* '6' */"),
        ("x > 1L", "x > 2L"),
        ("a > 1 OR x > 1", "a > 2 OR x > 2"),
        ("a > 1 AND a > 2", "a > 2 AND a > 3"),
        ("a <> 1 AND a < 9", "a <> 2 AND a < 9"),
        ("a IN (1, 2)", "a IN (2, 3)"),
        ("s > 'a'", "s > 'b'"),
        ("s LIKE 'a'", "s LIKE 'b'"),
        ("t > '2026-01-01'", "t > '2026-01-02'"),
        ("d > 1.50", "d > 2.50"),
        ("g > 1.5", "g > 2.5"),
        ("b AND x > 1", "b AND x > 2"),
        ("b = TRUE AND x > 1", "b = TRUE AND x > 2"),
        ("a < x AND x > 1", "a < x AND x > 2"),
        ("a > NULL AND x > 1", "a > NULL AND x > 2"),
        ("a IS NOT NULL AND x > 1", "a IS NOT NULL AND x > 2"),
        ("[a,>,1]", "[a,>,2]"),
        ("nothing > 1", "nothing > 2"),
        ("x >", "x >"),
        ("TRUE", "TRUE"),
        ("", ""),
    ],
)
def test_what_is_left_to_others(first: str, second: str) -> None:
    assert read_second(first, second) is None


def test_a_text_that_is_no_text_is_left_to_others() -> None:
    assert PlainReader(SCHEMA).read(None) is None
    assert PlainReader(SCHEMA).read(5) is None


def test_limits_are_those_of_others() -> None:
    assert read_second("x > 1", "x > 2", Limits(filter_text_bytes_max=16)) is None
    assert read_second("x > 1", "x > 2", Limits(literal_bytes_max=36)) is None
    assert read_second("x > 1", "x > 2", Limits(literal_bytes_max=37)) is not None
    assert read_second("s = 'a'", "s = 'abcdefgh'", Limits(literal_bytes_max=40)) is not None
    assert read_second("s = 'a'", "s = 'abcdefghi'", Limits(literal_bytes_max=40)) is None


def test_an_undeclared_attribute_has_the_type_of_its_constant() -> None:
    reader = PlainReader(Schema.from_dict({"a": "int"}, open=True))
    assert reader.read("u = 1") is None
    assert reader.read("u = 'x'") is None  # the same pieces, which say a number
    found = reader.read("u = 2")
    assert found is not None
    assert [(a.name, a.type) for a in found.form.attributes] == [("u", "float")]


def test_forms_are_forgotten_where_they_are_too_many() -> None:
    reader = PlainReader(SCHEMA, forms_max=2)
    for text in ("a > 1", "a < 1", "a = 1"):
        assert reader.read(text) is None
    assert reader.read("a = 2") is not None
    assert reader.read("a > 2") is None
