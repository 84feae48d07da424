"""Derived attributes: formulas that filters compare, which are read like attributes.

A predicate on a derived attribute is a predicate as any other: it is narrowed, indexed, covered
and explained in the same way. The name of a derived attribute is the text of its formula.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from wherecast.language.meaning.element import Element
from wherecast.language.meaning.formula import Formula, fields_of
from wherecast.language.text.write_formula import write_formula
from wherecast.model import Attribute
from wherecast.model.decimals import PRECISION_MAX, shifted
from wherecast.model.values import Clock, Type, Value

_CLOCKS: dict[str, Clock] = {"timestamp": "utc", "timestamp_ntz": "local", "date": "day"}
_TYPES: dict[str, Type] = {"int": "int", "float": "float", "bool": "bool", "string": "string"}


_NOTHING = Formula(())


@dataclass(frozen=True, slots=True)
class Derived(Attribute):
    """An attribute whose value a formula computes."""

    formula: Formula = _NOTHING

    def held(self, value: object) -> Value | None:
        """A value of the formula in canonical form: the units of a decimal, any other as it is."""
        if isinstance(value, Decimal):
            return int(shifted(value, self.scale))
        return value  # type: ignore[return-value]


def derive(formula: Formula) -> Derived | None:
    """The attribute that a formula derives, or None where no attribute has such values."""
    type_, name = formula.type, write_formula(formula)
    if type_.kind in _CLOCKS:
        return Derived(name, "timestamp", clock=_CLOCKS[type_.kind], formula=formula)
    if type_.kind == "decimal" and type_.digits <= PRECISION_MAX:
        return Derived(name, "int", scale=type_.scale, formula=formula)
    if type_.kind in _TYPES:
        return Derived(name, _TYPES[type_.kind], formula=formula)
    return None


def sources_of(attributes: Iterable[Attribute]) -> tuple[Attribute, ...]:
    """The attributes of publications that attributes stand on, each once."""
    found: dict[Attribute, None] = {}
    waiting = list(attributes)[::-1]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Derived):
            waiting += reversed(fields_of(one.formula))
        elif isinstance(one, Element) and one.array is not None:
            found[one.array] = None
        else:
            found[one] = None
    return tuple(found)
