"""Formulas on whole columns.

The steps run over columns instead of values. What has no vectorised form here is computed value by
value with the functions that define it; a formula of one attribute is computed once per distinct
value of it. Errors count as often as a formula is computed.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.language.meaning.derived import Derived, sources_of
from wherecast.language.meaning.evaluate import evaluate
from wherecast.language.meaning.evaluate_formula import applied, converted
from wherecast.language.meaning.formula import (
    CONVERT,
    Condition,
    Field,
    Fixed,
)
from wherecast.language.meaning.formula_kernels import KERNELS, Vector
from wherecast.language.meaning.functions.lists import is_outside
from wherecast.language.meaning.functions.table import FUNCTIONS
from wherecast.language.meaning.row_errors import (
    ARRAY_INDEX,
    DIVISION_BY_ZERO,
    OVERFLOW,
    count_errors,
    is_counting,
)
from wherecast.language.meaning.value_types import ValueType
from wherecast.model import Attribute
from wherecast.model.decimals import decimal_of

Columns = Callable[[Attribute], pa.Array]
_DTYPES: dict[str, Any] = {
    **dict.fromkeys(("int", "timestamp", "timestamp_ntz", "date"), np.int64),
    "float": np.float64,
    "bool": np.bool_,
}
_ARROW: dict[str, pa.DataType] = {
    "int": pa.int64(),
    "timestamp": pa.int64(),
    "float": pa.float64(),
    "bool": pa.bool_(),
    "string": pa.large_string(),
}
_DISTINCT_MIN = 64  # rows from which on distinct values are looked for


class FormulaInputs:
    """The attributes of a batch as formulas read them, each converted once.

    Args:
        columns: the column of an attribute of the batch, canonical: ints, doubles, bools, strings,
            lists; microseconds of times and units of decimals as ints.
        rows: number of publications.
    """

    def __init__(self, columns: Columns, rows: int) -> None:
        self.columns = columns
        self.rows = rows
        self._vectors: dict[Attribute, Vector] = {}

    def read(self, attribute: Attribute) -> Vector:
        """The values of an attribute."""
        found = self._vectors.get(attribute)
        if found is None:
            found = self._vectors[attribute] = _read(attribute, self.columns(attribute))
        return found


def derived_column(derived: Derived, inputs: FormulaInputs) -> pa.Array:
    """The values of a derived attribute in a batch, as the values of any other are held."""
    sources = sources_of([derived])
    if inputs.rows >= _DISTINCT_MIN and len(sources) == 1 and sources[0].type == "string":
        coded = inputs.columns(sources[0]).dictionary_encode()
        few = _computed(derived, FormulaInputs(lambda _: coded.dictionary, len(coded.dictionary)))
        nothing = pa.nulls(1, coded.dictionary.type)
        lone = _computed(derived, FormulaInputs(lambda _: nothing, 1))
        return pa.concat_arrays([few, lone]).take(coded.indices.fill_null(len(few)))
    return _computed(derived, inputs)


def _computed(derived: Derived, inputs: FormulaInputs) -> pa.Array:
    values, valid = derived_vector(derived, inputs)
    if values.dtype == object:
        held = [
            derived.held(value) if there else None
            for value, there in zip(values.tolist(), valid.tolist(), strict=True)
        ]
        return pa.array(held, _ARROW[derived.type])
    return pa.array(values, _ARROW[derived.type], mask=~valid)


class Failures:
    """The operations of a formula that have no value in rows where all their operands have one."""

    def __init__(self) -> None:
        self._is_counting = is_counting()
        self._found: list[tuple[str, npt.NDArray[np.bool_], list[Vector]]] = []

    def note(self, error: str | None, arguments: list[Vector], made: Vector) -> None:
        """Takes a look at the result of an operation, which may fail for one reason."""
        if error is None or not self._is_counting or made[1].all():
            return
        failed = ~made[1]
        for _, there in arguments:
            failed &= there
        if error == ARRAY_INDEX:  # a null element is no error
            for row in np.flatnonzero(failed).tolist():
                failed[row] = is_outside(*(values[row] for values, _ in arguments))
        if failed.any():
            self._found.append((error, failed, arguments))

    def count(self, result: Vector) -> None:
        """Counts the rows without a result, each by its first failure."""
        left = ~result[1] if self._found else result[1]
        for error, failed, arguments in self._found:
            mine = failed & left
            left = left & ~failed
            others = 0
            if error == DIVISION_BY_ZERO:
                others = int(np.count_nonzero(mine & (arguments[1][0] != 0)))
                count_errors(OVERFLOW, others)
            count_errors(error, int(np.count_nonzero(mine)) - others)


def derived_vector(derived: Derived, inputs: FormulaInputs) -> Vector:
    """The values of a derived attribute, and which of them are there; decimals are no units yet."""
    stack: list[Vector] = []
    failures = Failures()
    for step in derived.formula.steps:
        if isinstance(step, Field):
            stack.append(inputs.read(step.attribute))
        elif isinstance(step, Fixed):
            stack.append(_constant(step, inputs.rows))
        elif isinstance(step, Condition):
            stack.append(_judged(step, inputs.columns, inputs.rows))
        elif step.name == CONVERT:
            given = stack.pop()
            stack.append(_converted(given, step.type))
            failures.note(OVERFLOW, [given], stack[-1])
        else:
            arguments = stack[len(stack) - step.count :]
            del stack[len(stack) - step.count :]
            stack.append(_applied(step.name, step.type, arguments))
            failures.note(FUNCTIONS[step.name].error, arguments, stack[-1])
    [result] = stack
    failures.count(result)
    return result


def _read(attribute: Attribute, column: pa.Array) -> Vector:
    valid = column.is_valid().to_numpy(zero_copy_only=False)
    if attribute.scale or pa.types.is_nested(column.type) or attribute.type == "string":
        items: list[Any] = column.to_pylist()
        if attribute.scale:
            items = [None if one is None else decimal_of(one, attribute.scale) for one in items]
        elif pa.types.is_nested(column.type):
            items = [None if one is None else tuple(one) for one in items]
        return _objects(items), valid
    if pa.types.is_temporal(column.type):
        column = column.cast(pa.int64())
    filled = column.fill_null(False if pa.types.is_boolean(column.type) else 0)
    return np.asarray(filled.to_numpy(zero_copy_only=False)), valid


def _objects(items: list[Any]) -> npt.NDArray[np.object_]:
    values = np.empty(len(items), object)
    values[:] = items if not any(isinstance(one, tuple) for one in items) else [None] * len(items)
    for place, one in enumerate(items):
        if isinstance(one, tuple):
            values[place] = one
    return values


def _constant(step: Fixed, rows: int) -> Vector:
    """A constant, as a column that repeats one value without storing it again."""
    valid = np.broadcast_to(np.bool_(step.value is not None), rows)
    dtype = _DTYPES.get(step.type.kind)
    if dtype is not None and step.value is not None:
        return np.broadcast_to(dtype(step.value), rows), valid
    return np.broadcast_to(_objects([step.value]), rows), valid


def _judged(step: Condition, columns: Columns, rows: int) -> Vector:
    """The verdicts of a condition, row by row."""
    from wherecast.language.meaning.expression import attributes_of, predicates

    leaves = predicates(step.expression)
    attributes = sources_of(a for leaf in leaves for a in attributes_of(leaf))
    lists = {one.name: _items(columns(one)) for one in attributes}
    verdicts = [
        evaluate(step.expression, {name: items[row] for name, items in lists.items()})
        for row in range(rows)
    ]
    return _tightened(_objects(verdicts), ValueType("bool"))


def _items(column: pa.Array) -> list[Any]:
    if pa.types.is_temporal(column.type):
        column = column.cast(pa.int64())
    items: list[Any] = column.to_pylist()
    nested = pa.types.is_nested(column.type)
    return [tuple(one) if nested and one is not None else one for one in items]


def _converted(given: Vector, type_: ValueType) -> Vector:
    values, valid = given
    if type_.kind == "float" and values.dtype != object:
        return values.astype(np.float64), valid
    if values.dtype != object and type_.kind in _DTYPES:
        return values, valid
    items = values.tolist()
    made = [
        converted(value, type_) if there else None
        for value, there in zip(items, valid.tolist(), strict=True)
    ]
    return _tightened(_objects(made), type_)


def _applied(name: str, type_: ValueType, arguments: list[Vector]) -> Vector:
    kernel = KERNELS.get(name)
    if kernel is not None and all(values.dtype != object for values, _ in arguments):
        with np.errstate(all="ignore"):
            found = kernel(type_, *arguments)
        if found is not None:
            return found
    lists = [
        [
            value if there else None
            for value, there in zip(values.tolist(), valid.tolist(), strict=True)
        ]
        for values, valid in arguments
    ]
    made = [applied(name, type_, list(row)) for row in zip(*lists, strict=True)]
    return _tightened(_objects(made), type_)


def _tightened(values: npt.NDArray[Any], type_: ValueType) -> Vector:
    """Objects as numbers where their type is one that NumPy has."""
    valid = np.array([value is not None for value in values], bool)
    dtype = _DTYPES.get(type_.kind)
    if dtype is None:
        return values, valid
    tight = np.zeros(len(values), dtype)
    if valid.any():
        tight[valid] = values[valid].astype(dtype)
    return tight, valid
