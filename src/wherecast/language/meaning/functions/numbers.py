"""Arithmetic and functions of numbers, with Spark's result types.

Ints are 64 bits wide, decimals have up to 38 digits and are rounded half up, doubles are IEEE.
"""

from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from math import ceil, floor, fmod, isfinite, isinf, isnan, nan
from typing import Any

from wherecast.language.meaning.functions.signature import Function, Signature, Types
from wherecast.language.meaning.row_errors import DIVISION_BY_ZERO, OVERFLOW
from wherecast.language.meaning.value_types import (
    DIGITS_MAX,
    FLOAT,
    INT,
    TypeProblem,
    ValueType,
    as_decimal,
    decimal,
)
from wherecast.model.values import INT_MAX, INT_MIN

_NEGATED = Context(prec=34, rounding=ROUND_HALF_EVEN)  # the digits that Spark keeps of a negation
EXACT = Context(prec=120, rounding=ROUND_HALF_UP)  # more digits than any two decimals make
_DIVISION_SCALE_MIN = 6

DecimalRule = Callable[[ValueType, ValueType], ValueType]


def in_range(value: int) -> int | None:
    """An int, or None where 64 bits do not hold it."""
    return value if INT_MIN <= value <= INT_MAX else None


def rounded(value: Decimal, type_: ValueType) -> Decimal | None:
    """A decimal with the digits of its type, or None where that has too few."""
    result = value.quantize(Decimal(1).scaleb(-type_.scale), context=EXACT)
    return result if result.copy_abs() < Decimal(10) ** (type_.digits - type_.scale) else None


def _sum_type(left: ValueType, right: ValueType) -> ValueType:
    scale = max(left.scale, right.scale)
    return decimal(max(left.digits - left.scale, right.digits - right.scale) + scale + 1, scale)


def _product_type(left: ValueType, right: ValueType) -> ValueType:
    return decimal(left.digits + right.digits + 1, left.scale + right.scale)


def _quotient_type(left: ValueType, right: ValueType) -> ValueType:
    scale = max(_DIVISION_SCALE_MIN, left.scale + right.digits + 1)
    return decimal(left.digits - left.scale + right.scale + scale, scale)


def _remainder_type(left: ValueType, right: ValueType) -> ValueType:
    scale = max(left.scale, right.scale)
    return decimal(min(left.digits - left.scale, right.digits - right.scale) + scale, scale)


def _arithmetic(
    rule: DecimalRule, whole: ValueType = INT, has_floats: bool = True
) -> Callable[[Types, list[Any]], Signature]:
    """Resolves an operator: doubles where one is, else decimals where one is, else ints.

    A constant int beside a decimal has as many digits as are written.
    """

    def resolve(types: Types, constants: list[Any]) -> Signature:
        types = [INT if one.kind == "null" else one for one in types]
        for one in types:
            if not one.is_number:
                raise TypeProblem(f"arithmetic needs numbers, not {one}")
        kinds = {one.kind for one in types}
        if "float" in kinds:
            if not has_floats:
                raise TypeProblem("div needs ints or decimals, not float")
            return Signature((FLOAT, FLOAT), FLOAT)
        if "decimal" in kinds:
            left, right = map(with_digits, types, constants)
            return Signature((left, right), rule(left, right))
        return Signature((whole, whole), whole)

    return resolve


def with_digits(one: ValueType, constant: Any) -> ValueType:
    """The decimal type of a number; a constant int has as many digits as are written."""
    if one.kind == "int" and constant is not None:
        return decimal(len(str(abs(constant))), 0)
    return as_decimal(one)


def _add(type_: ValueType, left: Any, right: Any) -> Any:
    return _settled(type_, EXACT.add(left, right) if type_.kind == "decimal" else left + right)


def _subtract(type_: ValueType, left: Any, right: Any) -> Any:
    return _settled(type_, EXACT.subtract(left, right) if type_.kind == "decimal" else left - right)


def _multiply(type_: ValueType, left: Any, right: Any) -> Any:
    return _settled(type_, EXACT.multiply(left, right) if type_.kind == "decimal" else left * right)


def _settled(type_: ValueType, value: Any) -> Any:
    """A result as its type holds it."""
    if type_.kind == "float":
        return value
    return in_range(value) if type_.kind == "int" else rounded(value, type_)


def _divide(type_: ValueType, left: Any, right: Any) -> Any:
    if right == 0:
        return None
    if type_.kind == "decimal":
        return rounded(EXACT.divide(left, right), type_)
    return left / right


def _remainder(type_: ValueType, left: Any, right: Any) -> Any:
    """The remainder with the sign of the dividend."""
    if right == 0:
        return None
    if type_.kind == "int":
        return int(left - right * _truncated(left, right))
    if type_.kind == "decimal":
        return rounded(EXACT.remainder(left, right), type_)
    return nan if isinf(left) or isnan(left) or isnan(right) else fmod(left, right)


