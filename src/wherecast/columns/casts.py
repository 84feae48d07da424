"""Arrow columns of any accepted type, converted to the column of an attribute.

| attribute | accepted columns |
|---|---|
| int | integers of any width; floats and decimals, where each value is a whole number and exact |
| decimal | decimals, integers and floats of any width, where each value is exact in its scale |
| float | floats and integers of any width; an integer becomes the nearest double |
| bool | bool |
| string | string, large_string, string_view |
| timestamp | timestamps of any unit, with a zone or without (UTC); nanoseconds are floored to
  microseconds; strings with ISO 8601 times |
| date | dates; timestamps and strings, where each is the first moment of a day in UTC |

Each type may also come dictionary-encoded or run-end encoded. A value that does not fit makes its
row a bad row; a column of another type (lists, maps, …) raises `SchemaError`.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from wherecast.arrays.vectors import values_of
from wherecast.columns.arrow_schema import ARROW_TYPES
from wherecast.columns.comparable import batch_column
from wherecast.columns.decimal_columns import units_of_numbers
from wherecast.columns.decoded import DecodedColumn
from wherecast.columns.domains import canonical_values, check_domain, masked_array
from wherecast.columns.time_columns import dates, midnights, times
from wherecast.columns.value_columns import column_of, too_large
from wherecast.model.errors import Problem, PublicationError, SchemaError
from wherecast.model.schema import Attribute
from wherecast.model.values import INT_MAX, Type

_EXACT = 2.0**53
_BYTES = {
    pa.string(): pa.binary(),
    pa.large_string(): pa.large_binary(),
    pa.string_view(): pa.binary_view(),
}


def cast_column(attribute: Attribute, name: str, values: pa.ChunkedArray) -> DecodedColumn:
    """The column of an attribute, converted to its type and checked against its domain.

    Raises:
        SchemaError: the type of the column does not fit the attribute.
        PublicationError: the column is damaged, or too large.
    """
    array = plain_array(name, values)
    reader = _reader(attribute, array.type)
    if reader is None:
        text = f"column {name} is {values.type}, which cannot be the {attribute.kind} attribute"
        raise SchemaError([Problem("wrong_type", f"{text} {attribute.name}", attribute.name)])
    # The reader checks types only; the domain is checked after it.
    found = reader(attribute.plain(), array)
    judged = check_domain(attribute, found.array)
    return batch_column(attribute, DecodedColumn(judged.array, found.problems + judged.problems))


def open_type(type_: pa.DataType) -> Type | None:
    """The type of an undeclared column in an open schema; None if it cannot be an attribute."""
    if kinds.is_dictionary(type_) or kinds.is_run_end_encoded(type_):
        return open_type(type_.value_type)
    if kinds.is_integer(type_) or kinds.is_floating(type_):
        return "float"
    if kinds.is_boolean(type_):
        return "bool"
    return "string" if _is_text(type_) else None


def plain_array(name: str, values: pa.ChunkedArray) -> pa.Array:
    """The column as one array without an encoding, validated in full.

    Raises:
        PublicationError: the column is damaged, or its text is too large for one array.
        SchemaError: Arrow itself cannot decode the column.
    """
    try:
        for chunk in values.chunks:
            _with_text_as_bytes(chunk).validate(full=True)
        chunks = [_without_encoding(chunk) for chunk in values.chunks]
        if not chunks:
            chunks = [_without_encoding(pa.nulls(0, values.type))]
        return chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks)
    except pa.ArrowNotImplementedError as error:
        raise SchemaError(f"column {name} is {values.type}: {error}") from None
    except pa.ArrowInvalid as error:
        if "overflow" in str(error):
            raise too_large() from None
        raise PublicationError(f"column {name} is damaged: {error}") from None


def _without_encoding(array: pa.Array) -> pa.Array:
    """The array with one value per row, in a layout that every kernel knows."""
    if kinds.is_run_end_encoded(array.type):
        return _without_encoding(pc.run_end_decode(array))
    if isinstance(array.type, pa.BaseExtensionType):
        return _without_encoding(array.storage)
    if kinds.is_dictionary(array.type):
        return _without_encoding(array.dictionary).take(array.indices)
    return array.cast(pa.string()) if kinds.is_string_view(array.type) else array


def _reader(
    attribute: Attribute, arrow: pa.DataType
) -> Callable[[Attribute, pa.Array], DecodedColumn] | None:
    """The function that converts an Arrow type to the attribute's type; None if there is none."""
    if kinds.is_null(arrow):
        return _cast
    is_number = kinds.is_decimal(arrow) or kinds.is_integer(arrow) or kinds.is_floating(arrow)
    if kinds.is_decimal(arrow) or attribute.scale:
        return _decimals if attribute.type == "int" and is_number else None
    match attribute.type:
        case "int" if kinds.is_integer(arrow):
            return _unsigned if kinds.is_uint64(arrow) else _cast
        case "int" if kinds.is_floating(arrow):
            return _whole_floats
        case "float" if kinds.is_integer(arrow) or kinds.is_floating(arrow):
            return _cast
        case "bool" if kinds.is_boolean(arrow):
            return _cast
        case "string" if _is_text(arrow):
            return _texts
        case "timestamp" if kinds.is_date(arrow) and attribute.clock == "day":
            return dates
        case "timestamp" if kinds.is_timestamp(arrow) and attribute.clock == "day":
            return midnights
        case "timestamp" if kinds.is_timestamp(arrow):
            return times
        case "timestamp" if _is_text(arrow):
            return _time_texts
    return None


