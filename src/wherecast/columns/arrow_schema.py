"""The Arrow schema of a record batch: one flat column per attribute, dotted names as they are."""

import pyarrow as pa

from wherecast.model.decimals import PRECISION_MAX
from wherecast.model.schema import Attribute, Schema
from wherecast.model.values import Type

TIMESTAMP = pa.timestamp("us", tz="UTC")
ARROW_TYPES: dict[Type, pa.DataType] = {
    "int": pa.int64(),
    "float": pa.float64(),
    "bool": pa.bool_(),
    "string": pa.string(),
    "timestamp": TIMESTAMP,
    "array<string>": pa.list_(pa.string()),
    "array<int>": pa.list_(pa.int64()),
    "array<float>": pa.list_(pa.float64()),
}
"""The types of canonical values: a decimal is held as its units, a date as its first moment."""

OPEN_TYPE = pa.struct(
    [("number", ARROW_TYPES["float"]), ("text", ARROW_TYPES["string"]), ("truth", pa.bool_())]
)
"""The type of an undeclared attribute of an open schema: a row sets at most one of the three."""

_OPEN_MARK = {b"wherecast.open": b"1"}


def arrow_type(attribute: Attribute) -> pa.DataType:
    """The type of an attribute's column in a batch."""
    if attribute.scale:
        return pa.decimal128(PRECISION_MAX, attribute.scale)
    if attribute.clock == "day":
        return pa.date32()
    if attribute.clock == "local":
        return pa.timestamp("us")
    return ARROW_TYPES[attribute.type]


def arrow_schema(schema: Schema) -> pa.Schema:
    """The Arrow schema of a batch: the declared attributes in the order of the schema.

    A batch of an open schema has further columns after these, one per undeclared attribute
    (`open_field`), sorted by name.
    """
    return pa.schema([pa.field(a.name, arrow_type(a)) for a in schema])


def open_field(name: str) -> pa.Field:
    """The field of an undeclared attribute, with the mark that `is_open_field` looks for."""
    return pa.field(name, OPEN_TYPE, metadata=_OPEN_MARK)


def is_open_field(field: pa.Field) -> bool:
    """Whether a column holds an undeclared attribute of an open schema."""
    marks = field.metadata or {}
    return bool(field.type == OPEN_TYPE) and _OPEN_MARK.items() <= marks.items()
