"""Wherecast on Spark DataFrames, batch and streaming: which filters each publication satisfies.

from wherecast.spark import match, compile_filters

match(publications, filters)                                     # filters: id, filter
filters = compile_filters(filters, schema=publications.schema)   # once, then reuse
match(publications, filters, how="left", output="arrays")
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

try:
    import pyspark.sql.functions as fn
    from pyspark.sql.types import (
        ArrayType,
        ByteType,
        CharType,
        DataType,
        IntegerType,
        LongType,
        ShortType,
        StringType,
        StructField,
        StructType,
        VarcharType,
    )
except ImportError as error:
    raise ImportError("wherecast.spark needs PySpark: pip install 'wherecast[spark]'") from error

from wherecast.model import ConfigError, Schema
from wherecast.pipeline import spark_runner
from wherecast.pipeline.filters import CompiledFilters, OnBad, RejectedFilter
from wherecast.pipeline.filters import compile_filters as compile_table
from wherecast.pipeline.join import How, JoinPlan, Output
from wherecast.pipeline.spark_checks import (
    find_column,
    need_columns,
    need_frame,
    need_no_clash,
    need_one_of,
)
from wherecast.pipeline.tasks import JoinTask

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Filters", "compile_filters", "match"]

_ID_TYPES = (StringType, CharType, VarcharType, ByteType, ShortType, IntegerType, LongType)
_HIDDEN_ERROR = "__wherecast_error"
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Filters:
    """Filters that were read and checked once; pickle them, and match with them again and again."""

    _compiled: CompiledFilters = field(repr=False)
    _rejected: tuple[RejectedFilter, ...] = field(repr=False)
    _id_type: DataType = field(repr=False)
    _kept: tuple[StructField, ...] = field(repr=False)

    def __len__(self) -> int:
        return len(self._compiled)

    def __repr__(self) -> str:
        return f"Filters(filters={len(self)}, rejected={len(self._rejected)})"

    @property
    def keep(self) -> tuple[str, ...]:
        """The further columns of the filters that `match` can add."""
        return tuple(column.name for column in self._kept)

    def _choose(self, keep: Sequence[str] | None) -> tuple[str, ...]:
        """The kept columns of a result: all of them, or those that are named."""
        missing = [name for name in keep or () if name not in self.keep]
        if missing:
            there = ", ".join(self.keep) or "none"
            raise ConfigError(f"{', '.join(missing)} was not compiled to be kept; {there} was")
        return self.keep if keep is None else tuple(keep)

    @property
    def rejected(self) -> "DataFrame":
        """The filters that cannot be used: `id`, `filter`, `error`, `position`."""
        from pyspark.sql import SparkSession

        columns = StructType([StructField("id", self._id_type)])
        columns.add("filter", StringType()).add("error", StringType()).add("position", LongType())
        rows = [(bad.id, bad.filter, bad.error, bad.position) for bad in self._rejected]
        return SparkSession.builder.getOrCreate().createDataFrame(rows, columns)

    @property
    def stats(self) -> dict[str, Any]:
        """Figures: filters, rejected ones, those that can never match, and what they name."""
        filters = self._compiled.filters()
        return {
            "filters": len(filters),
            "rejected": len(self._rejected),
            "never_match": sum(bool(filter.warnings) for filter in filters),
            "attributes": [attribute.name for attribute in self._compiled.named],
        }


def compile_filters(
    filters: "DataFrame",
    schema: StructType | Schema,
    keep: Sequence[str] = (),
    id: str = "id",
    filter: str = "filter",
    on_bad_filter: OnBad = "raise",
) -> Filters:
    """The filters of a DataFrame, ready to be matched again and again.

    Args:
        filters: a batch DataFrame.
        schema: of the publications: the schema of their DataFrame, or a `Schema`, whose declared
            domains and steps are then in force.
        keep: further columns that `match` can add to its result.
        id: the column with the ids: strings or integers, no two the same.
        filter: the column with the WHERE clauses.
        on_bad_filter: `raise` refuses all where one cannot be used, `skip` leaves that one out.

    Raises:
        FilterError: filters cannot be used; names the first three and the count.
        ConfigError: an id occurs twice, or a column is missing or of the wrong type.
    """
    need_frame(filters, "filters")
    if filters.isStreaming:
        raise ConfigError("filters are a batch DataFrame, not a streaming one")
    id_field, text_field = find_column(filters, id), find_column(filters, filter)
    kept = tuple(find_column(filters, name) for name in dict.fromkeys(keep))
    if not isinstance(id_field.dataType, _ID_TYPES):
        shown = id_field.dataType.simpleString()
        raise ConfigError(f"ids are strings or integers, column {id_field.name} is {shown}")
    if not isinstance(text_field.dataType, (StringType, CharType, VarcharType)):
        shown = text_field.dataType.simpleString()
        raise ConfigError(f"filters are strings, column {text_field.name} is {shown}")
    names = ["id", "filter", *(f"kept {place}" for place in range(len(kept)))]
    columns = (id_field, text_field, *kept)
    chosen = [fn.col(_quoted(c.name)).alias(name) for c, name in zip(columns, names, strict=True)]
    table = spark_runner.to_arrow(filters.select(*chosen)).rename_columns(
        ["id", "filter", *(column.name for column in kept)]
    )
    enforced = isinstance(schema, Schema)
    attributes = schema if isinstance(schema, Schema) else Schema.from_spark(schema)
    compiled, rejected = compile_table(table, attributes, enforced, on_bad_filter)
    return Filters(compiled, tuple(rejected), id_field.dataType, kept)


def match(  # noqa: PLR0913  # the options of a join, all but two by keyword
    publications: "DataFrame",
    filters: "DataFrame | Filters",
    how: How = "inner",
    output: Output = "rows",
    prefix: str = "",
    schema: Schema | None = None,
    *,
    keep: Sequence[str] | None = None,
    id: str = "id",
    filter: str = "filter",
    on_bad_filter: OnBad = "raise",
) -> "DataFrame":
    """The publications with the filters they satisfy.

    Args:
        publications: a batch or streaming DataFrame. Its columns are the attributes, fields of
            structs by dotted path. All columns are carried along.
        filters: a DataFrame with ids and filters, or what `compile_filters` gave.
        how: `inner`, `left` (publications without a match too), `semi` (publications with a
            match) or `anti` (without one).
        output: `rows` adds `filter_id` and the kept columns, a row per match; `arrays` adds
            `filter_ids` and an array per kept column, a row per publication.
        prefix: goes before the names of the added columns.
        schema: overrides the types of the columns and turns declared domains on. A publication
            outside matches nothing; `left` and `anti` keep it, with the reason in `error`.
        keep: columns of the filters to add; all that were compiled where nothing is said.
        id: the column with the ids, where `filters` is a DataFrame.
        filter: the column with the WHERE clauses, where `filters` is a DataFrame.
        on_bad_filter: what a filter that cannot be used does, where `filters` is a DataFrame.

    Raises:
        FilterError: filters cannot be used.
        SchemaError: a column cannot be the attribute of its name.
        ConfigError: an option is wrong, or an added column has the name of one that is there.
    """
    need_frame(publications, "publications")
    need_one_of("how", how, How)
    need_one_of("output", output, Output)
    if schema is not None and not isinstance(schema, Schema):
        raise ConfigError(f"schema is a wherecast Schema, not {type(schema).__name__}")
    if keep and how in ("semi", "anti"):
        raise ConfigError(f"how={how!r} adds no columns of the filters, so keep is too much")
    if not isinstance(filters, Filters):
        given = publications.schema if schema is None else schema
        filters = compile_filters(filters, given, keep or (), id, filter, on_bad_filter)
        keep = None  # all that was compiled
    elif schema is not None:
        filters = _on_schema(filters, schema)
    need_columns(publications, filters._compiled)
    return _joined(publications, filters, keep, how, output, prefix)


def _joined(
    publications: "DataFrame",
    filters: Filters,
    keep: Sequence[str] | None,
    how: How,
    output: Output,
    prefix: str,
) -> "DataFrame":
    """The query of a match whose options were checked."""
    kept = () if how in ("semi", "anti") else filters._choose(keep)
    enforced = filters._compiled.enforced
    shows_error = enforced and how in ("left", "anti")
    added = _added(filters, kept, how, output, prefix)
    if shows_error:
        added.append(StructField(f"{prefix}error", StringType()))
    need_no_clash(publications, added)
    if enforced and not shows_error:  # counted below, then dropped
        added.append(StructField(_HIDDEN_ERROR, StringType()))
    adds_ids = how in ("inner", "left")
    plan = JoinPlan(how, output, adds_ids, kept, errors=enforced, refused=enforced)
    columns = StructType([*publications.schema.fields, *added])
    task = JoinTask(filters._compiled, plan, tuple(columns.names))
    result = _run(task, publications, columns)
    return _counted(result, added[-1].name, shows_error) if enforced else result


def _run(task: JoinTask, publications: "DataFrame", columns: StructType) -> "DataFrame":
    try:
        return spark_runner.run(task, publications, columns)
    except NotImplementedError:
        awkward = [
            f.name for f in publications.schema.fields if "interval" in f.dataType.typeName()
        ]
        raise ConfigError(
            f"Spark cannot carry {', '.join(awkward)} through Arrow; cast it to a string first"
        ) from None


def _counted(result: "DataFrame", error: str, shown: bool) -> "DataFrame":
    """The result with the number of refused publications among its observed metrics."""
    reason = fn.col(_quoted(error))
    count = fn.count(reason).alias("refused")
    result = result.observe(f"wherecast-{next(_numbers)}", count)
    return result if shown else result.where(reason.isNull()).drop(reason)


def _added(
    filters: Filters, kept: tuple[str, ...], how: How, output: Output, prefix: str
) -> list[StructField]:
    """The columns that the filters add to those of the publications."""
    if how in ("semi", "anti"):
        return []
    types = {column.name: column.dataType for column in filters._kept}
    ids = "filter_id" if output == "rows" else "filter_ids"
    columns = [(ids, filters._id_type), *((name, types[name]) for name in kept)]
    return [
        StructField(f"{prefix}{name}", type_ if output == "rows" else ArrayType(type_))
        for name, type_ in columns
    ]


def _on_schema(filters: Filters, schema: Schema) -> Filters:
    """The same filters read with another schema, which is then in force."""
    if filters._compiled.enforced and filters._compiled.schema == schema:
        return filters
    compiled, _ = compile_table(filters._compiled.table(), schema, enforced=True)
    return replace(filters, _compiled=compiled)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
