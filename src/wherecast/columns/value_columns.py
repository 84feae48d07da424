"""Columns of attributes from Python values: in one conversion if possible, else value by value."""

from collections.abc import Sequence
from types import NoneType

import pyarrow as pa
import pyarrow.compute as pc

from wherecast.arrays.vectors import values_of
from wherecast.columns.arrow_schema import ARROW_TYPES, OPEN_TYPE, arrow_type
from wherecast.columns.comparable import batch_column
from wherecast.columns.decimal_columns import units_of_numbers
from wherecast.columns.decoded import DecodedColumn
from wherecast.columns.domains import canonical_values, check_domain, masked_array
from wherecast.model.errors import Problem, PublicationError
from wherecast.model.schema import Attribute
from wherecast.model.values import canonical


def column_of(attribute: Attribute, values: Sequence[object]) -> DecodedColumn:
    """The column of an attribute; None is a missing value, a bad value becomes a problem."""
    kinds = set(map(type, values)) - {NoneType}
    if not kinds:
        return DecodedColumn(pa.nulls(len(values), arrow_type(attribute)))
    array = _whole(attribute, values, kinds)
    column = _one_by_one(attribute, values) if array is None else check_domain(attribute, array)
    return batch_column(attribute, column)


def _whole(attribute: Attribute, values: Sequence[object], kinds: set[type]) -> pa.Array | None:
    """The column of values of the usual types; None if a value needs the scalar rule."""
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
    except (ValueError, OverflowError):  # the scalar rule then finds the bad values
        pass
    return None


def _units(attribute: Attribute, values: Sequence[object], kinds: set[type]) -> pa.Array | None:
    """The units of ints or of floats; None if a value is not exact in the scale."""
    if kinds not in ({int}, {float}):
        return None
    numbers = pa.array(values, pa.int64() if kinds == {int} else pa.float64(), from_pandas=False)
    units, exact = units_of_numbers(numbers, attribute.scale)
    missing = values_of(numbers.is_null())
    return masked_array(attribute, units, missing) if (exact | missing).all() else None


def _times(attribute: Attribute, values: Sequence[object]) -> pa.Array:
    """The timestamps of ISO 8601 texts; each distinct text is parsed once."""
    micros = {text: canonical(attribute, text) for text in set(values) if isinstance(text, str)}
    return pa.array([micros.get(text) for text in values], pa.int64()).cast(  # type: ignore[call-overload]
        ARROW_TYPES["timestamp"]
    )


def _one_by_one(attribute: Attribute, values: Sequence[object]) -> DecodedColumn:
    """The column by the scalar rule of the model, value by value."""
    given = ((row, value) for row, value in enumerate(values) if value is not None)
    good, problems = canonical_values(attribute, given)
    storage = pa.int64() if attribute.type == "timestamp" else ARROW_TYPES[attribute.type]
    array = one_array(pa.array([good.get(row) for row in range(len(values))], storage))
    return DecodedColumn(array.cast(ARROW_TYPES[attribute.type]), tuple(problems))


def one_array(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    """The array, which must not be chunked.

    Raises:
        PublicationError: the text is longer than one Arrow array can hold.
    """
    if isinstance(array, pa.ChunkedArray):
        raise too_large()
    return array


def too_large() -> PublicationError:
    """The error of a column with more text than one Arrow array can hold."""
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
