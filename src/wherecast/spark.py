"""Wherecast on Spark DataFrames, batch and streaming: which filters each publication satisfies.

from wherecast.spark import match, compile_filters

match(publications, filters)                                     # filters: id, filter
filters = compile_filters(filters, schema=publications.schema)   # once, then reuse
match(publications, filters, how="left", output="arrays")
write_matches(publications, filters, "matches.parquet")          # without the way back to Spark
"""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

try:
    from pyspark.sql.types import LongType, StructType
except ImportError as error:
    raise ImportError("wherecast.spark needs PySpark: pip install 'wherecast[spark]'") from error

from wherecast.model import ConfigError, Schema
from wherecast.pipeline.filters.blob_location import Place, PlacedFilters
from wherecast.pipeline.filters.filter_set import Change, FilterSet, SetVersion
from wherecast.pipeline.filters.filter_table import OnBad
from wherecast.pipeline.filters.process_blobs import own_directory
from wherecast.pipeline.filters.stored_filters import StoredFilters
from wherecast.pipeline.sink.sink_commit import Mode
from wherecast.pipeline.spark.match_query import MatchQuery, build
from wherecast.pipeline.spark.match_writes import MatchWrite, WriteArguments, write
from wherecast.pipeline.spark.prepare_match import MatchArguments, compile_from_frame, prepare
from wherecast.pipeline.spark.query_checks import (
    need_columns,
    need_frame,
    need_kind,
    need_no_clash,
)
from wherecast.pipeline.spark.session_settings import Advice, check, session
from wherecast.pipeline.spark.spark_filters import Filters, load_filters
from wherecast.pipeline.spark.worker_python import need_python
from wherecast.pipeline.stages.result_columns import How, Output

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Observation

__all__ = [
    "Advice",
    "Change",
    "FilterSet",
    "Filters",
    "MatchWrite",
    "SetVersion",
    "check",
    "compile_filters",
    "load_filters",
    "match",
    "session",
    "validate",
    "write_matches",
]


def compile_filters(
    filters: "DataFrame",
    schema: StructType | Schema,
    keep: Sequence[str] = (),
    id: str = "id",
    filter: str = "filter",
    on_bad_filter: OnBad = "raise",
) -> Filters:
    """The compiled filters of a DataFrame, for any number of calls of `match`.

    Args:
        filters: a batch DataFrame.
        schema: the schema of the publications' DataFrame, or a `Schema`, whose declared domains
            and steps are then enforced.
        keep: further columns that `match` can add to its result.
        id: the column of the ids: distinct strings or integers.
        filter: the column of the WHERE clauses.
        on_bad_filter: `raise` refuses all filters where one is invalid; `skip` leaves out the
            invalid ones.

    Raises:
        FilterError: filters are invalid; names the first three and the count.
        ConfigError: an id occurs twice, or a column is missing or has the wrong type.
    """
    return compile_from_frame(filters, schema, keep, (id, filter), on_bad_filter)


def match(  # noqa: PLR0913  # the options of a join, all but two by keyword
    publications: "DataFrame",
    filters: "DataFrame | Filters | FilterSet",
    how: How = "inner",
    output: Output = "rows",
    prefix: str = "",
    schema: Schema | None = None,
    *,
    keep: Sequence[str] | None = None,
    where: "Column | str | None" = None,
    observation: "Observation | None" = None,
    now: "datetime | Column | None" = None,
    id: str = "id",
    filter: str = "filter",
    on_bad_filter: OnBad = "raise",
) -> "DataFrame":
    """The publications with the filters they satisfy.

    Args:
        publications: a batch or streaming DataFrame. Its columns are the attributes; a field of a
            struct has a dotted path. The result has all columns.
        filters: a DataFrame with ids and filters, the result of `compile_filters`, or a
            `FilterSet`. A stream uses one version of the set per micro-batch; a batch DataFrame
            uses the newest.
        how: `inner`, `left` (publications without a match too), `semi` (publications with a
            match) or `anti` (without one).
        output: `rows` adds `filter_id` and the kept columns, a row per match; `arrays` adds
            `filter_ids` and an array per kept column, a row per publication.
        prefix: prefix of the names of the added columns.
        schema: overrides the types of the columns and enforces declared domains. A publication
            outside a domain matches nothing; `left` and `anti` keep it, with the reason in `error`.
        keep: columns of the filters to add; by default all that were compiled.
        where: a condition on the publications, a Column or SQL text, that Spark applies before
            the match. Spark does not move a condition on the result below the match.
        observation: gets the numbers of `publications`, `matches` and `refused` publications, for
            `inner` and `left`.
        now: the value of `now()` in filters: one moment, where a datetime without a zone is UTC,
            or a Column of timestamps. By default the time of this call; of a stream Spark's
            `current_timestamp`, which a micro-batch that runs again has again.
        id: the column of the ids, where `filters` is a DataFrame.
        filter: the column of the WHERE clauses, where `filters` is a DataFrame.
        on_bad_filter: `raise` or `skip` for invalid filters, where `filters` is a DataFrame.

    Raises:
        FilterError: filters are invalid.
        SchemaError: a column cannot be the attribute of its name.
        ConfigError: an option is wrong, or an added column has the name of another column.
    """
    given = MatchArguments(how, output, prefix, schema, keep, where, id, filter, on_bad_filter, now)
    if observation is not None and how in ("semi", "anti"):
        raise ConfigError(f"how={how!r} finds no matches to count, so observation is too much")
    return build(*prepare(publications, filters, given), observation=observation)


