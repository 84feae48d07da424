"""A column of Python values as a column of an attribute: whole where it can be, else one by one."""

from collections.abc import Sequence
from types import NoneType

import pyarrow as pa
import pyarrow.compute as pc

from wherecast.arrays.vectors import values_of
from wherecast.columns.arrow_schema import ARROW_TYPES, OPEN_TYPE, arrow_type
from wherecast.columns.comparable import typed
from wherecast.columns.decimal_columns import units_of_numbers
from wherecast.columns.decoded import DecodedColumn
from wherecast.columns.domains import inside, masked, settled
from wherecast.model.errors import Problem, PublicationError
from wherecast.model.schema import Attribute
from wherecast.model.values import canonical


def column_of(attribute: Attribute, values: Sequence[object]) -> DecodedColumn:
    """The column of an attribute; None is a missing value, an unfit value becomes a problem."""
    kinds = set(map(type, values)) - {NoneType}
    if not kinds:
        return DecodedColumn(pa.nulls(len(values), arrow_type(attribute)))
    array = _whole(attribute, values, kinds)
    column = _one_by_one(attribute, values) if array is None else inside(attribute, array)
    return typed(attribute, column)


def _whole(attribute: Attribute, values: Sequence[object], kinds: set[type]) -> pa.Array | None:
    """The typed column of values of the usual types, None where one of them does not fit."""
    try:
        match attribute.type:
            case "int" if attribute.scale:
                return _units(attribute, values, kinds)
            case "int" if kinds == {int}:
                return pa.array(values, pa.int64())
            case "float" if kinds == {float}:
                return pa.array(values, pa.float64())
            case "float" if kinds <= {int, float}:
                doubles = [None if v is None else float(v) for v in values]  # type: ignore[arg-type]
                return pa.array(doubles, pa.float64())
            case "bool" if kinds == {bool}:
                return pa.array(values, pa.bool_())
            case "string" if kinds == {str}:
                return one_array(pa.array(values, pa.string()))
            case "timestamp" if kinds == {str}:
                return _times(attribute, values)
    except (ValueError, OverflowError):  # one by one, each bad value gets its verdict
        pass
    return None


def _units(attribute: Attribute, values: Sequence[object], kinds: set[type]) -> pa.Array | None:
    """The units of ints or of floats, None where one of them is not exact."""
    if kinds not in ({int}, {float}):
        return None
    numbers = pa.array(values, pa.int64() if kinds == {int} else pa.float64(), from_pandas=False)
    units, exact = units_of_numbers(numbers, attribute.scale)
    missing = values_of(numbers.is_null())
    return masked(attribute, units, missing) if (exact | missing).all() else None


def _times(attribute: Attribute, values: Sequence[object]) -> pa.Array:
    """Timestamps of ISO 8601 texts; each distinct text is read once."""
    micros = {text: canonical(attribute, text) for text in set(values) if isinstance(text, str)}
    return pa.array([micros.get(text) for text in values], pa.int64()).cast(  # type: ignore[call-overload]
        ARROW_TYPES["timestamp"]
    )


def _one_by_one(attribute: Attribute, values: Sequence[object]) -> DecodedColumn:
    """The column by the scalar rule of the model, value by value."""
    given = ((row, value) for row, value in enumerate(values) if value is not None)
    good, problems = settled(attribute, given)
    storage = pa.int64() if attribute.type == "timestamp" else ARROW_TYPES[attribute.type]
    array = one_array(pa.array([good.get(row) for row in range(len(values))], storage))
    return DecodedColumn(array.cast(ARROW_TYPES[attribute.type]), tuple(problems))


def one_array(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    """The array, which must be in one piece.

    Raises:
        PublicationError: its text is longer than one Arrow column can hold.
    """
    if isinstance(array, pa.ChunkedArray):
        raise too_large()
    return array


def too_large() -> PublicationError:
    """The error of more text than one column holds."""
    text = "more than 2 GiB of text in one column; send fewer rows at once"
    return PublicationError([Problem("too_large", text)])


def open_column(name: str, values: Sequence[object]) -> DecodedColumn:
    """The column of an undeclared attribute of an open schema."""
    texts = [v if isinstance(v, str) else None for v in values]
    truths = [v if isinstance(v, bool) else None for v in values]
    numbers = [None if isinstance(v, str | bool) else v for v in values]
    return struct_of(
        column_of(Attribute(name, "float"), numbers),
        column_of(Attribute(name, "string"), texts),
        column_of(Attribute(name, "bool"), truths),
    )


def struct_of(number: DecodedColumn, text: DecodedColumn, truth: DecodedColumn) -> DecodedColumn:
    """The column of an undeclared attribute; null where none of the three has a value."""
    children = [number.array, text.array, truth.array]
    missing = pc.and_(pc.and_(*(c.is_null() for c in children[:2])), children[2].is_null())
    array = pa.StructArray.from_arrays(children, fields=list(OPEN_TYPE), mask=missing)
    return DecodedColumn(array, number.problems + text.problems + truth.problems)
