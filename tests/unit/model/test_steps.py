from decimal import Decimal

import pytest

from wherecast.model.steps import grid


@pytest.mark.parametrize(
    ("minimum", "step", "value", "expected"),
    [
        (None, "1", 5.4, 5.0),
        (None, "1", 5.5, 6.0),  # ties go upward
        (None, "1", -5.5, -5.0),
        (None, "1", -5.6, -6.0),
        (None, "0.1", 0.15, 0.2),  # on the decimal form: the double lies below 0.15
        (None, "0.1", 0.25, 0.3),
        (None, "0.1", 0.35, 0.4),
        (None, "0.1", -0.15, -0.1),
        (None, "0.1", 0.30000000000000004, 0.3),
        (0.05, "0.1", 0.1, 0.15),  # the origin is the lower bound
        (0.05, "0.1", 0.09, 0.05),
        (1.0, "3", 2.5, 4.0),
        (-1.0, "3", 0.4, -1.0),
        (None, "1e17", 3e17, 3e17),
        (None, "0.003", 0.0045, 0.006),
    ],
)
def test_rounding_is_exact_from_the_origin_ties_upward(
    minimum: float | None, step: str, value: float, expected: float
) -> None:
    assert grid(minimum, Decimal(step), whole=False).round(value) == expected


def test_ints_stay_ints_and_exact() -> None:
    by_three = grid(1, Decimal(3), whole=True)
    assert [by_three.round(n) for n in range(1, 8)] == [1, 1, 4, 4, 4, 7, 7]
    assert grid(None, Decimal(2), whole=True).round(2**53 + 1) == 2**53 + 2
    assert type(by_three.round(2)) is int


def test_decimals_are_rounded_as_written() -> None:
    assert grid(None, Decimal("0.1"), whole=False).round(Decimal("0.14999999999999999999")) == 0.1
    assert grid(None, Decimal("0.1"), whole=False).round(Decimal("0.15")) == 0.2


def test_a_value_on_a_step_stays() -> None:
    tenths = grid(0.0, Decimal("0.1"), whole=False)
    assert [tenths.round(n / 10) for n in range(1000)] == [n / 10 for n in range(1000)]
    assert tenths.index(41.5) == 415
    assert tenths.value(415) == 41.5
