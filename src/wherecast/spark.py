"""Wherecast on Spark DataFrames, batch and streaming: which filters each publication satisfies.

from wherecast.spark import match, compile_filters

match(publications, filters)                                     # filters: id, filter
filters = compile_filters(filters, schema=publications.schema)   # once, then reuse
match(publications, filters, how="left", output="arrays")
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, get_args

import pyarrow as pa

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

from wherecast.columns import arrow_schema
from wherecast.model import ConfigError, Problem, Schema, SchemaError
from wherecast.model.names import did_you_mean
from wherecast.pipeline import spark_runner
from wherecast.pipeline.filters import CompiledFilters, OnBad, RejectedFilter
from wherecast.pipeline.filters import compile_filters as compile_table
from wherecast.pipeline.join import How, JoinPlan, Output
from wherecast.pipeline.stages import validate
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

    def _choose(self, keep: Sequence[str] | None, how: How) -> tuple[str, ...]:
        """The kept columns of a result."""
        if how in ("semi", "anti"):
            if keep:
                raise ConfigError(
                    f"how={how!r} adds no columns of the filters, so keep is too much"
                )
            return ()
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
    _need_frame(filters, "filters")
    if filters.isStreaming:
        raise ConfigError("filters are a batch DataFrame, not a streaming one")
    id_field, text_field = _column(filters, id), _column(filters, filter)
    kept = tuple(_column(filters, name) for name in dict.fromkeys(keep))
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
    _need_frame(publications, "publications")
    _need_one_of("how", how, How)
    _need_one_of("output", output, Output)
    if schema is not None and not isinstance(schema, Schema):
        raise ConfigError(f"schema is a wherecast Schema, not {type(schema).__name__}")
    if not isinstance(filters, Filters):
        given = publications.schema if schema is None else schema
        filters = compile_filters(filters, given, keep or (), id, filter, on_bad_filter)
    elif schema is not None:
        filters = _on_schema(filters, schema)
    _need_columns(publications, filters)
    chosen = filters._choose(keep, how)
    enforced = filters._compiled.enforced
    shows_error = enforced and how in ("left", "anti")
    added = _added(filters, chosen, how, output, prefix)
    if shows_error:
        added.append(StructField(f"{prefix}error", StringType()))
    _need_no_clash(publications, added)
    if enforced and not shows_error:  # counted below, then dropped
        added.append(StructField(_HIDDEN_ERROR, StringType()))
    adds_ids = how in ("inner", "left")
    plan = JoinPlan(how, output, adds_ids, chosen, errors=enforced, refused=enforced)
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


def _need_columns(publications: "DataFrame", filters: Filters) -> None:
    """Refuses publications whose columns are not those that the filters were read for."""
    found = Schema.from_spark(publications.schema)
    compiled = filters._compiled
    needed = tuple(compiled.schema) if compiled.enforced else compiled.named
    for attribute in needed:
        name = attribute.name
        if name in found.unsupported:
            shown = found.unsupported[name]
            text = f"column {name} is {shown}, which cannot be the {attribute.type} attribute"
            raise SchemaError([Problem("wrong_type", f"{text} {name}", name)])
        column = found.find(name)
        if compiled.enforced:
            continue
        if column is None:
            hint = did_you_mean(name, found.names)
            text = f"the filters name {name}, which is no column of the publications"
            raise ConfigError(f"{text}; {hint}" if hint else text)
        if column.type != attribute.type:
            raise ConfigError(
                f"the filters were read for {name} as {attribute.type}, the column is {column.type}"
            )
    if compiled.enforced:  # on no rows: what a worker would find out first
        validate(pa.RecordBatch.from_pylist([], schema=arrow_schema(found)), compiled.schema)


def _need_no_clash(publications: "DataFrame", added: Sequence[StructField]) -> None:
    there = {name.casefold() for name in publications.columns}
    for column in added:
        if column.name.casefold() in there:
            raise ConfigError(
                f"the result would have two columns named {column.name}; give a prefix for the"
                ' added ones, such as prefix="matched_"'
            )
        there.add(column.name.casefold())


def _need_frame(value: object, what: str) -> None:
    if not (hasattr(value, "mapInArrow") and hasattr(value, "isStreaming")):
        raise ConfigError(f"{what} is a Spark DataFrame, not {type(value).__name__}")


def _need_one_of(option: str, value: object, choices: Any) -> None:
    known = get_args(choices)
    if value not in known:
        raise ConfigError(f"{option} is one of {', '.join(known)}, not {value!r}")


def _column(frame: "DataFrame", name: str) -> StructField:
    """The column of a frame: by exact case, else by any case where that is unique."""
    fields = frame.schema.fields
    found = [f for f in fields if f.name == name]
    found = found or [f for f in fields if f.name.casefold() == name.casefold()]
    if len(found) != 1:
        there = ", ".join(frame.columns)
        count = "no column" if not found else "more than one column"
        raise ConfigError(f"the filters have {count} {name}; their columns are {there}")
    return found[0]


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
