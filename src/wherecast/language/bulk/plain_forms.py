"""The form of plain filters: conjunctions that compare attributes with numbers and strings.

A form is what such filters share that differ only in their constants. It is made from the shape
of one of them, see `shapes`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from struct import Struct
from typing import Any

from wherecast.language.bulk.filter_shapes import FilterShape
from wherecast.language.bulk.shape_columns import Slot, Unfit
from wherecast.language.meaning.expression import Between, Comparison, Predicate
from wherecast.language.meaning.keys import RANGES
from wherecast.language.meaning.normal_form import by_attribute
from wherecast.language.table.table_builder import attribute_place
from wherecast.model import Attribute, Schema

KINDS = ("int", "float", "string")
# what stands behind the keys of the constants, so that sides can name it: of strings, ints, floats
OWN_KEYS = (0, *RANGES["int"], *RANGES["float"])
_OWN_PLACES = {"string": (-5, -5), "int": (-4, -3), "float": (-2, -1)}

Side = tuple[int, int, int, int]
_Use = tuple[str, Slot]  # an operator and the constant after it


@dataclass(frozen=True, slots=True, eq=False)
class PlainForm:
    """The form of plain filters that differ only in their constants.

    Attributes:
        attributes: each once, in the order of a predicate table.
        excepts: for each of them whether all keys but one are asked for, not an interval.
        sides: for each of them the constant that its interval begins with and what is added to its
            key, and the same for the end; a place below 0 is one of `OWN_KEYS`.
        texts: the places of those attributes that are strings.
        named: the constants that those are compared with.
        kinds: of all constants, in the order of the text.
        negative: the constants after a minus.
        packed: where all are floats, as many doubles, and the same memory as integers.
    """

    attributes: tuple[Attribute, ...]
    excepts: tuple[bool, ...]
    sides: tuple[Side, ...]
    texts: tuple[int, ...]
    named: tuple[int, ...]
    kinds: tuple[str, ...]
    negative: tuple[int, ...]
    packed: tuple[Struct, Struct] | None


def form_of(shape: FilterShape, schema: Schema, constants: int) -> PlainForm | None:
    """The form of a shape with so many constants, or None where its filters are not plain."""
    leaves = shape.conjunctions[0] if len(shape.conjunctions) == 1 and not shape.program else ()
    if not leaves or not all(isinstance(leaf, Comparison | Between) for leaf in leaves):
        return None
    try:
        uses = {attribute: list(_uses(on)) for attribute, on in by_attribute(leaves).items()}
        attributes = tuple(sorted(uses, key=lambda a: attribute_place(schema, a)))
        sides = tuple(_side(attribute, uses[attribute]) for attribute in attributes)
    except Unfit:
        return None
    kinds = {slot.number: a.kind for a in attributes for _, slot in uses[a]}
    if len(kinds) < constants:
        return None
    texts = tuple(place for place, a in enumerate(attributes) if a.type == "string")
    floats = set(kinds.values()) == {"float"}
    return PlainForm(
        attributes,
        tuple(uses[attribute][0][0] == "<>" for attribute in attributes),
        sides,
        texts,
        tuple(uses[attributes[place]][0][1].number for place in texts),
        tuple(kinds[number] for number in range(constants)),
        tuple(slot.number for on in uses.values() for _, slot in on if slot.negative),
        (Struct(f"<{constants}d"), Struct(f"<{constants}q")) if floats else None,
    )


def _uses(leaves: Sequence[Predicate]) -> Iterator[_Use]:
    """The predicates on an attribute as comparisons."""
    for leaf in leaves:
        match leaf:
            case Comparison():
                yield leaf.operator, _slot(leaf.value)
            case Between():
                yield ">=", _slot(leaf.low)
                yield "<=", _slot(leaf.high)
            case _:
                raise Unfit


def _slot(value: Any) -> Slot:
    if not isinstance(value, Slot):
        raise Unfit
    return value


def _side(attribute: Attribute, uses: Sequence[_Use]) -> Side:
    """The side of an attribute.

    Raises:
        Unfit: two predicates make one end of it, or its keys need more than their constants.
    """
    if attribute.kind not in KINDS or attribute.step is not None:
        raise Unfit
    (operator, slot), own = uses[0], _OWN_PLACES[attribute.type]
    if attribute.type == "string":
        if len(uses) > 1 or operator not in ("=", "<>"):
            raise Unfit
        return own[0], 0, own[1], 0
    if any(operator == "<>" for operator, _ in uses):
        if len(uses) > 1:
            raise Unfit
        return slot.number, 0, slot.number, 0
    lows = [(slot.number, int(sign == ">")) for sign, slot in uses if sign in ("=", ">=", ">")]
    highs = [(slot.number, -int(sign == "<")) for sign, slot in uses if sign in ("=", "<=", "<")]
    if len(lows) > 1 or len(highs) > 1:
        raise Unfit
    return *(lows or [(own[0], 0)])[0], *(highs or [(own[1], 0)])[0]
