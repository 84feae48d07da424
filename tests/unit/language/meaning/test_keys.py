from decimal import Decimal
from itertools import pairwise
from math import inf, isnan, nan, nextafter
from typing import Any

import numpy as np
import pytest

from wherecast.language.meaning.keys import (
    NAN_KEY,
    RANGES,
    bounds,
    float_key,
    float_keys,
    key_of,
    value_of,
)
from wherecast.model.values import INT_MAX, INT_MIN

ORDERED = [
    -inf, -1.7976931348623157e308, -2.5, -1.0, -5e-324, 0.0, 5e-324, 2.2250738585072014e-308,
    0.1, nextafter(0.1, 1), 1.0, 2.0**53, 1.7976931348623157e308, inf, nan,
]  # fmt: skip


def test_keys_keep_the_order_of_doubles_with_nan_last() -> None:
    keys = [float_key(value) for value in ORDERED]
    assert keys == sorted(keys)
    assert len(set(keys)) == len(keys)
    assert RANGES["float"] == (keys[0], keys[-1])


def test_minus_zero_is_zero_and_every_nan_is_the_same() -> None:
    assert float_key(-0.0) == float_key(0.0) == 0
    assert float_key(-nan) == float_key(nan) == NAN_KEY


def test_between_neighbouring_doubles_there_is_no_key() -> None:
    for value in ORDERED[1:-3]:
        assert float_key(nextafter(value, inf)) == float_key(value) + 1


def test_columns_of_keys_are_the_same_keys() -> None:
    values = np.array([*ORDERED, -0.0, -nan])
    assert float_keys(values).tolist() == [float_key(value) for value in values.tolist()]


def test_a_key_gives_its_value_back() -> None:
    for value in ORDERED[:-1]:
        assert value_of("float", float_key(value)) == value
    assert isnan(value_of("float", NAN_KEY))
    assert value_of("bool", 1) is True
    assert value_of("int", INT_MIN) == INT_MIN
    assert key_of("timestamp", -1) == -1
    assert key_of("float", 2) == float_key(2.0)


@pytest.mark.parametrize(
    ("operator", "value", "expected"),
    [
        ("=", 5, (5, 5)), ("<", 5, (INT_MIN, 4)), ("<=", 5, (INT_MIN, 5)),
        (">", 5, (6, INT_MAX)), (">=", 5, (5, INT_MAX)),
        ("<", INT_MIN, (INT_MIN, INT_MIN - 1)), (">=", INT_MIN, (INT_MIN, INT_MAX)),
        (">", INT_MAX, (INT_MAX + 1, INT_MAX)), ("<=", INT_MAX, (INT_MIN, INT_MAX)),
        ("=", INT_MAX + 1, (INT_MAX + 1, INT_MAX)), ("<", INT_MAX + 1, (INT_MIN, INT_MAX)),
        (">", INT_MIN - 1, (INT_MIN, INT_MAX)), ("<=", INT_MIN - 1, (INT_MIN, INT_MIN - 1)),
        ("=", Decimal("2.5"), (3, 2)), ("<", Decimal("2.5"), (INT_MIN, 2)),
        ("<=", Decimal("2.5"), (INT_MIN, 2)), (">", Decimal("2.5"), (3, INT_MAX)),
        (">=", Decimal("2.5"), (3, INT_MAX)), ("<", Decimal("-2.5"), (INT_MIN, -3)),
        (">", Decimal("-2.5"), (-2, INT_MAX)), ("<=", Decimal("1e-400"), (INT_MIN, 0)),
        (">=", Decimal("-1e-400"), (0, INT_MAX)),
    ],
)  # fmt: skip
def test_bounds_of_ints(operator: str, value: Any, expected: tuple[int, int]) -> None:
    assert bounds("int", operator, value) == expected
    assert bounds("timestamp", operator, value) == expected


@pytest.mark.parametrize("value", [-2.5, 0.0, 0.1, 1e300, 1.7976931348623157e308])
def test_bounds_of_floats_are_closed_at_the_neighbour(value: float) -> None:
    least, most = RANGES["float"]
    key = float_key(value)
    assert bounds("float", "=", value) == (key, key)
    assert bounds("float", "<", value) == (least, key - 1)
    assert bounds("float", "<=", value) == (least, key)
    assert bounds("float", ">", value) == (key + 1, most)
    assert bounds("float", ">=", value) == (key, most)


def test_bounds_of_bools() -> None:
    assert bounds("bool", "=", True) == (1, 1)
    low, high = bounds("bool", "<", False)
    assert low > high
    assert bounds("bool", ">=", False) == (0, 1)


def test_the_listed_values_are_in_order() -> None:
    assert all(not low >= high for low, high in pairwise(ORDERED[:-1]))
