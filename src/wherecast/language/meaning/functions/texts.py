"""Functions of strings. A length and a place are counted in characters."""

from typing import Any

from wherecast.language.meaning.functions.signature import Function, Signature, Types, fixed
from wherecast.language.meaning.row_errors import OVERFLOW
from wherecast.language.meaning.value_types import INT, STRING, ArgumentProblem, ValueType

_PLACE_MIN, _PLACE_MAX = -(2**31), 2**31 - 1  # Spark counts places in 32 bits


def _strings(types: Types) -> Signature:
    for place, one in enumerate(types):
        if one.kind not in ("string", "null"):
            raise ArgumentProblem(place, "string", one)
    return Signature((STRING,) * len(types), STRING)


def _concat(type_: ValueType, *texts: str) -> str:
    return "".join(texts)


def _substring(type_: ValueType, text: str, place: int, length: int = _PLACE_MAX) -> Any:
    """The part from a place on, counted from 1, or from the end where it is negative."""
    if not all(_PLACE_MIN <= number <= _PLACE_MAX for number in (place, length)):
        return None
    start = place - 1 if place > 0 else len(text) + place if place < 0 else 0
    end = min(start + length, _PLACE_MAX)
    return text[max(start, 0) : end] if end > max(start, 0) else ""


TEXTS: dict[str, Function] = {
    "lower": Function(1, 1, _strings, lambda _, text: text.lower()),
    "upper": Function(1, 1, _strings, lambda _, text: text.upper()),
    "trim": Function(1, 1, _strings, lambda _, text: text.strip(" ")),
    "ltrim": Function(1, 1, _strings, lambda _, text: text.lstrip(" ")),
    "rtrim": Function(1, 1, _strings, lambda _, text: text.rstrip(" ")),
    "length": Function(1, 1, fixed((STRING,), INT), lambda _, text: len(text)),
    "concat": Function(1, None, _strings, _concat),
    "substring": Function(2, 3, fixed((STRING, INT, INT), STRING), _substring, error=OVERFLOW),
}
