"""Decimals: whole numbers of units of 10**-scale, moved between the two without rounding."""

from decimal import Decimal

SCALE_MAX = 18
PRECISION_MAX = 18  # digits, so that the units of every value fit into 64 bits
UNITS_MAX = 10**PRECISION_MAX - 1
EXACT_UNITS_MAX = 10**15  # a decimal below it is the shortest form of its double


def shifted(number: Decimal, places: int) -> Decimal:
    """The number times 10**places; exact, whatever the precision of the context."""
    sign, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    return Decimal((sign, digits, exponent + places))


def decimal_of(units: int | Decimal, scale: int) -> Decimal:
    """The decimal of a number of units of 10**-scale; the number need not be whole."""
    return shifted(Decimal(units), -scale)


def decimal_text(number: Decimal) -> str:
    """A finite number in plain digits, without zeros at the end of its fraction."""
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