def _cast(attribute: Attribute, array: pa.Array) -> DecodedColumn:
    """The cast of a column of which every value fits the attribute's type."""
    return DecodedColumn(array.cast(ARROW_TYPES[attribute.type], safe=False))


def _unsigned(attribute: Attribute, array: pa.Array) -> DecodedColumn:
    """Unsigned 64-bit integers; those beyond the largest signed integer do not fit."""
    wrong = pc.fill_null(pc.greater(array, pa.scalar(INT_MAX, pa.uint64())), False)
    return _exact_ints(attribute, array, wrong.to_numpy(zero_copy_only=False))


def _whole_floats(attribute: Attribute, array: pa.Array) -> DecodedColumn:
    """Floats as ints, where that is exact."""
    doubles = array.cast(pa.float64())
    values = doubles.fill_null(0.0).to_numpy(zero_copy_only=False)
    whole = (np.floor(values) == values) & (np.abs(values) < _EXACT)
    return _exact_ints(attribute, doubles, ~whole)


def _exact_ints(attribute: Attribute, array: pa.Array, odd: npt.NDArray[np.bool_]) -> DecodedColumn:
    """The column cast to int64; the odd values, none of them null, are settled one by one."""
    rows = np.flatnonzero(odd).tolist()
    good, problems = canonical_values(attribute, ((row, array[row].as_py()) for row in rows))
    if not rows:
        return DecodedColumn(array.cast(pa.int64()))
    null = pa.scalar(None, array.type)
    ints = pc.if_else(pa.array(odd), null, array).cast(pa.int64())
    values = ints.fill_null(0).to_numpy(zero_copy_only=False).copy()
    values[list(good)] = list(good.values())
    missing = ints.is_null().to_numpy(zero_copy_only=False)
    missing[list(good)] = False
    return DecodedColumn(masked_array(attribute, values, missing), tuple(problems))


def _decimals(attribute: Attribute, array: pa.Array) -> DecodedColumn:
    """Numbers as units of the attribute's scale, where that is exact."""
    units, exact = units_of_numbers(array, attribute.scale)
    missing = values_of(array.is_null())
    rows = np.flatnonzero(~exact & ~missing).tolist()
    good, problems = canonical_values(attribute, ((row, array[row].as_py()) for row in rows))
    if rows:
        units = units.copy()
        units[list(good)] = list(good.values())
        missing = missing.copy()
        missing[[row for row, _ in problems]] = True
    return DecodedColumn(masked_array(attribute, units, missing), tuple(problems))


def _texts(attribute: Attribute, array: pa.Array) -> DecodedColumn:
    """Text of any layout as strings; a row whose text is not UTF-8 is bad."""
    problems: list[tuple[int, Problem]] = []
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        array, problems = _decoded(attribute, array)
    try:
        return DecodedColumn(array.cast(pa.string()), tuple(problems))
    except pa.ArrowInvalid:
        raise too_large() from None


def _decoded(attribute: Attribute, array: pa.Array) -> tuple[pa.Array, list[tuple[int, Problem]]]:
    """The strings of a column with invalid UTF-8, and the problems of its bad rows."""
    problems: list[tuple[int, Problem]] = []
    texts: list[str | None] = []
    for row, raw in enumerate(array.cast(pa.large_binary()).to_pylist()):
        try:
            texts.append(None if raw is None else raw.decode())
        except UnicodeDecodeError:
            texts.append(raw.decode(errors="replace"))
            text = f"attribute {attribute.name}: is not UTF-8 text"
            problems.append((row, Problem("malformed", text, attribute.name)))
    return pa.array(texts, pa.large_string()), problems


def _time_texts(attribute: Attribute, array: pa.Array) -> DecodedColumn:
    """ISO 8601 texts as timestamps; each distinct text is parsed once."""
    texts = _texts(attribute, array)
    plain = texts.array
    if texts.problems:  # rows that are not UTF-8 get no second problem
        is_text = np.ones(len(plain), np.bool_)
        is_text[[row for row, _ in texts.problems]] = False
        plain = pc.if_else(pa.array(is_text), plain, pa.scalar(None, plain.type))
    encoded = plain.dictionary_encode()
    found = column_of(attribute, encoded.dictionary.to_pylist())
    problems = list(texts.problems)
    if found.problems:
        wrong = dict(found.problems)
        places = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        rows = np.flatnonzero(np.isin(places, list(wrong))).tolist()
        problems.extend((row, wrong[int(places[row])]) for row in rows)
    return DecodedColumn(found.array.take(encoded.indices), tuple(problems))


def _is_text(arrow: pa.DataType) -> bool:
    return arrow in _BYTES


def _with_text_as_bytes(array: pa.Array) -> pa.Array:
    """The array with its text as bytes, so that validation does not stop at invalid UTF-8."""
    if kinds.is_dictionary(array.type):
        words = _with_text_as_bytes(array.dictionary)
        return pa.DictionaryArray.from_arrays(array.indices, words, safe=False)
    return array.view(_BYTES[array.type]) if array.type in _BYTES else array
