"""Filters in memory, ready to be matched: parts with the columns that are kept of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

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
    """Filters that this process can match; a filter is known by its place.

    Attributes:
        schema: what publications are read with: the declared schema where it is enforced, else
            the attributes that the filters name.
        enforced: whether publications may be refused, since the schema was declared.
        named: the attributes that the filters name.
        parts: the filters.
        ids: their ids, of the type they came in.
        kept: further columns of them.
        pace: how many publications are matched at once.
    """

    schema: Schema
    enforced: bool
    named: tuple[Attribute, ...]
    parts: IndexParts
    ids: pa.Array
    kept: pa.RecordBatch
    pace: Pace = field(default_factory=Pace)

    def __len__(self) -> int:
        return len(self.parts)

    def load(self) -> "LoadedFilters":
        """The filters themselves: they are here already."""
        return self


def compile_filters(
    table: pa.Table, schema: Schema, enforced: bool = False, on_bad: OnBad = "raise"
) -> tuple[LoadedFilters, list[RejectedFilter]]:
    """The filters of a table, in this process.

    Args:
        table: its first two columns are ids (strings or integers) and filters; the others are
            kept.
        schema: what they are read with.
        enforced: whether the schema also decides which publications are good.
        on_bad: what a filter that cannot be used does.

    Returns:
        The good filters, and the rejected ones with `on_bad="skip"`.

    Raises:
        FilterError: with `on_bad="raise"`, the first three bad filters and their count.
        ConfigError: an id occurs twice.
    """
    part, rejected = compile_part(table, schema, on_bad)
    type_ = table.schema.field(0).type
    return loaded([part.part], part.kept, type_, schema, enforced), rejected


def compile_part(
    table: pa.Table, schema: Schema, on_bad: OnBad = "raise"
) -> tuple[FilterPart, list[RejectedFilter]]:
    """The filters of a table with what belongs to each, as `compile_filters` reads them."""
    need_on_bad(on_bad)
    return assemble([read(table, schema)], schema, on_bad)


def loaded(
    parts: Sequence[IndexPart],
    kept: pa.RecordBatch,
    id_type: pa.DataType,
    schema: Schema,
    enforced: bool,
) -> LoadedFilters:
    """Parts with their further columns, ready to be matched."""
    named = named_by([part.attributes for part in parts])
    columns = [part.ids for part in parts if len(part)]
    ids = pa.concat_arrays(columns) if columns else pa.array([], id_type)
    reading = reading_schema(schema, enforced, named)
    return LoadedFilters(reading, enforced, named, IndexParts(parts), ids.cast(id_type), kept)


def named_by(attributes: Iterable[Sequence[Attribute]]) -> tuple[Attribute, ...]:
    """The attributes that parts name, sorted by name."""
    found = {attribute.name: attribute for part in attributes for attribute in part}
    return tuple(found[name] for name in sorted(found))


def reading_schema(schema: Schema, enforced: bool, named: Sequence[Attribute]) -> Schema:
    """What publications are read with."""
    if enforced:
        return schema
    names = {attribute.name for attribute in named}
    return Schema(tuple(a for a in schema if a.name in names), schema.open)