def _truncated(left: int, right: int) -> int:
    whole = abs(left) // abs(right)
    return whole if (left < 0) == (right < 0) else -whole


def _whole_quotient(type_: ValueType, left: Any, right: Any) -> int | None:
    if right == 0:
        return None
    if isinstance(left, Decimal):
        return in_range(int(EXACT.divide_int(left, right)))
    return in_range(_truncated(left, right))


def _whole_division(types: Types, constants: list[Any]) -> Signature:
    found = _arithmetic(_product_type, has_floats=False)(types, constants)
    return Signature(found.arguments, INT)


def _same(types: Types) -> Signature:
    """Resolves a function of one number that gives the same type."""
    one = INT if types[0].kind == "null" else types[0]
    if not one.is_number:
        raise TypeProblem(f"a number is needed, not {one}")
    return Signature((one,), one)


def _negative(type_: ValueType, value: Any) -> Any:
    if isinstance(value, Decimal):
        return _NEGATED.minus(value)
    return in_range(-value) if type_.kind == "int" else -value


def _absolute(type_: ValueType, value: Any) -> Any:
    if isinstance(value, Decimal):
        return _NEGATED.minus(value) if value < 0 else value
    return in_range(abs(value)) if type_.kind == "int" else abs(value)


def _to_whole(types: Types) -> Signature:
    """Resolves floor and ceil: an int of a double, a decimal without a fraction of a decimal."""
    [one] = _same(types).arguments
    if one.kind == "decimal" and one.scale:
        return Signature((one,), decimal(one.digits - one.scale + 1, 0))
    return Signature((one,), INT if one.kind == "float" else one)


def _whole(direction: str) -> Callable[..., Any]:
    def apply(type_: ValueType, value: Any) -> Any:
        if isinstance(value, Decimal):
            return rounded(value.to_integral_value(direction), type_)
        if isinstance(value, int):
            return value
        if not isfinite(value):
            return 0 if isnan(value) else None  # NaN as Java's conversion to a long
        return in_range(floor(value) if direction == ROUND_FLOOR else ceil(value))

    return apply


def _rounding(types: Types, constants: list[Any]) -> Signature:
    """Resolves round(number, digits); a decimal has the digits that constant digits leave it."""
    one = _same(types[:1]).result
    if len(types) > 1 and types[1].kind not in ("int", "null"):
        raise TypeProblem(f"round needs an int for its digits, not {types[1]}")
    result = one
    if one.kind == "decimal":
        digits = 0 if len(types) == 1 else constants[1]
        scale = one.scale if digits is None else max(0, min(one.scale, digits))
        whole = max(one.digits - one.scale + 1, 1 - (digits or 0))
        result = ValueType("decimal", min(whole + scale, DIGITS_MAX), scale)
    return Signature((one, INT)[: len(types)], result)


def _round(type_: ValueType, value: Any, digits: int = 0) -> Any:
    if isinstance(value, float):
        if not isfinite(value):
            return value
        exact = _half_up(Decimal(repr(value)), digits)
        return float(exact)
    if isinstance(value, int):
        return value if digits >= 0 else in_range(int(_half_up(Decimal(value), digits)))
    return rounded(_half_up(value, min(digits, type_.scale)), type_)


def _half_up(value: Decimal, digits: int) -> Decimal:
    digits = max(-60, min(60, digits))
    if value.adjusted() + digits > 110:  # it has no digits there
        return value
    return value.quantize(Decimal(1).scaleb(-digits), context=EXACT)


NUMBERS: dict[str, Function] = {
    "+": Function(2, 2, _arithmetic(_sum_type), _add, sees_constants=True, error=OVERFLOW),
    "-": Function(2, 2, _arithmetic(_sum_type), _subtract, sees_constants=True, error=OVERFLOW),
    "*": Function(2, 2, _arithmetic(_product_type), _multiply, sees_constants=True, error=OVERFLOW),
    "/": Function(
        2,
        2,
        _arithmetic(_quotient_type, FLOAT),
        _divide,
        sees_constants=True,
        error=DIVISION_BY_ZERO,
    ),
    "%": Function(
        2, 2, _arithmetic(_remainder_type), _remainder, sees_constants=True, error=DIVISION_BY_ZERO
    ),
    "div": Function(
        2, 2, _whole_division, _whole_quotient, sees_constants=True, error=DIVISION_BY_ZERO
    ),
    "negative": Function(1, 1, _same, _negative, error=OVERFLOW),
    "abs": Function(1, 1, _same, _absolute, error=OVERFLOW),
    "floor": Function(1, 1, _to_whole, _whole(ROUND_FLOOR), error=OVERFLOW),
    "ceil": Function(1, 1, _to_whole, _whole(ROUND_CEILING), error=OVERFLOW),
    "round": Function(1, 2, _rounding, _round, sees_constants=True, error=OVERFLOW),
}
