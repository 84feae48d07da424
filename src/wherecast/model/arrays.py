"""Arrays: the elements of a given value, and the canonical array: a tuple of canonical elements.

A null element is None. Arrays inside arrays are refused, as any element of another type is.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from wherecast.model.values import Value, ValueProblem, canonical, describe

if TYPE_CHECKING:
    from wherecast.model.schema import Attribute

Array = tuple[Value | None, ...]

_NUMPY_KINDS = "biufOUT"  # bools, which readers refuse; numbers; objects; texts


def elements_of(value: object) -> Sequence[Any] | None:
    """The elements of a list, a tuple or a numpy array; None if the value is no array."""
    if isinstance(value, list | tuple):
        return value
    kind: Any = getattr(value, "dtype", None)  # numpy's, without importing numpy
    if getattr(value, "ndim", 0) and getattr(kind, "kind", "") in _NUMPY_KINDS:
        elements = value.tolist()  # type: ignore[attr-defined]
        return elements if isinstance(elements, list) else None
    return None


def no_array(element: str, value: object) -> ValueProblem:
    """The problem of a value that is no array."""
    return ValueProblem("wrong_type", f"needs an array of type {element}, not {describe(value)}")


def too_many(count: int, most: int) -> ValueProblem:
    """The problem of an array that is longer than the limit."""
    text = f"has {count} elements, the limit array_elements_max is {most}"
    return ValueProblem("too_many_elements", text)


def canonical_array(attribute: "Attribute", value: object, elements_max: int) -> Array:
    """The array as an array attribute holds it.

    Raises:
        ValueProblem: the value is no array, has too many elements, or an element, which the
            problem names, is of another type.
    """
    own = attribute.element_attribute()
    elements = elements_of(value)
    if elements is None:
        raise no_array(own.type, value)
    if len(elements) > elements_max:
        raise too_many(len(elements), elements_max)
    found: list[Value | None] = []
    for place, element in enumerate(elements):
        try:
            found.append(None if element is None else canonical(own, element))
        except ValueProblem as problem:
            raise ValueProblem(problem.code, problem.text, place) from None
    return tuple(found)
