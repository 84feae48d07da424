"""Formulas: values computed from attributes and constants, as flat steps in postfix order.

A formula without steps of its own kind of nesting can be of any length: nothing that reads it
recurses. The steps are well typed; conversions that Spark makes by itself stand in them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wherecast.language.meaning.functions.signature import Signature
from wherecast.language.meaning.functions.table import FUNCTIONS, SHOWN
from wherecast.language.meaning.value_types import BOOL, TypeProblem, ValueType, type_of
from wherecast.model import Attribute

if TYPE_CHECKING:
    from wherecast.language.meaning.expression import Expression

CONVERT = "convert"
NOW = Attribute("\N{NUL}now", "timestamp")
"""The time at which the first broker accepted the publication. No attribute can have its name."""


@dataclass(frozen=True, slots=True)
class Field:
    """The value of an attribute."""

    attribute: Attribute

    @property
    def type(self) -> ValueType:
        """The type of its value."""
        return type_of(self.attribute)


@dataclass(frozen=True, slots=True)
class Fixed:
    """A constant."""

    value: Any
    type: ValueType


@dataclass(frozen=True, slots=True)
class Condition:
    """The verdict of an expression: true, false, or null where it is unknown."""

    expression: "Expression"

    @property
    def type(self) -> ValueType:
        """The type of its value."""
        return BOOL


@dataclass(frozen=True, slots=True)
class Operation:
    """A function of the values of the `count` steps before it, or a conversion of one."""

    name: str
    count: int
    type: ValueType


FormulaStep = Field | Fixed | Condition | Operation


@dataclass(frozen=True, slots=True)
class Formula:
    """The steps of a formula; the last one gives its value."""

    steps: tuple[FormulaStep, ...]

    @property
    def type(self) -> ValueType:
        """The type of the value."""
        return self.steps[-1].type

    @property
    def is_constant(self) -> bool:
        """Whether the value is the same for all publications."""
        return not any(isinstance(step, Field | Condition) for step in self.steps)

    @property
    def fixed(self) -> Fixed | None:
        """The constant that the formula is, where it is nothing else."""
        only = self.steps[0]
        return only if len(self.steps) == 1 and isinstance(only, Fixed) else None


def formula_of(step: FormulaStep) -> Formula:
    """The formula of a single step."""
    return Formula((step,))


def call(name: str, arguments: Sequence[Formula]) -> Formula:
    """A function of formulas, its arguments converted to the types that it takes.

    Raises:
        TypeProblem: it takes no such types, or not so many arguments.
    """
    function = FUNCTIONS[name]
    if len(arguments) < function.least or len(arguments) > (function.most or len(arguments)):
        wanted = _counted(function.least, function.most)
        raise TypeProblem(f"{SHOWN.get(name, name)} takes {wanted}, not {len(arguments)}")
    types = [one.type for one in arguments]
    signature: Signature = (
        function.resolve(types, [one.fixed and one.fixed.value for one in arguments])
        if function.sees_constants
        else function.resolve(types)
    )
    steps: list[FormulaStep] = []
    for one, wanted_type in zip(arguments, signature.arguments, strict=True):
        steps += one.steps
        if one.type != wanted_type:
            steps.append(Operation(CONVERT, 1, wanted_type))
    steps.append(Operation(name, len(arguments), signature.result))
    return Formula(tuple(steps))


def _counted(least: int, most: int | None) -> str:
    if most is None:
        return f"{least} or more arguments"
    count = f"{least}" if least == most else f"{least} to {most}"
    return f"{count} argument{'s' * (most != 1)}"


def fields_of(formula: Formula) -> tuple[Attribute, ...]:
    """The attributes that a formula reads, each once, in the order of the text."""
    from wherecast.language.meaning.expression import attributes_of, predicates

    found: dict[Attribute, None] = {}
    for step in formula.steps:
        if isinstance(step, Field):
            found[step.attribute] = None
        elif isinstance(step, Condition):
            for leaf in predicates(step.expression):
                for attribute in attributes_of(leaf):
                    found[attribute] = None
    return tuple(found)
