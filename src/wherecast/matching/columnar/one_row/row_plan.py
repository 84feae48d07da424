"""How a publication becomes the values of slots: a plan for one schema and the slots of an index.

A value of an unusual type, or one with a domain, a scale or a time, is read by the rule of the
model, as columns read their suspects. What a plan does not know it leaves to the batch.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from wherecast.columns.domains import canonical_value
from wherecast.language.meaning.derived import Derived
from wherecast.language.meaning.element import Element
from wherecast.language.meaning.evaluate import row_value
from wherecast.language.meaning.formula import NOW
from wherecast.matching.columnar.one_row.slot_values import SlotValues
from wherecast.matching.columnar.one_row.text_keys import TextKeys
from wherecast.model import DEFAULT_LIMITS, Attribute, Schema
from wherecast.model.arrays import canonical_array
from wherecast.model.values import INT_MAX, INT_MIN, Value

_FLOAT, _STRING, _INT, _BOOL, _RULE, _ARRAY = range(6)
_KINDS = {"float": _FLOAT, "string": _STRING, "int": _INT, "bool": _BOOL}
_INFINITE = float("inf")
_NO_SLOT = -1
NOT_PLAIN = (KeyError, OverflowError, TypeError, ValueError)
"""What a row raises that is left to the batch, which says what is wrong with it, if anything."""


class RowPlan:
    """The attributes of a schema with their slots.

    Args:
        schema: of the publications.
        attributes: of the slots.
        strings: those of the index, sorted and distinct.
    """

    def __init__(self, schema: Schema, attributes: Sequence[Attribute], strings: pa.Array) -> None:
        self._schema = schema
        self._texts = TextKeys(strings)
        self._now = _NO_SLOT
        self._derived: list[tuple[int, Derived]] = []
        plain: dict[tuple[str, str], int] = {}
        elements: dict[str, int] = {}
        for slot, attribute in enumerate(attributes):
            if isinstance(attribute, Derived):
                self._derived.append((slot, attribute))
            elif isinstance(attribute, Element):
                elements[attribute.name] = slot
            elif attribute.name == NOW.name:
                self._now = slot
            else:
                plain[attribute.name, attribute.type] = slot
        self._entries = {
            one.name: _entry(one, plain.get((one.name, one.type), _NO_SLOT)) for one in schema
        }
        self._elements = elements

    def fill(self, row: Mapping[str, Any], into: SlotValues, now: int) -> None:
        """Puts the values of a publication into their slots.

        Raises:
            NOT_PLAIN: the publication is bad, or the plan cannot tell; some values are there.
        """
        if type(row) is not dict or len(row) > DEFAULT_LIMITS.publication_attributes_max:
            raise TypeError(row)
        entries, doubles, ints, there = self._entries, into.doubles, into.ints, into.there
        for name, value in row.items():
            kind, slot, low, high, attribute = entries[name]
            if value is None:
                continue
            type_ = type(value)
            if kind == _FLOAT and (type_ is float or type_ is int):
                number = float(value)
                if (low != -_INFINITE or high != _INFINITE) and not low <= number <= high:
                    raise ValueError(value)
                if slot >= 0:
                    doubles[slot] = number
                    there[slot] = 1
            elif kind == _STRING and type_ is str:
                key = self._texts[value]
                if slot >= 0:
                    ints[slot] = key
                    there[slot] = 1
                    into.texts[slot] = value
            elif (kind == _INT and type_ is int and INT_MIN <= value <= INT_MAX) or (
                kind == _BOOL and type_ is bool
            ):
                if slot >= 0:
                    ints[slot] = value
                    there[slot] = 1
            elif kind == _ARRAY:
                self._fill_array(attribute, value, slot, into)
            else:
                self._put(slot, attribute, canonical_value(attribute, value), into)
        if self._now >= 0:
            ints[self._now] = now
            there[self._now] = 1
        if self._derived:
            self._fill_derived(row, into, now)

    def canonical(self, row: Mapping[str, Any], now: int) -> dict[str, Any]:
        """The canonical row of a publication that is good."""
        return {**self._schema.read(row), NOW.name: now}

    def key_of(self, text: str) -> int:
        """The key of a string."""
        return self._texts[text]

    def _put(self, slot: int, attribute: Attribute, value: Value, into: SlotValues) -> None:
        """Puts a canonical value."""
        if isinstance(value, str):
            key = self._texts[value]
            if slot >= 0:
                into.ints[slot] = key
                into.texts[slot] = value
        elif slot >= 0:
            if attribute.type == "float":
                into.doubles[slot] = value
            else:
                into.ints[slot] = int(value)
        if slot >= 0:
            into.there[slot] = 1

    def _fill_array(self, attribute: Attribute, value: object, slot: int, into: SlotValues) -> None:
        array = canonical_array(attribute, value, DEFAULT_LIMITS.array_elements_max)
        if slot >= 0:
            into.ints[slot], into.there[slot] = 0, 1
        at = self._elements.get(attribute.name)
        if at is None:
            return
        distinct: dict[Any, None] = {}
        for one in array:
            if isinstance(one, str):
                key = self._texts[one]
                if key & 1:
                    distinct[key] = None
            elif one is not None:
                distinct["nan" if one != one else one] = None
        values = [float("nan") if one == "nan" else one for one in distinct]
        into.put_elements(at, values, None in array)

    def _fill_derived(self, row: Mapping[str, Any], into: SlotValues, now: int) -> None:
        canonical = self.canonical(row, now)
        for slot, attribute in self._derived:
            value = row_value(attribute, canonical)
            if value is not None:
                self._put(slot, attribute, value, into)


_Entry = tuple[int, int, float, float, Attribute]


def _entry(attribute: Attribute, slot: int) -> _Entry:
    """The kind, the slot, the least and the greatest value, and the attribute itself."""
    if attribute.element is not None:
        return _ARRAY, slot, 0.0, 0.0, attribute
    low, high, kind = -_INFINITE, _INFINITE, _KINDS.get(attribute.type, _RULE)
    if kind == _FLOAT and attribute.step is None:
        low = low if attribute.min is None else attribute.min
        high = high if attribute.max is None else attribute.max
    elif attribute.has_domain or attribute.scale:
        kind = _RULE
    return kind, slot, low, high, attribute
