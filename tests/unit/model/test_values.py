from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from math import inf, isnan, nan
from typing import Any

import numpy as np
import pytest

from wherecast.model import Attribute, canonical
from wherecast.model.values import ValueProblem, describe

INT = Attribute("a", "int")
FLOAT = Attribute("a", "float")
BOOL = Attribute("a", "bool")
STRING = Attribute("a", "string")
TIME = Attribute("a", "timestamp")
DAY = Attribute("a", "timestamp", clock="day")
LOCAL = Attribute("a", "timestamp", clock="local")
PRICE = Attribute("a", "int", scale=2)


@pytest.mark.parametrize(
    ("attribute", "value", "expected"),
    [
        (INT, 5, 5),
        (INT, 5.0, 5),
        (INT, -0.0, 0),
        (INT, Decimal("5.0"), 5),
        (INT, 2**53 + 1, 2**53 + 1),
        (INT, 2**63 - 1, 2**63 - 1),
        (INT, -(2**63), -(2**63)),
        (INT, np.int16(7), 7),
        (FLOAT, 5, 5.0),
        (FLOAT, Decimal("0.1"), 0.1),
        (FLOAT, np.float32(0.5), 0.5),
        (FLOAT, inf, inf),
        (BOOL, True, True),
        (BOOL, np.bool_(False), False),
        (STRING, "ž\0", "ž\0"),
        (TIME, "1970-01-01T00:00:01Z", 1_000_000),
        (TIME, datetime(1970, 1, 1, 0, 0, 1), 1_000_000),
        (TIME, datetime(1970, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))), 0),
        (DAY, "1970-01-02", 86_400_000_000),
        (DAY, date(1970, 1, 2), 86_400_000_000),
        (DAY, datetime(1970, 1, 2), 86_400_000_000),
        (LOCAL, "1970-01-01T00:00:01", 1_000_000),
        (PRICE, 5, 500),
        (PRICE, 0.29, 29),
        (PRICE, "-12.50", -1250),
        (PRICE, " 1e2 ", 10_000),
        (PRICE, Decimal("9999999999999999.990"), 10**18 - 1),
        (PRICE, np.int64(3), 300),
    ],
)
def test_accepted(attribute: Attribute, value: Any, expected: Any) -> None:
    found = canonical(attribute, value)
    assert found == expected
    assert type(found) is type(expected)


def test_minus_zero_and_nan_are_floats() -> None:
    assert canonical(FLOAT, -0.0) == 0
    assert isnan(canonical(FLOAT, nan))


@pytest.mark.parametrize(
    ("attribute", "value", "code"),
    [
        (INT, 5.5, "wrong_type"),
        (INT, True, "wrong_type"),
        (INT, "5", "wrong_type"),
        (INT, None, "wrong_type"),
        (INT, nan, "not_finite"),
        (INT, -inf, "not_finite"),
        (INT, Decimal("sNaN"), "wrong_type"),
        (INT, 2**63, "out_of_range"),
        pytest.param(INT, 10**5000, "out_of_range", id="an int of 5000 digits"),
        (INT, 1e17, "out_of_range"),
        (INT, 2.0**53, "out_of_range"),
        (FLOAT, True, "wrong_type"),
        (FLOAT, "5", "wrong_type"),
        (FLOAT, [5], "wrong_type"),
        (FLOAT, 10**400, "out_of_range"),
        (FLOAT, Decimal("1e400"), "out_of_range"),
        (BOOL, 1, "wrong_type"),
        (BOOL, "true", "wrong_type"),
        (STRING, 5, "wrong_type"),
        (STRING, b"x", "wrong_type"),
        (STRING, "\ud800", "malformed"),
        (TIME, 5, "wrong_type"),
        (TIME, "yesterday", "bad_time"),
        (TIME, "2026-02-30", "bad_time"),
        (DAY, "2026-05-01T00:00:00.000001Z", "bad_time"),
        (DAY, datetime(2026, 5, 1, 1), "bad_time"),
        (DAY, 5, "wrong_type"),
        (PRICE, 1.005, "wrong_type"),
        (PRICE, "1.2.3", "wrong_type"),
        (PRICE, "1_0", "wrong_type"),
        (PRICE, True, "wrong_type"),
        (PRICE, Decimal("NaN"), "not_finite"),
        (PRICE, -inf, "not_finite"),
        (PRICE, 10**16, "out_of_range"),
        (PRICE, 10**400, "out_of_range"),
        (PRICE, "1e9999", "out_of_range"),
        (PRICE, 12345678901234.56, "out_of_range"),
    ],
)
def test_refused(attribute: Attribute, value: Any, code: str) -> None:
    with pytest.raises(ValueProblem) as caught:
        canonical(attribute, value)
    assert caught.value.code == code
    assert len(caught.value.text) < 120


def test_a_huge_decimal_is_refused_without_writing_it_out() -> None:
    with pytest.raises(ValueProblem):
        canonical(INT, Decimal("1e999999999"))


def test_bounds_are_checked_before_rounding_to_the_step() -> None:
    bounded = Attribute("a", "float", 0.0, 1.0, Decimal("0.4"))
    assert canonical(bounded, 1.0) == 1.2  # on the bound, then to the nearest step
    assert canonical(bounded, 0.5) == 0.4
    for value in (1.0000000000000002, -5e-324, nan, inf):
        with pytest.raises(ValueProblem) as caught:
            canonical(bounded, value)
        assert caught.value.code == "out_of_range"
    assert canonical(bounded, -0.0) == 0


def test_a_step_that_the_type_cannot_hold_is_refused() -> None:
    for attribute, value in (
        (Attribute("a", "int", step=Decimal(10)), 2**63 - 1),
        (Attribute("a", "float", step=Decimal("1e308")), 1.7e308),
        (Attribute("a", "float", step=Decimal(1)), inf),
    ):
        with pytest.raises(ValueProblem) as caught:
            canonical(attribute, value)
        assert caught.value.code == "out_of_range"


def test_only_listed_values_are_taken() -> None:
    level = Attribute("a", "string", values=("low", "high"))
    assert canonical(level, "low") == "low"
    with pytest.raises(ValueProblem, match="not_listed"):
        canonical(level, "LOW")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "null"),
        (True, "true"),
        (5, "the number 5"),
        (10**400, "the number an integer of 1329 bits"),
        (Decimal("1.50"), "the number 1.50"),
        (Decimal("1" * 60), "the number " + "1" * 40 + "…"),
        ("x" * 50, "the string " + repr("x" * 40) + "…"),
        ({}, "an object"),
        ([], "an array"),
        (b"", "bytes"),
    ],
)
def test_values_are_shown_short(value: Any, shown: str) -> None:
    assert describe(value) == shown


def test_values_of_subclasses_are_held_as_plain_ones() -> None:
    class Colour(str):
        __slots__ = ()

        def __str__(self) -> str:
            return "not the text"

    class Count(int):
        __slots__ = ()

    for attribute, value, plain in ((STRING, Colour("red"), "red"), (INT, Count(5), 5)):
        held = canonical(attribute, value)
        assert type(held) is type(plain)
        assert held == plain
