"""Publications as tables: Arrow, pandas, Polars, DuckDB, or anything with the Arrow interface.

A table carries other columns too: those that the schema does not name are left alone. The schema
finds its columns by exact case, else by any case where that is unique; a field of a struct by its
dotted path. An attribute without a column is missing in every row.
"""

from typing import Any

import pyarrow as pa

from wherecast.columns.arrow_schema import ARROW_TYPES, arrow_type
from wherecast.columns.casts import cast_column, open_type
from wherecast.columns.decoded import Decoded, DecodedColumn, assemble
from wherecast.columns.sources import LeafColumn, Source, source_of
from wherecast.columns.value_columns import column_of, open_column, struct_of
from wherecast.model.errors import Problem, SchemaError
from wherecast.model.schema import Attribute, Schema
from wherecast.model.values import Type

_OPEN_TYPES: tuple[Type, ...] = ("float", "string", "bool")  # in the order of `OPEN_TYPE`


def read_arrow(data: Any, schema: Schema, strict: bool = True) -> Decoded:
    """The record batch of a table's rows.

    In an open schema the undeclared columns of numbers, strings and bools are attributes too;
    undeclared columns of other types are left alone.

    Args:
        data: a pyarrow table, batch or reader, a data frame, or anything with the Arrow interface.
        schema: the schema that the rows must keep.
        strict: whether rows are refused. Else every row is good, and a value that its column
            cannot have is as near to it as can be: text that is not UTF-8 has the replacement
            character in it, any other is missing.

    Raises:
        SchemaError: a column cannot be the attribute of its name, or two columns are the same one.
        PublicationError: a column is damaged, or holds too much text for one batch.
        ConfigError: the data is no table.
    """
    source = source_of(data, schema)
    _refuse_structs(source, schema)
    declared, undeclared = _assigned(source, schema)
    columns = [_declared(a, declared.get(a.name), source.length) for a in schema]
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
    """Refuses a struct whose own name is an attribute."""
    for path, kind in source.structs.items():
        attribute = schema.find(path)
        if attribute is not None:
            text = f"column {path} is {kind}, which cannot be the {attribute.kind} attribute"
            raise SchemaError([Problem("wrong_type", f"{text} {attribute.name}", attribute.name)])


def _assigned(
    source: Source, schema: Schema
) -> tuple[dict[str, LeafColumn], dict[str, LeafColumn]]:
    """The leaf of each declared attribute that has one, and those of the undeclared ones.

    Raises:
        SchemaError: two columns are the same attribute.
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
    """The one leaf of an attribute."""
    if len(leaves) > 1:
        paths = ", ".join(leaf.path for leaf in leaves)
        text = f"attribute {name} has more than one column: {paths}"
        raise SchemaError([Problem("conflict", text, name)])
    return leaves[0]


def _declared(attribute: Attribute, leaf: LeafColumn | None, length: int) -> DecodedColumn:
    """The column of a declared attribute."""
    if leaf is None:
        return DecodedColumn(pa.nulls(length, arrow_type(attribute)))
    if isinstance(leaf.values, list):
        return column_of(attribute, leaf.values)
    return cast_column(attribute, leaf.path, leaf.values)


def _undeclared(name: str, leaf: LeafColumn) -> DecodedColumn | None:
    """The column of an undeclared attribute of an open schema, None where it cannot be one."""
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
    """A column of Python objects; None where none of them could be an attribute's value."""
    if not any(isinstance(value, int | float | str) for value in values):
        return None
    return open_column(name, values)