def write_matches(  # noqa: PLR0913  # the options of `match` and of a writer, by keyword
    publications: "DataFrame",
    filters: "DataFrame | Filters | FilterSet",
    path: str | Path,
    *,
    how: How = "inner",
    output: Output = "rows",
    prefix: str = "",
    schema: Schema | None = None,
    keep: Sequence[str] | None = None,
    where: "Column | str | None" = None,
    partition_by: Sequence[str] = (),
    mode: Mode = "error",
    batch: tuple[str, int] | None = None,
    now: "datetime | Column | None" = None,
    id: str = "id",
    filter: str = "filter",
    on_bad_filter: OnBad = "raise",
) -> MatchWrite:
    """Writes the rows of `match` as Parquet, from the Python workers themselves.

    The rows do not travel back to Spark, which is most of the time of `match(…).write.parquet`.
    The files appear when all tasks have ended. A job that fails leaves nothing to see.

    Args:
        publications: a batch DataFrame.
        filters: as in `match`.
        path: a path or URI that the driver and all workers can write.
        how: as in `match`.
        output: as in `match`.
        prefix: as in `match`.
        schema: as in `match`.
        keep: as in `match`.
        where: as in `match`.
        partition_by: columns of the result that become folders `column=value`: strings,
            integers, booleans and dates.
        mode: `error`, `append`, `overwrite` or `ignore`, as in Spark, if the path exists.
        batch: name of a query and number of its batch, in `foreachBatch`; a batch that is
            committed already is not written again.
        now: as in `match`; by default the time of this call, or with `batch` the time of the
            first call for this batch.
        id: as in `match`.
        filter: as in `match`.
        on_bad_filter: as in `match`.

    Returns:
        Numbers of the written rows, matches and files.

    Raises:
        FilterError: filters are invalid.
        SchemaError: a column cannot be the attribute of its name.
        ConfigError: an option is wrong, the path exists, or the path cannot be written.
    """
    given = MatchArguments(how, output, prefix, schema, keep, where, id, filter, on_bad_filter, now)
    return write(publications, filters, path, given, WriteArguments(partition_by, mode, batch))


def validate(publications: "DataFrame", schema: Schema, prefix: str = "") -> "DataFrame":
    """The publications with a column `error`: why the schema refuses a row, or null.

    Args:
        publications: a batch or streaming DataFrame.
        schema: the types and the declared domains that rows must keep.
        prefix: prefix of the name of the added column.

    Raises:
        SchemaError: a column cannot be the attribute of its name.
        ConfigError: another column has the name of the added one.
    """
    need_frame(publications, "publications")
    need_kind("prefix", prefix, str)
    need_kind("schema", schema, Schema)
    need_python(publications.sparkSession)
    none = StoredFilters(schema, True, "[]", "int64", ())
    need_columns(publications.schema, none, tuple(schema))
    filters = PlacedFilters(none, Place(str(own_directory())))
    # What matches none of no filters: every row, those that are refused with their errors.
    query = MatchQuery(filters, LongType(), (), tuple(schema), True, "anti", "rows", prefix)
    need_no_clash(publications.schema, query.added())
    return build(publications, query)
