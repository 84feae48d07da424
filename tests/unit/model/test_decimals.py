from decimal import Decimal, localcontext

import pytest

from wherecast.model.decimals import decimal_of, decimal_text, shifted


@pytest.mark.parametrize("digits", ["1.25", "-0.000001", "9" * 60, f"1.{'3' * 60}", "0", "1e-400"])
def test_shifting_is_exact_whatever_the_context(digits: str) -> None:
    number = Decimal(digits)
    with localcontext() as context:
        context.prec = 5
        there = shifted(number, 18)
        back = shifted(there, -18)
    assert back.as_tuple() == number.as_tuple()


@pytest.mark.parametrize(
    ("units", "scale", "text"),
    [
        (1250, 2, "12.5"),
        (1200, 2, "12"),
        (-1, 6, "-0.000001"),
        (0, 2, "0"),
        (10**18 - 1, 18, "0." + "9" * 18),
        (Decimal("1234.5"), 2, "12.345"),
        (Decimal("100"), 0, "100"),
    ],
)
def test_units_as_people_write_them(units: int | Decimal, scale: int, text: str) -> None:
    assert decimal_text(decimal_of(units, scale)) == text
