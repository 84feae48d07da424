"""Formulas of doubles as steps that the kernel of programs computes for a single candidate.

A column of each formula would be computed for all publications of a batch, though few candidates
ask for it. Any other formula stays with `formula_columns`, which says what a formula means.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wherecast.language.meaning.derived import Derived
from wherecast.language.meaning.evaluate_formula import converted
from wherecast.language.meaning.formula import CONVERT, Field, Fixed, Formula, Operation
from wherecast.language.meaning.value_types import ValueType
from wherecast.language.table.predicate_table import PredicateTable
from wherecast.matching.columnar.layout import Arithmetic
from wherecast.model import Attribute

Ints = npt.NDArray[np.int64]
Step = tuple[int, int]
STACK_MAX = 16
"""Values that a formula may have on its way."""
_OPERATIONS = {
    ("+", 2): Arithmetic.ADD,
    ("-", 2): Arithmetic.SUBTRACT,
    ("*", 2): Arithmetic.MULTIPLY,
    ("/", 2): Arithmetic.DIVIDE,
    ("negative", 1): Arithmetic.NEGATE,
}
_FLOAT = "float"


@dataclass(frozen=True, slots=True, eq=False)
class ProgramFormulas:
    """The formulas of the derived attributes of a table that only programs read.

    Attributes:
        steps: int64 [steps, 2], an `Arithmetic` and its argument: a slot, or the bits of a double.
        ends: int64 [derived + 1] into the steps; a formula without steps is not for the kernel.
    """

    steps: Ints
    ends: Ints

    @staticmethod
    def of(table: PredicateTable) -> "ProgramFormulas":
        """The formulas of a table."""
        slots = {one: slot for slot, one in enumerate(table.attributes[: table.eager])}
        steps: list[Step] = []
        ends = [0]
        for attribute in table.attributes[table.eager :]:
            if isinstance(attribute, Derived) and attribute.type == _FLOAT:
                steps += _steps(attribute.formula, slots) or ()
            ends.append(len(steps))
        return ProgramFormulas(np.array(steps, np.int64).reshape(-1, 2), np.array(ends, np.int64))

    def are_compiled(self) -> npt.NDArray[np.bool_]:
        """Which derived attributes the kernel computes, bool [derived]."""
        found: npt.NDArray[np.bool_] = np.diff(self.ends) > 0
        return found


def _steps(formula: Formula, slots: dict[Attribute, int]) -> list[Step] | None:
    """The steps of a formula, or None where one of them is not for the kernel."""
    found: list[Step] = []
    height, steps = 0, formula.steps
    for step, after in zip(steps, (*steps[1:], None), strict=True):
        wanted = _type_after(step.type, after)
        if isinstance(step, Operation) and step.name == CONVERT:
            if not found or found[-1][0] > Arithmetic.CONSTANT or step.type.kind != _FLOAT:
                return None
            continue  # the step before it gives a double
        made = _step(step, wanted, slots)
        if made is None or (isinstance(step, Operation) and step.type.kind != _FLOAT):
            return None
        found.append(made)
        height += 1 - (step.count if isinstance(step, Operation) else 0)
        if height > STACK_MAX:
            return None
    return found


def _type_after(type_: ValueType, after: object) -> ValueType:
    """The type of a value, converted where the next step does so."""
    is_converted = isinstance(after, Operation) and after.name == CONVERT
    return after.type if is_converted else type_  # type: ignore[attr-defined]


def _step(step: object, wanted: ValueType, slots: dict[Attribute, int]) -> Step | None:
    """A step that gives a double, or None."""
    if wanted.kind != _FLOAT:
        return None
    if isinstance(step, Operation):
        code = _OPERATIONS.get((step.name, step.count))
        return None if code is None else (int(code), 0)
    if isinstance(step, Field):
        slot = slots.get(step.attribute)
        kinds = {_FLOAT: Arithmetic.FLOAT, "int": Arithmetic.INT}
        code = kinds.get(step.type.kind)
        return None if slot is None or code is None else (int(code), slot)
    if isinstance(step, Fixed) and step.value is not None:
        value = converted(step.value, wanted)
        return (int(Arithmetic.CONSTANT), int(np.float64(value).view(np.int64)))
    return None
