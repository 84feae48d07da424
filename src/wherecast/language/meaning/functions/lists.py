"""Functions of arrays, whose values are tuples. A null element equals nothing."""

from typing import Any

from wherecast.language.meaning.comparing import order
from wherecast.language.meaning.functions.signature import Function, Signature, Types
from wherecast.language.meaning.row_errors import ARRAY_INDEX
from wherecast.language.meaning.value_types import BOOL, INT, TypeProblem, ValueType, common


def _array(one: ValueType) -> ValueType:
    if one.kind not in ("array", "null"):
        raise TypeProblem(f"an array is needed, not {one}")
    return one


def _make(types: Types) -> Signature:
    element = common(types)
    if element.kind not in ("string", "int", "float", "null"):
        raise TypeProblem(f"the elements of an array are strings, ints or floats, not {element}")
    return Signature((element,) * len(types), ValueType("array", element=element.kind))


def _containing(types: Types) -> Signature:
    array, value = types
    if _array(array).kind == "null":
        return Signature((array, value), BOOL)
    wanted = common([ValueType(array.element), value])
    if wanted.kind != array.element:
        raise TypeProblem(f"an {array} cannot contain {value}")
    return Signature((array, wanted), BOOL)


def _contains(type_: ValueType, array: tuple[Any, ...], value: Any) -> bool | None:
    if any(one is not None and order(one, value) == 0 for one in array):
        return True
    return None if None in array else False


def _overlapping(types: Types) -> Signature:
    left, right = map(_array, types)
    is_known = "null" not in (left.kind, right.kind, left.element, right.element)
    if is_known and left.element != right.element:
        raise TypeProblem(f"{left} and {right} do not go together")
    return Signature((left, right), BOOL)


def _overlap(type_: ValueType, left: tuple[Any, ...], right: tuple[Any, ...]) -> bool | None:
    if any(value is not None and _contains(type_, right, value) for value in left):
        return True
    return None if left and right and (None in left or None in right) else False


def _sized(types: Types) -> Signature:
    return Signature((_array(types[0]),), INT)


def _indexed(types: Types) -> Signature:
    array, place = types
    if place.kind not in ("int", "null"):
        raise TypeProblem(f"a place in an array is an int, not {place}")
    return Signature((_array(array), INT), ValueType(array.element))


def _element(type_: ValueType, array: tuple[Any, ...], place: int) -> Any:
    return None if is_outside(array, place) else array[place]


def is_outside(array: tuple[Any, ...], place: int) -> bool:
    """Whether an array has no element at a place, which counts from 0."""
    return not 0 <= place < len(array)


LISTS: dict[str, Function] = {
    "array": Function(1, None, _make, lambda _, *values: values, takes_null=True),
    "array_contains": Function(2, 2, _containing, _contains),
    "arrays_overlap": Function(2, 2, _overlapping, _overlap),
    "size": Function(1, 1, _sized, lambda _, array: len(array)),
    "element": Function(2, 2, _indexed, _element, error=ARRAY_INDEX),
}
"""`element` is `array[place]`."""
