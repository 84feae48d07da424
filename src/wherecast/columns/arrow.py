"""Publications as tables: Arrow, pandas, Polars, DuckDB, or anything with the Arrow interface.

A table may have columns that the schema does not name; they are ignored. An attribute finds its
column by exact case, else by any case if only one column fits; a field of a struct is found by its
dotted path. An attribute without a column is missing in every row.
"""

from typing import Any

import pyarrow as pa

from wherecast.columns.array_columns import array_column_of, cast_array_column
from wherecast.columns.arrow_schema import ARROW_TYPES, arrow_type
from wherecast.columns.casts import cast_column, open_type
from wherecast.columns.decoded import Decoded, DecodedColumn, assemble
from wherecast.columns.sources import LeafColumn, Source, source_of
from wherecast.columns.value_columns import column_of, open_column, struct_of
from wherecast.model.errors import Problem, SchemaError
from wherecast.model.limits import Limits
from wherecast.model.schema import Attribute, Schema
from wherecast.model.values import Type

_OPEN_TYPES: tuple[Type, ...] = ("float", "string", "bool")  # in the order of `OPEN_TYPE`


def read_arrow(
    data: Any, schema: Schema, strict: bool = True, limits: Limits | None = None
) -> Decoded:
    """The record batch of a table's rows.

    In an open schema the undeclared columns of numbers, strings and bools are attributes too;
    undeclared columns of other types are ignored.

    Args:
        data: a pyarrow table, batch or reader, a data frame, or anything with the Arrow interface.
        schema: the schema of the rows.
        strict: whether a row with a bad value is refused. If not, every row is good: text that is
            not UTF-8 has replacement characters, and any other bad value or element is missing.
        limits: the largest number of elements of an array; None: any number.

    Raises:
        SchemaError: the type of a column does not fit the attribute of its name, or two columns
            stand for one attribute.
        PublicationError: a column is damaged, or holds too much text for one batch.
        ConfigError: the data is no table.
    """
    source = source_of(data, schema)
    _refuse_structs(source, schema)
    declared, undeclared = _assign_columns(source, schema)
    most = None if limits is None else limits.array_elements_max
    columns = [_declared(a, declared.get(a.name), source.length, most) for a in schema]
    extra = {}
    for name, leaf in undeclared.items():
        column = _undeclared(name, leaf)
        if column is not None:
            extra[name] = column
    if not strict:
        columns = [DecodedColumn(column.array) for column in columns]
        extra = {name: DecodedColumn(column.array) for name, column in extra.items()}
    return assemble(schema, columns, extra, source.length)


def _refuse_structs(source: Source, schema: Schema) -> None:
    """Raises SchemaError if the name of a struct is the name of an attribute."""
    for path, kind in source.structs.items():
        attribute = schema.find(path)
        if attribute is not None:
            text = f"column {path} is {kind}, which cannot be the {attribute.kind} attribute"
            raise SchemaError([Problem("wrong_type", f"{text} {attribute.name}", attribute.name)])


def _assign_columns(
    source: Source, schema: Schema
) -> tuple[dict[str, LeafColumn], dict[str, LeafColumn]]:
    """The leaf columns by attribute: those of declared attributes, and the undeclared ones.

    Raises:
        SchemaError: two columns stand for one attribute.
    """
    found: dict[str, list[LeafColumn]] = {}
    others: dict[str, list[LeafColumn]] = {}
    for leaf in source.leaves:
        attribute = schema.find(leaf.path)
        if attribute is not None:
            found.setdefault(attribute.name, []).append(leaf)
        elif schema.open:
            others.setdefault(leaf.path, []).append(leaf)
    declared = {}
    for name, leaves in found.items():
        exact = [leaf for leaf in leaves if leaf.path == name]
        declared[name] = _only(name, exact or leaves)
    return declared, {name: _only(name, leaves) for name, leaves in others.items()}


def _only(name: str, leaves: list[LeafColumn]) -> LeafColumn:
    """The single leaf column of an attribute; raises SchemaError if there are several."""
    if len(leaves) > 1:
        paths = ", ".join(leaf.path for leaf in leaves)
        text = f"attribute {name} has more than one column: {paths}"
        raise SchemaError([Problem("conflict", text, name)])
    return leaves[0]


def _declared(
    attribute: Attribute, leaf: LeafColumn | None, length: int, elements_max: int | None
) -> DecodedColumn:
    """The column of a declared attribute."""
    if leaf is None:
        return DecodedColumn(pa.nulls(length, arrow_type(attribute)))
    if attribute.element is not None:
        if isinstance(leaf.values, list):
            return array_column_of(attribute, leaf.values, elements_max)
        return cast_array_column(attribute, leaf.path, leaf.values, elements_max)
    if isinstance(leaf.values, list):
        return column_of(attribute, leaf.values)
    return cast_column(attribute, leaf.path, leaf.values)


def _undeclared(name: str, leaf: LeafColumn) -> DecodedColumn | None:
    """The column of an undeclared attribute of an open schema; None if its type does not fit."""
    if isinstance(leaf.values, list):
        return _undeclared_objects(name, leaf.values)
    parts: dict[Type, pa.ChunkedArray] = {}
    if leaf.is_open:
        parts = dict(zip(_OPEN_TYPES, leaf.values.flatten(), strict=True))
    else:
        type_ = open_type(leaf.values.type)
        if type_ is None:
            return None
        parts[type_] = leaf.values
    columns = [
        cast_column(Attribute(name, t), name, parts[t])
        if t in parts
        else DecodedColumn(pa.nulls(len(leaf.values), ARROW_TYPES[t]))
        for t in _OPEN_TYPES
    ]
    return struct_of(*columns)


def _undeclared_objects(name: str, values: list[object]) -> DecodedColumn | None:
    """The column of Python objects; None if no object is a number, a string or a bool."""
    if not any(isinstance(value, int | float | str) for value in values):
        return None
    return open_column(name, values)
