"""The columns of tables of any library: pyarrow, pandas, Polars, DuckDB and others.

pandas uses NaN both for a missing number and for "not a number". Its data frames are read as
pandas means them: NaN in a numpy-backed float column, and None, NaN, NaT and NA in an object
column, are missing values. In every other table NaN is a value.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import pyarrow as pa

from wherecast.columns.arrow_schema import is_open_field
from wherecast.model.errors import ConfigError, SchemaError
from wherecast.model.schema import Schema

Values: TypeAlias = pa.ChunkedArray | list[object]
"""The values of a column: an Arrow array, or the Python objects of a pandas object column."""


@dataclass(frozen=True, slots=True)
class LeafColumn:
    """A column that is not a struct: a column of the table or a field inside its structs.

    Attributes:
        path: the name of the column; for a field of a struct, the dotted path to the field.
        values: the values, one per row.
        is_open: whether `open_field` marked the column as an undeclared attribute.
    """

    path: str
    values: Values
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class Source:
    """A table.

    Attributes:
        leaves: the columns that are not structs.
        structs: the type of each struct column, by its path.
        length: the number of rows.
    """

    leaves: tuple[LeafColumn, ...]
    structs: dict[str, str]
    length: int


def source_of(data: Any, schema: Schema) -> Source:
    """The columns of a table that the schema can use.

    Args:
        data: a pyarrow table, batch or reader, a data frame, or anything with the Arrow interface.
        schema: the schema whose columns are read; an open schema reads every readable column.

    Raises:
        ConfigError: the data is no table.
        SchemaError: a column that the schema names cannot be read.
    """
    heads = _heads(schema)
    structs: dict[str, str] = {}
    leaves: list[LeafColumn] = []
    if _is_pandas(data):
        fields, length = _pandas_fields(data, heads, schema.open), len(data)
    else:
        table = _table(data)
        fields, length = zip(table.schema, table.columns, strict=True), table.num_rows
    for field, values in fields:
        if schema.open or field.name.casefold() in heads:
            leaves.extend(_leaves("", field, values, structs))
    return Source(tuple(leaves), structs, length)


def _heads(schema: Schema) -> set[str]:
    """The case-folded names of columns that are, or as a struct contain, a declared attribute."""
    heads: set[str] = set()
    for name in schema.names:
        parts = name.casefold().split(".")
        heads.update(".".join(parts[:count]) for count in range(1, len(parts) + 1))
    return heads


def _leaves(
    prefix: str, field: pa.Field, values: Values, structs: dict[str, str]
) -> Iterator[LeafColumn]:
    """The leaf columns of a column; the fields of a missing struct are missing."""
    path = prefix + field.name
    if isinstance(values, list):
        yield LeafColumn(path, values)
    elif is_open_field(field):
        yield LeafColumn(path, values, is_open=True)
    elif pa.types.is_struct(values.type):
        structs[path] = str(values.type)
        for child, child_values in zip(values.type, values.flatten(), strict=True):
            yield from _leaves(f"{path}.", child, child_values, structs)
    else:
        yield LeafColumn(path, values)


def table_of(data: Any) -> pa.Table:
    """The Arrow table of data; data with the Arrow interface causes no import of pandas."""
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if hasattr(data, "__arrow_c_stream__") and not _is_pandas(data):
        return pa.RecordBatchReader.from_stream(data).read_all()
    return pa.table(data)  # imports pandas to look for a data frame


def _table(data: Any) -> pa.Table:
    """The Arrow table of data with the Arrow interface; raises for any other data."""
    try:
        if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
            table = table_of(data)
            table.validate()  # cheap; `plain_array` validates the columns in use in full
            return table
    except pa.ArrowException as error:
        raise SchemaError(f"the table cannot be read: {error}") from None
    kind = type(data).__name__
    raise ConfigError(
        f"{kind} is no table: it needs the Arrow interface, as pyarrow, pandas, Polars and DuckDB"
        " have it" + ("; call collect() first" if hasattr(data, "collect") else "")
    )


def _is_pandas(data: Any) -> bool:
    """Whether the data is a pandas data frame, without importing pandas."""
    return any(
        base.__name__ == "DataFrame" and base.__module__.partition(".")[0] == "pandas"
        for base in type(data).__mro__
    )


def _pandas_fields(frame: Any, heads: set[str], is_open: bool) -> Iterator[tuple[pa.Field, Values]]:
    """The columns of a pandas data frame that the schema can use.

    Undeclared columns that cannot be read are left out.
    """
    for name, series in frame.items():
        if not isinstance(name, str):
            continue
        declared = name.casefold() in heads
        if not declared and not is_open:
            continue
        try:
            values = _pandas_values(series)
        except (pa.ArrowException, TypeError, ValueError) as error:
            if declared:
                raise SchemaError(f"column {name} cannot be read: {error}") from None
            continue
        yield pa.field(name, pa.null() if isinstance(values, list) else values.type), values


def _pandas_values(series: Any) -> Values:
    """The values of a pandas column; objects stay Python objects unless all are dicts."""
    if series.dtype == object:
        present = series.notna().to_list()
        values = [v if p else None for v, p in zip(series, present, strict=True)]
        if set(map(type, values)) - {type(None)} != {dict}:
            return values
        array = pa.array(values)
    else:
        array = pa.array(series, from_pandas=True)
    return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
