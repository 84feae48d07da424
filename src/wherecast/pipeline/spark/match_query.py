"""The Spark query of a match: which columns travel to Python, and which work Spark does itself.

Python returns an array of filter ids per publication. For a result of rows Spark explodes the
arrays, which is faster than making rows in Python. The publications travel in one of two ways:

whole    all columns travel to Python and back (`mapInArrow`)
columns  only the columns that the filters name travel, and only the matches come back (`arrow_udf`)

`docs/explanation/spark.md` has the measurements that `choose_way` follows.
"""

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import pyspark.sql.functions as fn
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    StringType,
    StructField,
    StructType,
)

from wherecast.model import Attribute
from wherecast.pipeline.spark import spark_runner
from wherecast.pipeline.spark.frame_columns import (
    columns_without_arrow_type,
    leaf_columns,
    numbered,
    unread_bytes,
)
from wherecast.pipeline.stages.batch_task import NOW_COLUMN, ROW, FilterSource, JoinTask
from wherecast.pipeline.stages.result_columns import How, JoinPlan, Output, Shape

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Observation

Way = Literal["whole", "columns"]
_FOUND = "__wherecast_found"
_ERROR = "__wherecast_error"
_NOW = "__wherecast_now"
_WIDE, _WIDE_ROWS = 32, 64  # from this many unread bytes per row, sending columns only is faster
_NAME = "wherecast_match"  # in Spark's plans and pages
_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class MatchQuery:
    """The checked options of a match.

    Attributes:
        filters: the source from which tasks load the filters.
        id_type: type of the ids.
        kept: the columns of the filters that the result adds.
        needed: the attributes that the filters name, or that later filters may name.
        enforced: whether publications that violate the schema are refused.
        how, output, prefix: the arguments of `wherecast.spark.match`.
        keeps_all: whether workers also return publications that are not in the result.
        now: the value of `now()`, in microseconds since 1970, or a column of the publications;
            None if no filter reads it.
    """

    filters: FilterSource
    id_type: DataType
    kept: tuple[StructField, ...]
    needed: tuple[Attribute, ...]
    enforced: bool
    how: How
    output: Output
    prefix: str
    keeps_all: bool = False
    now: "Column | int | None" = None

    @property
    def moment(self) -> int | None:
        """The one value of `now()` for all publications; None if there is none."""
        return self.now if isinstance(self.now, int) else None

    @property
    def adds_filters(self) -> bool:
        """Whether the result has columns of the filters."""
        return self.how in ("inner", "left")

    @property
    def shows_error(self) -> bool:
        """Whether the result has a column with the reason of a refusal."""
        return self.enforced and self.how in ("left", "anti")

    def added(self) -> list[StructField]:
        """The columns that the result has beside those of the publications."""
        fields: list[StructField] = []
        if self.adds_filters:
            name = "filter_id" if self.output == "rows" else "filter_ids"
            columns = [StructField(name, self.id_type), *self.kept]
            for column in columns:
                type_ = column.dataType if self.output == "rows" else ArrayType(column.dataType)
                fields.append(StructField(f"{self.prefix}{column.name}", type_))
        if self.shows_error:
            fields.append(StructField(f"{self.prefix}error", StringType()))
        return fields

    def plan(self, way: Way) -> JoinPlan:
        """The plan of the result of a worker."""
        kept = tuple(column.name for column in self.kept)
        return JoinPlan(
            how=self.how if way == "whole" and not self.keeps_all else "left",
            shape=self._shape(way),
            ids=self.adds_filters,
            kept=kept,
            errors=self.enforced,
        )

    def _shape(self, way: Way) -> Shape:
        if not self.adds_filters:
            return "arrays" if way == "whole" else "flags"
        return "structs" if self.output == "rows" and self.kept else "arrays"

    def found(self, way: Way) -> list[StructField]:
        """The columns that a worker adds to those of the publications."""
        shape = self._shape(way)
        columns = [StructField("filter_id", self.id_type), *self.kept]
        types: list[DataType] = [ArrayType(column.dataType) for column in columns]
        if shape == "structs":
            types = [ArrayType(StructType(columns))]
        elif shape == "flags":
            types = [BooleanType()]
        elif not self.adds_filters:
            types = []
        fields = [StructField(f"{_FOUND}{place}", type_) for place, type_ in enumerate(types)]
        return [*fields, StructField(_ERROR, StringType())] if self.enforced else fields


