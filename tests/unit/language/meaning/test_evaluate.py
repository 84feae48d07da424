from math import inf, nan
from typing import Any

import pytest

from wherecast.language import Filter
from wherecast.language.meaning.evaluate import order
from wherecast.model import Schema

SCHEMA = Schema.from_dict(
    {"i": "int", "x": "float", "y": "float", "s": "string", "b": "bool", "t": "timestamp"}
)
OPEN = Schema.from_dict({"i": "int"}, open=True)


def verdict(text: str, row: dict[str, Any], schema: Schema = SCHEMA) -> bool | None:
    return Filter(text, schema).evaluate(row)


@pytest.mark.parametrize("text", [
    "i = 1", "i <> 1", "i < 1", "i BETWEEN 1 AND 2", "i IN (1)", "i NOT IN (1)", "s LIKE '%'",
    "s NOT LIKE '%'", "s ILIKE 'a'", "startswith(s, '')", "lower(s) = 'a'", "b", "NOT b", "x < y",
    "x = x", "i = NULL", "NOT (i = NULL)", "i IN (NULL)", "NULL", "geo_distance(x, y, 1, 2) < 3",
])  # fmt: skip
def test_what_is_asked_of_a_missing_value_is_unknown(text: str) -> None:
    assert verdict(text, {}) is None
    assert verdict(f"NOT ({text})", {}) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("i IS NULL", True), ("i IS NOT NULL", False), ("b IS TRUE", False),
        ("b IS FALSE", False), ("b IS NOT TRUE", True), ("TRUE", True), ("FALSE", False),
    ],
)  # fmt: skip
def test_some_predicates_are_never_unknown(text: str, expected: bool) -> None:
    assert verdict(text, {}) is expected


TRUE, FALSE, UNKNOWN = "i = 1", "i = 2", "x = 1"


@pytest.mark.parametrize(
    ("left", "right", "both", "either"),
    [
        (TRUE, TRUE, True, True), (TRUE, FALSE, False, True), (FALSE, FALSE, False, False),
        (TRUE, UNKNOWN, None, True), (FALSE, UNKNOWN, False, None),
        (UNKNOWN, UNKNOWN, None, None),
    ],
)  # fmt: skip
def test_three_valued_and_and_or(
    left: str, right: str, both: bool | None, either: bool | None
) -> None:
    for one, other in ((left, right), (right, left)):
        assert verdict(f"{one} AND {other}", {"i": 1}) is both
        assert verdict(f"{one} OR {other}", {"i": 1}) is either


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (1, 2, -1), (2, 1, 1), (1, 1, 0), (-0.0, 0.0, 0), (nan, nan, 0), (nan, inf, 1),
        (inf, nan, -1), (-inf, -1.7976931348623157e308, -1), (2**53 + 1, 2**53, 1),
        ("a", "B", 1), ("\uffff", "😀", -1), (False, True, -1),
    ],
)  # fmt: skip
def test_order(left: Any, right: Any, expected: int) -> None:
    assert order(left, right) == expected
    assert order(right, left) == -expected


def test_nan_is_the_greatest_number_and_equal_to_itself() -> None:
    assert verdict("x > 1e308", {"x": nan}) is True
    assert verdict("x <> 5", {"x": nan}) is True
    assert verdict("x BETWEEN 0 AND 1e308", {"x": nan}) is False
    assert verdict("x NOT IN (1, 2)", {"x": nan}) is True
    assert verdict("x = y", {"x": nan, "y": nan}) is True
    assert verdict("x >= y", {"x": nan, "y": inf}) is True


def test_null_in_a_list_makes_a_miss_unknown() -> None:
    assert verdict("i IN (1, NULL)", {"i": 1}) is True
    assert verdict("i IN (1, NULL)", {"i": 2}) is None
    assert verdict("i NOT IN (1, NULL)", {"i": 1}) is False
    assert verdict("i NOT IN (1, NULL)", {"i": 2}) is None


def test_ints_and_floats_are_compared_as_doubles_like_in_spark() -> None:
    assert verdict("i = x", {"i": 2**53 + 1, "x": 2.0**53}) is True
    assert verdict("i = i", {"i": 2**53 + 1}) is True


def test_ints_are_compared_exactly_with_constants() -> None:
    assert verdict("i = 9007199254740992", {"i": 2**53 + 1}) is False
    assert verdict("i > 9007199254740992.5", {"i": 2**53 + 1}) is True
    assert verdict("i IN (2.5, 3.0)", {"i": 3}) is True


def test_in_an_open_schema_another_type_is_missing_to_a_filter() -> None:
    assert verdict("h > 2", {"h": 3.0}, OPEN) is True
    assert verdict("h > 2", {"h": "tall"}, OPEN) is None
    assert verdict("h = 'tall'", {"h": "tall"}, OPEN) is True
    assert verdict("h", {"h": "tall"}, OPEN) is None
    assert verdict("h IS NOT NULL", {"h": "tall"}, OPEN) is True
    assert verdict("h < k", {"h": 1.0, "k": 2.0}, OPEN) is True
