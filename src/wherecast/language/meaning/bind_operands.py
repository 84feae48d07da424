"""What stands between the steps of a filter while they are bound, and constants as formulas."""

from dataclasses import dataclass
from decimal import Decimal
from math import isfinite
from typing import Any

from wherecast.language.meaning.constants import Word, number
from wherecast.language.meaning.expression import Expression
from wherecast.language.meaning.formula import Field, Fixed, Formula, call, formula_of
from wherecast.language.meaning.value_types import (
    BOOL,
    DATE,
    FLOAT,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    ValueType,
)
from wherecast.language.text.steps import Interval
from wherecast.model import Attribute, FilterError, format_time, parse_time
from wherecast.model.values import INT_MAX, INT_MIN, is_text

_TIMES = {"time": TIMESTAMP, "local": TIMESTAMP_NTZ, "date": DATE}
_WORD_KINDS = {one: kind for kind, one in _TIMES.items()}
_DATE_LENGTH = 10


@dataclass(frozen=True, slots=True)
class Name:
    """A dotted name whose attribute is not looked up yet: its type may depend on its neighbour."""

    dotted: str


@dataclass(frozen=True, slots=True)
class Metres:
    """A distance from a fixed point, not compared yet."""

    latitude: Attribute
    longitude: Attribute
    point: tuple[Word, Word]

    def formula(self) -> Formula:
        """The metres as a formula."""
        fields = [formula_of(Field(self.latitude)), formula_of(Field(self.longitude))]
        return call("geo_distance", [*fields, *(formula_of(fixed_of(one)) for one in self.point)])


@dataclass(frozen=True, slots=True)
class Listed:
    """`array(…)`, not used yet: it may be asked for the elements of an attribute."""

    items: "tuple[Item, ...]"


Operand = Name | Word | Metres | Listed | Interval | Formula | Expression


@dataclass(frozen=True, slots=True)
class Item:
    """An operand and the place in the text where it begins."""

    operand: Operand
    position: int


def fixed_of(word: Word) -> Fixed:
    """The constant that a literal is by itself, with the type that Spark gives it.

    Raises:
        FilterError: it is no value of its type.
    """
    if word.kind == "number":
        return _number(word)
    if word.kind in _TIMES:
        text = word.text.strip()
        text = text[:_DATE_LENGTH] if word.kind == "date" else text
        try:
            return Fixed(parse_time(text), _TIMES[word.kind])
        except ValueError as error:
            raise FilterError(str(error), word.position) from None
    if word.kind == "string":
        if not is_text(word.text):
            raise FilterError("a string has a lone surrogate", word.position)
        return Fixed(word.text, STRING)
    return Fixed(None, NULL) if word.kind == "null" else Fixed(word.text == "true", BOOL)


def _number(word: Word) -> Fixed:
    """A number: an int without a point, a decimal with one, a double with an exponent."""
    value = number(word)
    is_double = word.suffix == "D" or (not word.suffix and "e" in word.text.lower())
    if is_double:
        return Fixed(float(value) + 0.0, FLOAT)
    is_whole = word.suffix != "BD" and "." not in word.text
    if is_whole and INT_MIN <= value <= INT_MAX:
        return Fixed(int(value), INT)
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    scale = max(0, -exponent)
    count = max(len(digits) + max(0, exponent), scale)
    if count > 38:
        raise FilterError(f"{word.text[:40]} has more than 38 digits", word.position, code="limit")
    return Fixed(value, ValueType("decimal", count, scale))


def word_of(fixed: Fixed, position: int) -> Word | None:
    """A constant as the literal that stands for it; None where there is none, as for NaN."""
    value: Any = fixed.value
    if value is None:
        return Word("null", "NULL", position)
    if fixed.type in _WORD_KINDS:
        return Word(_WORD_KINDS[fixed.type], format_time(value), position)  # type: ignore[arg-type]
    if isinstance(value, bool):
        return Word("bool", str(value).lower(), position)
    if isinstance(value, str):
        return Word("string", value, position)
    if isinstance(value, int | float | Decimal) and isfinite(value):
        exact = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
        return Word("number", str(exact.copy_abs()), position, exact.is_signed())
    return None
