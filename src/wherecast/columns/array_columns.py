"""Columns of array attributes, from Python values and from Arrow lists.

The elements of all rows are converted as one column of the element's type. The first bad element
of an array makes its row a bad row, and the problem names the place of the element.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.types as kinds

from wherecast.arrays.list_elements import flat_elements, is_list, list_array
from wherecast.columns.arrow_schema import arrow_type
from wherecast.columns.casts import cast_column
from wherecast.columns.decoded import DecodedColumn, RowProblem
from wherecast.columns.unreadable import Unreadable
from wherecast.columns.value_columns import column_of
from wherecast.model.arrays import elements_of, no_array, too_many
from wherecast.model.errors import Problem, PublicationError, SchemaError
from wherecast.model.schema import Attribute
from wherecast.model.values import ValueProblem, problem_of

Ints = npt.NDArray[np.int64]


def array_column_of(
    attribute: Attribute, values: Sequence[object], elements_max: int | None
) -> DecodedColumn:
    """The column of an array attribute; None is a missing array.

    Args:
        attribute: an array attribute.
        values: lists, tuples and numpy arrays; any other value becomes a problem.
        elements_max: the largest number of elements of an array; None: any number.
    """
    own = attribute.element_attribute()
    problems: list[RowProblem] = []
    present = np.zeros(len(values), np.bool_)
    starts = np.zeros(len(values) + 1, np.int64)
    flat: list[object] = []
    for row, value in enumerate(values):
        if value is not None:
            elements = elements_of(value)
            if elements is None:
                wrong: ValueProblem | None = no_array(own.type, value)
            elif elements_max is not None and len(elements) > elements_max:
                wrong = too_many(len(elements), elements_max)
            else:
                wrong = None
                present[row] = True
                flat.extend(elements)
            if wrong is not None:
                problems.append((row, problem_of(attribute.name, wrong)))
        starts[row + 1] = len(flat)
    found = _elements_column(own, flat)
    problems += _row_problems(attribute, starts, found.problems)
    return DecodedColumn(_lists(starts, found.array, present), tuple(problems))


def _elements_column(own: Attribute, flat: list[object]) -> DecodedColumn:
    """The column of the elements; `Unreadable` becomes a problem with its own reason."""
    if Unreadable not in set(map(type, flat)):
        return column_of(own, flat)
    unread = [
        (place, problem_of(own.name, ValueProblem(one.code, one.text)))
        for place, one in enumerate(flat)
        if isinstance(one, Unreadable)
    ]
    found = column_of(own, [None if isinstance(one, Unreadable) else one for one in flat])
    return DecodedColumn(found.array, (*found.problems, *unread))


def cast_array_column(
    attribute: Attribute, name: str, values: pa.ChunkedArray, elements_max: int | None
) -> DecodedColumn:
    """The column of an array attribute, converted from a list, large_list or fixed_size_list.

    Args:
        attribute: an array attribute.
        name: the name of the column.
        values: the column.
        elements_max: the largest number of elements of an array; None: any number.

    Raises:
        SchemaError: the type of the column does not fit the attribute.
        PublicationError: the column is damaged, or too large.
    """
    if kinds.is_null(values.type):
        return DecodedColumn(pa.nulls(len(values), arrow_type(attribute)))
    if not is_list(values.type):
        raise _no_such_column(attribute, name, values.type)
    chunks = [flat_elements(_checked(name, chunk)) for chunk in values.chunks]
    sizes = [np.diff(chunk.starts) for chunk in chunks]
    starts = np.zeros(len(values) + 1, np.int64)
    np.cumsum(np.concatenate([*sizes, np.zeros(0, np.int64)]), out=starts[1:])
    present = np.concatenate([*(chunk.present for chunk in chunks), np.zeros(0, np.bool_)])
    flat = pa.chunked_array([chunk.values for chunk in chunks], values.type.value_type)
    try:
        found = cast_column(attribute.element_attribute(), name, flat)
    except SchemaError:
        raise _no_such_column(attribute, name, values.type) from None
    counts = np.diff(starts)
    long = np.zeros(len(values), np.bool_) if elements_max is None else counts > elements_max
    problems = [
        (row, problem_of(attribute.name, too_many(int(counts[row]), elements_max or 0)))
        for row in np.flatnonzero(long).tolist()
    ]
    problems += [
        (row, problem)
        for row, problem in _row_problems(attribute, starts, found.problems)
        if not long[row]
    ]
    return DecodedColumn(_lists(starts, found.array, present & ~long), tuple(problems))


def _checked(name: str, chunk: pa.Array) -> pa.Array:
    """The chunk, of which every offset lies inside its elements.

    The elements are checked on their own, where text that is not UTF-8 is no damage.

    Raises:
        PublicationError: the chunk is damaged.
    """
    try:
        chunk.validate()
        if not kinds.is_fixed_size_list(chunk.type):
            kind = pa.LargeListArray if kinds.is_large_list(chunk.type) else pa.ListArray
            places = pa.nulls(len(chunk.values))
            kind.from_arrays(chunk.offsets, places).validate(full=True)
    except pa.ArrowInvalid as error:
        raise PublicationError(f"column {name} is damaged: {error}") from None
    return chunk


def _no_such_column(attribute: Attribute, name: str, kind: pa.DataType) -> SchemaError:
    text = f"column {name} is {kind}, which cannot be the {attribute.kind} attribute"
    return SchemaError([Problem("wrong_type", f"{text} {attribute.name}", attribute.name)])


def _row_problems(
    attribute: Attribute, starts: Ints, problems: Iterable[RowProblem]
) -> list[RowProblem]:
    """The problems of elements as problems of rows: that of the first bad element of each."""
    found: dict[int, Problem] = {}
    before = f"attribute {attribute.name}: "
    for place, problem in sorted(problems, key=lambda one: one[0]):
        row = int(np.searchsorted(starts, place, side="right")) - 1
        if row not in found:
            text = problem.message.removeprefix(before)
            wrong = ValueProblem(problem.code, text, place - int(starts[row]))
            found[row] = problem_of(attribute.name, wrong)
    return list(found.items())


def _lists(starts: Ints, values: pa.Array, present: npt.NDArray[np.bool_]) -> pa.Array:
    """The column of the elements.

    Raises:
        PublicationError: there are more elements than one Arrow array can hold.
    """
    try:
        return list_array(starts, values, present)
    except OverflowError:
        text = "more than 2**31 elements in one column; send fewer rows at once"
        raise PublicationError([Problem("too_large", text)]) from None
