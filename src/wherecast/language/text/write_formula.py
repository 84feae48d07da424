"""A formula as text that means the same."""

from decimal import Decimal
from typing import Any

from wherecast.language.meaning.formula import (
    CONVERT,
    NOW,
    Condition,
    Field,
    Fixed,
    Formula,
    Operation,
)
from wherecast.language.meaning.value_types import INT, ValueType
from wherecast.language.text.names import name, quoted
from wherecast.language.text.steps import Interval
from wherecast.model import format_time
from wherecast.model.decimals import decimal_text

_ATOM, _UNARY, _PRODUCT, _SUM, _TEST, _LOOSE = 9, 8, 7, 6, 4, 0
_INFIX = {
    **dict.fromkeys("*/%", _PRODUCT),
    "div": _PRODUCT,
    **dict.fromkeys("+-", _SUM),
    **dict.fromkeys(("=", "<>", "<", "<=", ">", ">="), _TEST),
    **dict.fromkeys(("like", "ilike", "rlike"), _TEST),
    "later": _SUM,
    "earlier": _SUM,
    "elapsed": _SUM,
}
_SIGNS = {"later": "+", "earlier": "-", "elapsed": "-", "div": "div"}
_CALLS = {"prefix": "startswith", "suffix": "endswith"}
_TIME_WORDS = {"timestamp": "TIMESTAMP", "timestamp_ntz": "TIMESTAMP_NTZ", "date": "DATE"}

Piece = tuple[str, int]  # a text, and how strongly it holds together


def write_formula(formula: Formula) -> str:
    """The text of a formula."""
    from wherecast.language.text.write import write

    stack: list[Piece] = []
    for step in formula.steps:
        if isinstance(step, Field):
            text = "now()" if step.attribute == NOW else name(step.attribute.name)
            stack.append((text, _ATOM))
        elif isinstance(step, Fixed):
            stack.append(_constant(step))
        elif isinstance(step, Condition):
            stack.append((write(step.expression), _LOOSE))
        elif step.name != CONVERT:
            arguments = stack[len(stack) - step.count :]
            del stack[len(stack) - step.count :]
            stack.append(_operation(step, arguments))
    [(text, _)] = stack
    return text


def _operation(step: Operation, arguments: list[Piece]) -> Piece:
    strength = _INFIX.get(step.name)
    if strength is not None:
        own = strength + (strength == _TEST)  # a comparison of comparisons needs parentheses
        parts = [_inside(arguments[0], own), _inside(arguments[1], strength + 1)]
        text = f" {_SIGNS.get(step.name, step.name).upper()} ".join(parts)
        if len(arguments) == 3:
            text += f" ESCAPE {arguments[2][0]}"
        return text, strength
    if step.name == "negative":
        return f"-{_inside(arguments[0], _ATOM)}", _UNARY
    if step.name == "element":
        return f"{_inside(arguments[0], _ATOM)}[{arguments[1][0]}]", _ATOM
    texts = [text for text, _ in arguments]
    if step.name == "case":
        pairs = zip(texts[0::2], texts[1::2], strict=False)
        branches = "".join(
            f" WHEN {'FALSE' if condition == 'NULL' else condition} THEN {value}"  # as Spark wants
            for condition, value in pairs
        )
        last = f" ELSE {texts[-1]}" if len(texts) % 2 else ""
        return f"CASE{branches}{last} END", _ATOM
    return f"{_CALLS.get(step.name, step.name)}({', '.join(texts)})", _ATOM


def _inside(piece: Piece, strength: int) -> str:
    text, own = piece
    return text if own >= strength else f"({text})"


def _constant(step: Fixed) -> Piece:
    text = constant_text(step.value, step.type)
    return text, _UNARY if text.startswith("-") else _ATOM


def constant_text(value: Any, type_: ValueType) -> str:
    """A constant as a filter writes it, of the type that it has."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, Interval):
        return _interval(value)
    if isinstance(value, tuple):
        inner = ValueType(type_.element)
        return f"array({', '.join(constant_text(each, inner) for each in value)})"
    if type_.is_time:
        text = format_time(value)
        return f"{_TIME_WORDS[type_.kind]} '{text[:10] if type_.kind == 'date' else text}'"
    if type_.kind == "decimal":
        text = format(Decimal(value), "f")
        return text if "." in text else f"{text}BD"
    return f"{value!r}D" if type_.kind == "float" else repr(value)


def _interval(value: Interval) -> str:
    seconds = decimal_text(Decimal(value.micros).scaleb(-6))
    if not value.months:
        return f"INTERVAL '{seconds}' SECOND"
    if not value.micros:
        return f"INTERVAL '{value.months}' MONTH"
    return f"INTERVAL '{value.months} months {seconds} seconds'"


def elapsed_side(formula: Formula) -> str | None:
    """The time whose distance from now a formula is; None where it is anything else."""
    if formula.steps[-2:] != (Field(NOW), Operation("elapsed", 2, INT)):
        return None
    return write_formula(Formula(formula.steps[:-2]))
