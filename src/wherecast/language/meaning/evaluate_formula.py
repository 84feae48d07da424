"""The value of a formula on one canonical row: the definition that whole columns are judged by."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from wherecast.language.meaning.formula import CONVERT, Condition, Field, Fixed, Formula
from wherecast.language.meaning.functions.lists import is_outside
from wherecast.language.meaning.functions.numbers import rounded
from wherecast.language.meaning.functions.table import FUNCTIONS
from wherecast.language.meaning.row_errors import (
    ARRAY_INDEX,
    DIVISION_BY_ZERO,
    OVERFLOW,
    count_errors,
    counting,
)
from wherecast.language.meaning.value_types import ValueType
from wherecast.model import Attribute
from wherecast.model.decimals import decimal_of

Read = Callable[[Attribute], Any]
Judge = Callable[[Any], bool | None]


def formula_value(formula: Formula, read: Read, judge: Judge) -> Any:
    """The value of a formula; None is NULL, and counted where an operation of it failed.

    Args:
        formula: what to compute.
        read: the canonical value of an attribute, or None.
        judge: the verdict of an expression.
    """
    stack: list[Any] = []
    error: str | None = None
    for step in formula.steps:
        if isinstance(step, Field):
            stack.append(_field(step, read(step.attribute)))
        elif isinstance(step, Fixed):
            stack.append(step.value)
        elif isinstance(step, Condition):
            stack.append(judge(step.expression))
        elif step.name == CONVERT:
            given = stack.pop()
            stack.append(converted(given, step.type))
            if stack[-1] is None and given is not None:
                error = error or OVERFLOW
        else:
            arguments = stack[len(stack) - step.count :]
            del stack[len(stack) - step.count :]
            stack.append(applied(step.name, step.type, arguments))
            if stack[-1] is None and error is None:
                error = _error(step.name, arguments)
    [value] = stack
    if value is None and error is not None:
        count_errors(error)
    return value


def applied(name: str, type_: ValueType, arguments: list[Any]) -> Any:
    """The value of a function; None where an argument is NULL that must not be."""
    function = FUNCTIONS[name]
    if not function.takes_null and None in arguments:
        return None
    return function.apply(type_, *arguments)


def _error(name: str, arguments: list[Any]) -> str | None:
    """The error that a function has no value for; None where it has none for another reason."""
    error = FUNCTIONS[name].error
    if error is None or None in arguments:
        return None
    if error == ARRAY_INDEX:
        return error if is_outside(*arguments) else None  # a null element is no error
    return OVERFLOW if error == DIVISION_BY_ZERO and arguments[1] != 0 else error


def converted(value: Any, type_: ValueType) -> Any:
    """A value as another type holds it; a decimal is rounded where that has fewer digits."""
    if value is None:
        return None
    if type_.kind == "float":
        return float(value)
    return rounded(Decimal(value), type_) if type_.kind == "decimal" else value


def _field(step: Field, value: Any) -> Any:
    """A canonical value as formulas compute with it: decimals are numbers, not units."""
    scale = step.attribute.scale
    return decimal_of(value, scale) if scale and value is not None else value


def constant_value(formula: Formula) -> Any:
    """The value of a formula that reads no attribute."""
    with counting(None):  # no row has it
        return formula_value(formula, _nothing, _nothing)


def _nothing(_: Any) -> Any:
    raise AssertionError("a constant reads no attribute")
