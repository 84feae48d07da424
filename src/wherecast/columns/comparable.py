"""Conversions between the columns of a batch and the canonical values that filters compare."""

import pyarrow as pa
import pyarrow.types as kinds

from wherecast.columns.arrow_schema import arrow_type
from wherecast.columns.decimal_columns import decimal_column, units_column
from wherecast.columns.decoded import DecodedColumn
from wherecast.model.schema import Attribute


def batch_column(attribute: Attribute, column: DecodedColumn) -> DecodedColumn:
    """The column in the attribute's type in a batch, from a column of canonical values."""
    type_ = arrow_type(attribute)
    if column.array.type == type_:
        return column
    is_units = kinds.is_decimal(type_)
    array = decimal_column(column.array, type_) if is_units else column.array.cast(type_)
    return DecodedColumn(array, column.problems)


def held(array: pa.Array) -> pa.Array:
    """The canonical values of a batch's column: ints, doubles, bools or strings."""
    if kinds.is_decimal(array.type):
        return units_column(array)
    if kinds.is_date(array.type):
        array = array.cast(pa.timestamp("us"))
    return array.cast(pa.int64()) if kinds.is_timestamp(array.type) else array
