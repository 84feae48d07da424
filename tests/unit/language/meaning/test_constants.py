from decimal import Decimal
from math import copysign
from typing import Any

import pytest

from wherecast.language import Filter
from wherecast.language.meaning.constants import Word, number, read_constant
from wherecast.model import Attribute, FilterError, Schema

INT = Attribute("a", "int")
FLOAT = Attribute("a", "float")
TENTHS = Attribute("a", "float", step=Decimal("0.1"))


def word(text: str) -> Word:
    return Word("number", text.lstrip("-"), 0, text.startswith("-"))


@pytest.mark.parametrize(
    ("attribute", "text", "expected"),
    [
        (INT, "5", 5),
        (INT, "5.0", 5),
        (INT, "-5e0", -5),
        (INT, "2.5", Decimal("2.5")),
        (INT, "9007199254740993", 2**53 + 1),
        (INT, "99999999999999999999", 99_999_999_999_999_999_999),
        (FLOAT, "5", 5.0),
        (FLOAT, "0.1", 0.1),
        (FLOAT, "9007199254740993", 2.0**53),
        (FLOAT, "1e-400", 0.0),
        (FLOAT, "1.7976931348623157e308", 1.7976931348623157e308),
        (TENTHS, "0.15", 0.2),
        (TENTHS, "-0.15", -0.1),
        (TENTHS, "0.1499999999999999999999", 0.1),
        (TENTHS, "1e-999999999", 0.0),
    ],
)
def test_numbers(attribute: Attribute, text: str, expected: Any) -> None:
    found = read_constant(attribute, word(text))
    assert found == expected
    assert type(found) is type(expected)


def test_minus_zero_is_zero() -> None:
    assert copysign(1, read_constant(FLOAT, word("-0.0"))) == 1  # type: ignore[arg-type]
    assert copysign(1, read_constant(FLOAT, word("-1e-400"))) == 1  # type: ignore[arg-type]


def test_a_negative_number_keeps_all_its_digits() -> None:
    text = "-1." + "0" * 40 + "1"
    assert number(word(text)) == Decimal(text)
    schema = Schema((INT,))
    assert not Filter(f"a = {text}", schema).matches({"a": -1})
    assert Filter(f"a > {text}", schema).matches({"a": -1})


@pytest.mark.parametrize("text", ["1e-400", "1e-999999", "1e-99999999999", "0." + "0" * 900 + "1"])
def test_a_tiny_number_is_not_zero_and_costs_nothing(text: str) -> None:
    schema = Schema((INT,))
    assert not Filter(f"a > {text}", schema).matches({"a": 0})
    assert Filter(f"a > -{text}", schema).matches({"a": 0})
    assert len(Filter(f"a = {text}", schema).warnings[0]) < 1500


@pytest.mark.parametrize("text", ["1e309", "-1e400", "1e9999999", "1e999999999999", "1" * 400])
@pytest.mark.parametrize("attribute", [INT, FLOAT, TENTHS], ids=["int", "float", "step"])
def test_a_number_beyond_doubles_is_refused(attribute: Attribute, text: str) -> None:
    with pytest.raises(FilterError, match="out of range") as caught:
        read_constant(attribute, word(text))
    assert len(caught.value.message) < 100


def test_a_step_beyond_doubles_is_refused() -> None:
    wide = Attribute("a", "float", step=Decimal("1e308"))
    with pytest.raises(FilterError, match="out of range"):
        read_constant(wide, word("1.7e308"))


@pytest.mark.parametrize(
    ("kind", "given", "hint"),
    [
        ("string", Word("number", "5", 7), "write '5' for the string"),
        ("string", Word("number", "5", 7, negative=True), "write '-5' for the string"),
        ("int", Word("string", "5", 7), "write the number without quotes"),
        ("bool", Word("number", "1", 7), None),
        ("timestamp", Word("number", "1", 7), None),
        ("float", Word("time", "2026-05-01", 7), None),
        ("string", Word("time", "2026-05-01", 7), None),
    ],
)
def test_a_constant_of_another_type_is_refused(kind: Any, given: Word, hint: str | None) -> None:
    with pytest.raises(FilterError, match="a needs") as caught:
        read_constant(Attribute("a", kind), given)
    assert (caught.value.position, caught.value.hint) == (7, hint)
    assert caught.value.code == "wrong_type"


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("DATE '2026-05-01'", "'2026-05-01T00:00:00Z'"),
        ("DATE '2026-05-01 12:30:00'", "'2026-05-01T00:00:00Z'"),  # as Spark reads a date
        ("DATE '2026-05-01T12:30'", "'2026-05-01'"),
        ("TIMESTAMP '2026-05-01 12:30:00'", "'2026-05-01T12:30:00Z'"),
        ("TIMESTAMP_NTZ '2026-05-01 12:30:00'", "'2026-05-01T12:30:00Z'"),
        ("'2026-05-01T12:30:00+02:00'", "'2026-05-01T10:30:00Z'"),
    ],
)
def test_times(text: str, same: str) -> None:
    schema = Schema((Attribute("t", "timestamp"),))
    assert Filter(f"t = {text}", schema) == Filter(f"t = {same}", schema)


def test_half_a_character_is_no_string() -> None:
    with pytest.raises(FilterError, match="lone surrogate"):
        Filter("s = '\ud800'", Schema((Attribute("s", "string"),)))