def build(
    publications: "DataFrame",
    query: MatchQuery,
    way: Way | None = None,
    observation: "Observation | None" = None,
) -> "DataFrame":
    """The DataFrame of a match.

    Args:
        publications: the publications.
        query: the query.
        way: the way publications travel; by default the faster one.
        observation: gets the numbers of publications, matches and refused publications.
    """
    columns = publications.schema
    way = _choose_way(columns, query) if way is None else way
    if observation is not None and query.how == "inner":
        query = replace(query, keeps_all=True)  # publications without a match are counted too
    frame = (_whole if way == "whole" else _columns)(publications, query)
    if observation is not None:
        frame = frame.observe(observation, *_counts(query))
    elif query.enforced:
        frame = frame.observe(f"wherecast-{next(_numbers)}", fn.count(_ERROR).alias("refused"))
    if query.enforced and not query.shows_error:
        frame = frame.where(fn.col(_ERROR).isNull())
    if way == "columns" or query.keeps_all:
        frame = _kept_rows(frame, query)
    carried = [fn.col(f"c{place}") for place in range(len(columns))]
    errors = [fn.col(_ERROR)] if query.shows_error else []
    result = frame.select(*carried, *_filter_columns(query), *errors)
    return result.toDF(*columns.names, *(column.name for column in query.added()))


def _counts(query: MatchQuery) -> "list[Column]":
    """The counts of an observation, over rows that are publications with their matches."""
    pairs = fn.coalesce(fn.sum(fn.size(fn.col(f"{_FOUND}0"))), fn.lit(0))
    refused = fn.count(_ERROR) if query.enforced else fn.lit(0)
    named = {"publications": fn.count(fn.lit(1)), "matches": pairs, "refused": refused}
    return [count.alias(name) for name, count in named.items()]


def _choose_way(columns: StructType, query: MatchQuery) -> Way:
    """The way publications travel.

    Raises:
        ConfigError: a column has no Arrow type, and this Spark must send all columns.
    """
    awkward = columns_without_arrow_type(columns)
    if not spark_runner.has_columns_way():
        spark_runner.refuse_awkward(awkward)
        return "whole"
    explodes = query.adds_filters and query.output == "rows"
    wide = unread_bytes(columns, query.needed) >= (_WIDE_ROWS if explodes else _WIDE)
    return "columns" if awkward or wide else "whole"


def timed(publications: "DataFrame", query: MatchQuery) -> "DataFrame":
    """The publications, with the column of `now()` at the end if the query has one."""
    if query.now is None or isinstance(query.now, int):
        return publications
    return publications.select("*", query.now.alias(_NOW))


def _whole(publications: "DataFrame", query: MatchQuery) -> "DataFrame":
    """The publications of the result with their matches; all columns travel."""
    columns = StructType([*numbered(publications.schema.fields), *query.found("whole")])
    task = JoinTask(query.filters, query.plan("whole"), tuple(columns.names), now=query.moment)
    names = publications.columns
    if query.moment is not query.now:
        names = [*names, NOW_COLUMN]
    return spark_runner.run(task, timed(publications, query), columns, _NAME, names)


def _columns(publications: "DataFrame", query: MatchQuery) -> "DataFrame":
    """All publications with their matches; only the needed columns travel."""
    columns = publications.schema
    given = leaf_columns(columns, query.needed) or {ROW: fn.lit(0)}
    names = [column.name for column in numbered(columns.fields)]
    if query.moment is not query.now:
        names, given = [*names, _NOW], given | {NOW_COLUMN: fn.col(_NOW)}
    frame = timed(publications, query).toDF(*names)
    fields = query.found("columns")
    found_names = tuple(field.name for field in fields)
    task = JoinTask(query.filters, query.plan("columns"), found_names, False, query.moment)
    type_ = fields[0].dataType if len(fields) == 1 else StructType(fields)
    steady = isinstance(type_, BooleanType)  # used once, so Spark may reorder it
    found = spark_runner.run_on_columns(task, given, type_, steady, _NAME)
    if len(fields) == 1:
        return frame.withColumn(fields[0].name, found)
    frame = frame.withColumn(_FOUND, found)
    parts = [fn.col(_FOUND).getField(field.name).alias(field.name) for field in fields]
    return frame.select(*(fn.col(name) for name in frame.columns[:-1]), *parts)


def _kept_rows(frame: "DataFrame", query: MatchQuery) -> "DataFrame":
    """The publications of the result; `explode` drops publications without a match by itself."""
    found = fn.col(f"{_FOUND}0")
    if query.how == "semi":
        return frame.where(found)
    if query.how == "anti":
        return frame.where(~found)
    if query.how == "inner" and query.output == "arrays":
        return frame.where(fn.size(found) > 0)
    return frame


def _filter_columns(query: MatchQuery) -> "list[Column]":
    """The columns of the filters, made from the matches."""
    if not query.adds_filters:
        return []
    if query.output == "arrays":
        return [fn.col(f"{_FOUND}{place}") for place in range(1 + len(query.kept))]
    found, outer = fn.col(f"{_FOUND}0"), query.how == "left"
    if query.kept:
        return [fn.inline_outer(found) if outer else fn.inline(found)]
    return [fn.explode_outer(found) if outer else fn.explode(found)]
