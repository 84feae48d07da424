"""Between a batch and what is compared: columns as they are typed, and as their values are held."""

import pyarrow as pa
import pyarrow.types as kinds

from wherecast.columns.decimals import decimal_column, units_column
from wherecast.columns.decoded import Column
from wherecast.columns.schema import arrow_type
from wherecast.model.schema import Attribute


def typed(attribute: Attribute, column: Column) -> Column:
    """The column as a batch has it, from one of held values."""
    if not attribute.scale or kinds.is_decimal(column.array.type):
        return column
    return Column(decimal_column(column.array, arrow_type(attribute)), column.problems)


def held(array: pa.Array) -> pa.Array:
    """The canonical values of a batch's column: ints, doubles, bools or strings."""
    if kinds.is_decimal(array.type):
        return units_column(array)
    return array.cast(pa.int64()) if kinds.is_timestamp(array.type) else array
