"""Functions that choose among values, which are brought to one type first; and comparisons."""

from decimal import Decimal
from functools import cmp_to_key, partial
from typing import Any

from wherecast.language.meaning.comparing import COMPARISONS, order
from wherecast.language.meaning.functions.numbers import EXACT, with_digits
from wherecast.language.meaning.functions.signature import Function, Signature, Types
from wherecast.language.meaning.value_types import BOOL, TypeProblem, ValueType, common

_ORDERED = cmp_to_key(order)


def _alike(types: Types) -> Signature:
    result = common(types)
    return Signature((result,) * len(types), result)


def _unless(types: Types, constants: list[Any]) -> Signature:
    """Resolves `nullif`: the second value gets the type that both are compared in."""
    return Signature((types[0], _comparable(types, constants)), types[0])


def _comparable(types: Types, constants: list[Any]) -> ValueType:
    """The type that values are compared in, which may have fewer digits than one of them.

    A constant int beside a decimal has as many digits as are written.
    """
    wide = _ordered(types).arguments[0]
    if wide.kind != "decimal":
        return wide
    return common([with_digits(*one) for one in zip(types, constants, strict=True)])


def _ordered(types: Types) -> Signature:
    found = _alike(types)
    if found.result.kind in ("array", "interval"):
        raise TypeProblem(f"{found.result} has no order")
    return found


def _compared(types: Types, constants: list[Any]) -> Signature:
    left, right = types
    wide = _comparable(types, constants)
    is_exact = wide.scale == max(left.scale, right.scale)
    if {left.kind, right.kind} == {"int", "decimal"} and is_exact:  # without widening
        return Signature((left, right), BOOL)
    return Signature((wide, wide), BOOL)


def _extreme(sign: int) -> Function:
    def apply(type_: ValueType, *values: Any) -> Any:
        given = [value for value in values if value is not None]
        pick = max if sign > 0 else min
        return pick(given, key=_ORDERED) if given else None

    return Function(2, None, _ordered, apply, takes_null=True)


def _first(type_: ValueType, *values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def _unless_equal(type_: ValueType, left: Any, right: Any) -> Any:
    """The first value unless it equals the second, which has the type both are compared in."""
    if left is None or right is None:
        return left
    alike = left
    if isinstance(right, float):
        alike = float(left)
    elif isinstance(right, Decimal):
        alike = Decimal(left).quantize(right, context=EXACT)
    return None if order(alike, right) == 0 else left


def _case(types: Types) -> Signature:
    """Resolves `condition, value, …, [value]`: values at odd places, and the last of an odd run."""
    for place, one in enumerate(types):
        if place % 2 == 0 and place + 1 < len(types) and one.kind not in ("bool", "null"):
            raise TypeProblem(f"a condition is needed, not {one}")
    is_value = [place % 2 == 1 or place + 1 == len(types) for place in range(len(types))]
    result = common([one for one, own in zip(types, is_value, strict=True) if own])
    return Signature(tuple(result if own else BOOL for own in is_value), result)


def _choose(type_: ValueType, *values: Any) -> Any:
    for place in range(0, len(values) - 1, 2):
        if values[place] is True:
            return values[place + 1]
    return values[-1] if len(values) % 2 else None


CHOICES: dict[str, Function] = {
    "coalesce": Function(1, None, _alike, _first, takes_null=True),
    "nullif": Function(2, 2, _unless, _unless_equal, takes_null=True, sees_constants=True),
    "greatest": _extreme(1),
    "least": _extreme(-1),
    "case": Function(2, None, _case, _choose, takes_null=True),
    **{
        operator: Function(
            2,
            2,
            _compared,
            partial(lambda compare, _, a, b: compare(a, b), holds),
            sees_constants=True,
        )
        for operator, holds in COMPARISONS.items()
    },
}
