"""Filters in memory, ready for matching: parts with their kept columns."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from wherecast.language.meaning.formula import NOW
from wherecast.matching import IndexPart, IndexParts
from wherecast.model import Attribute, Schema
from wherecast.pipeline.filters.filter_table import (
    FilterPart,
    OnBad,
    RejectedFilter,
    assemble,
    need_on_bad,
    read,
)
from wherecast.pipeline.stages.pace import Pace


@dataclass(frozen=True, slots=True, eq=False)
class LoadedFilters:
    """Filters that this process can match; results name a filter by its position.

    Attributes:
        schema: the schema for reading publications: the declared schema if it is enforced, else
            the attributes that the filters name.
        enforced: whether publications that violate the schema are refused.
        named: the attributes that the filters name.
        reads_now: whether a filter has `now()`.
        parts: the filters.
        ids: the ids of the filters, in their original type.
        kept: the further columns of the filters.
        pace: decides how many publications are matched at once.
    """

    schema: Schema
    enforced: bool
    named: tuple[Attribute, ...]
    reads_now: bool
    parts: IndexParts
    ids: pa.Array
    kept: pa.RecordBatch
    pace: Pace = field(default_factory=Pace)

    def __len__(self) -> int:
        return len(self.parts)

    def load(self) -> "LoadedFilters":
        """These filters, which are loaded already."""
        return self


def compile_filters(
    table: pa.Table, schema: Schema, enforced: bool = False, on_bad: OnBad = "raise"
) -> tuple[LoadedFilters, list[RejectedFilter]]:
    """Compiles the filters of a table in this process.

    Args:
        table: ids (strings or integers) in the first column, filters in the second, further
            columns to keep.
        schema: the schema of the filters.
        enforced: whether publications that violate the schema are refused.
        on_bad: whether a bad filter raises an error or is skipped.

    Returns:
        The good filters, and the rejected ones with `on_bad="skip"`.

    Raises:
        FilterError: with `on_bad="raise"`, the first three bad filters and their count.
        ConfigError: an id occurs twice.
    """
    part, rejected = compile_part(table, schema, on_bad)
    type_ = table.schema.field(0).type
    return with_columns([part.part], part.kept, type_, schema, enforced), rejected


def compile_part(
    table: pa.Table, schema: Schema, on_bad: OnBad = "raise"
) -> tuple[FilterPart, list[RejectedFilter]]:
    """The part of a table's filters and the rejected filters, as in `compile_filters`."""
    need_on_bad(on_bad)
    return assemble([read(table, schema)], schema, on_bad)


def with_columns(
    parts: Sequence[IndexPart],
    kept: pa.RecordBatch,
    id_type: pa.DataType,
    schema: Schema,
    enforced: bool,
) -> LoadedFilters:
    """The loaded filters of parts and their further columns."""
    named, reads_now = named_by([part.attributes for part in parts])
    columns = [part.ids for part in parts if len(part)]
    ids = pa.concat_arrays(columns) if columns else pa.array([], id_type)
    reading = reading_schema(schema, enforced, named)
    index = IndexParts(parts)
    return LoadedFilters(reading, enforced, named, reads_now, index, ids.cast(id_type), kept)


def named_by(attributes: Iterable[Sequence[Attribute]]) -> tuple[tuple[Attribute, ...], bool]:
    """The attributes that parts name, sorted by name, and whether they have `now()`."""
    found = {attribute.name: attribute for part in attributes for attribute in part}
    reads_now = found.pop(NOW.name, None) is not None
    return tuple(found[name] for name in sorted(found)), reads_now


def reading_schema(schema: Schema, enforced: bool, named: Sequence[Attribute]) -> Schema:
    """The schema for reading publications; see `LoadedFilters.schema`."""
    if enforced:
        return schema
    names = {attribute.name for attribute in named}
    return Schema(tuple(a for a in schema if a.name in names), schema.open)
