"""Constants of a filter: from the words of the text to values that an attribute compares with."""

from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from sys import float_info
from typing import Literal, NamedTuple

from wherecast.language.meaning.expression import Constant
from wherecast.model import Attribute, FilterError, parse_time
from wherecast.model.decimals import shifted
from wherecast.model.times import has_offset
from wherecast.model.values import is_text

LiteralKind = Literal["number", "string", "bool", "null", "time", "date", "local"]


class Word(NamedTuple):
    """A literal as it stands in the text: what kind, its text without quotes, and its place.

    The suffix is the type letter of a number in upper case, such as L or BD; its text has none.
    """

    kind: LiteralKind
    text: str
    position: int | None = None
    negative: bool = False
    suffix: str = ""


_DATE_LENGTH = 10
_DOUBLE_MAX = Decimal(float_info.max)
_TINY = Decimal("1e-400")  # stands for all that are nearer to 0: no value or step lies between
ReadConstant = Callable[[Attribute, Word], Constant]

_TYPE_WORDS = {
    "int": "a number",
    "float": "a number",
    "bool": "TRUE or FALSE",
    "string": "a string",
    "timestamp": "a time",
}
_KINDS = {"int": "number", "float": "number", "bool": "bool", "string": "string"}


def number(word: Word) -> Decimal:
    """The exact number of a word.

    Raises:
        FilterError: it is not a finite number.
    """
    try:
        value = Decimal(word.text)
    except InvalidOperation:
        raise FilterError(f"{word.text} is not a number", word.position) from None
    if not value.is_finite() or value.copy_abs() > _DOUBLE_MAX:
        raise FilterError(f"{_cut(word.text)} is out of range", word.position)
    if value.adjusted() < _TINY.adjusted():
        value = _TINY if value else Decimal(0)
    return value.copy_negate() if word.negative else value


def read_constant(attribute: Attribute, word: Word) -> Constant:
    """The constant that a word stands for beside an attribute, rounded to its step.

    Raises:
        FilterError: the attribute cannot be compared with it.
    """
    if attribute.type == "timestamp":
        return _time(attribute, word)
    if word.kind != _KINDS[attribute.type]:
        raise mismatch(attribute, word)
    if attribute.type == "string":
        if not is_text(word.text):
            raise FilterError("a string has a lone surrogate", word.position)
        return word.text
    if attribute.type == "bool":
        return word.text == "true"
    exact = shifted(number(word), attribute.scale)
    if attribute.grid is not None:
        try:
            return attribute.grid.round(exact)
        except OverflowError:
            raise FilterError(f"{_cut(word.text)} is out of range", word.position) from None
    if attribute.type == "int":
        return int(exact) if exact == exact.to_integral_value() else exact
    value = float(exact)
    if value in (float("inf"), float("-inf")):
        raise FilterError(f"{_cut(word.text)} is too large for a double", word.position)
    return value + 0.0  # -0.0 is 0


def _time(attribute: Attribute, word: Word) -> int:
    if word.kind not in ("string", "time", "date", "local"):
        raise mismatch(attribute, word)
    text = word.text.strip()
    _check_clock(attribute, word, text)
    if word.kind == "date":  # as Spark, which leaves the time of day in it unread
        text = text[:_DATE_LENGTH] if text[_DATE_LENGTH : _DATE_LENGTH + 1] in ("T", " ") else text
    try:
        return parse_time(text)
    except ValueError as error:
        raise FilterError(str(error), word.position) from None


def _check_clock(attribute: Attribute, word: Word, text: str) -> None:
    """Refuses what Spark would drop without a word: a time of day beside a date, or a zone.

    In a list with a TIMESTAMP it would not be dropped.
    """
    if attribute.clock == "day" and word.kind == "string" and len(text) > _DATE_LENGTH:
        message = f"{attribute.name} is a date, not the time {_cut(text)}"
        hint = "write the date alone, or TIMESTAMP before it to compare with its first moment"
        raise FilterError(message, word.position, hint, "wrong_type")
    alone = word.kind == "local" or (attribute.clock == "local" and word.kind == "string")
    if alone and has_offset(text):
        what = "TIMESTAMP_NTZ" if word.kind == "local" else attribute.name
        hint = "write the time without a zone, or TIMESTAMP before it"
        raise FilterError(f"{what} has no zone, {_cut(text)} has one", word.position, hint)


def check_text(
    attribute: Attribute, word: Word, what: str, constant: ReadConstant = read_constant
) -> str:
    """The string constant of a predicate that only strings know, such as LIKE.

    Raises:
        FilterError: the attribute or the constant is no string.
    """
    if attribute.type != "string":
        message = f"{what} needs a string attribute, {attribute.name} is {attribute.kind}"
        raise FilterError(message, word.position, code="wrong_type")
    if word.kind != "string":
        raise mismatch(attribute, word)
    return constant(attribute, word)  # type: ignore[return-value]


def mismatch(attribute: Attribute, word: Word) -> FilterError:
    """The error of a constant that is of another type than its attribute."""
    needs = _TYPE_WORDS[attribute.type]
    hint = None
    if attribute.type == "string" and word.kind == "number":
        hint = f"write '{'-' * word.negative}{_cut(word.text)}' for the string"
    elif word.kind == "string" and attribute.type in ("int", "float"):
        hint = "write the number without quotes"
    message = f"{attribute.name} needs {needs}, not the {word.kind} {_cut(word.text)}"
    return FilterError(message, word.position, hint, code="wrong_type")


def _cut(text: str) -> str:
    return text if len(text) <= 40 else text[:40] + "…"
