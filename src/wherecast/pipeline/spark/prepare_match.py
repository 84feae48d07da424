"""From the arguments of `match` to a checked query: reads the filters and finds the columns."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from pyspark.sql.types import StructType

from wherecast.model import Attribute, ConfigError, Schema
from wherecast.pipeline.filters.blob_location import Place, PlacedFilters, blobs_at
from wherecast.pipeline.filters.filter_set import FilterSet
from wherecast.pipeline.filters.filter_table import OnBad
from wherecast.pipeline.filters.process_blobs import own_directory
from wherecast.pipeline.filters.stored_filters import Folder
from wherecast.pipeline.filters.streaming_filters import LiveFilters
from wherecast.pipeline.spark.compile_filters import compile_frame, filter_columns
from wherecast.pipeline.spark.match_moment import moment_of, need_now
from wherecast.pipeline.spark.match_query import MatchQuery
from wherecast.pipeline.spark.query_checks import (
    need_columns,
    need_condition,
    need_filters,
    need_frame,
    need_kind,
    need_names,
    need_no_clash,
    need_one_of,
    need_schema,
    needed_by,
    needed_ever,
)
from wherecast.pipeline.spark.ship_blobs import place_for
from wherecast.pipeline.spark.spark_filters import Filters, on_schema
from wherecast.pipeline.spark.time_zones import warn_of_times_without_zone
from wherecast.pipeline.spark.worker_python import need_python
from wherecast.pipeline.stages.batch_task import FilterSource
from wherecast.pipeline.stages.result_columns import How, Output

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


@dataclass(frozen=True, slots=True)
class MatchArguments:
    """The options of `wherecast.spark.match`, under their names."""

    how: How = "inner"
    output: Output = "rows"
    prefix: str = ""
    schema: Schema | None = None
    keep: Sequence[str] | None = None
    where: "Column | str | None" = None
    id: str = "id"
    filter: str = "filter"
    on_bad_filter: OnBad = "raise"
    now: "datetime | Column | None" = None

    def check(self) -> None:
        """Raises ConfigError unless all options are valid by themselves."""
        need_one_of("how", self.how, How)
        need_one_of("output", self.output, Output)
        need_kind("prefix", self.prefix, str)
        need_kind("schema", self.schema, Schema, optional=True)
        need_condition(self.where)
        need_now(self.now)
        if self.keep is not None:
            need_names("keep", self.keep)
        if self.keep and self.how in ("semi", "anti"):
            raise ConfigError(
                f"how={self.how!r} adds no columns of the filters, so keep is too much"
            )


def compile_from_frame(
    filters: "DataFrame",
    schema: StructType | Schema,
    keep: Sequence[str],
    names: tuple[str, str],
    on_bad_filter: OnBad,
) -> Filters:
    """Compiles the filters of a frame; arguments and errors are those of `compile_filters`.

    Args:
        filters: a batch frame.
        schema: the schema of the publications.
        keep: further columns that a match can add.
        names: the columns of the ids and of the filters.
        on_bad_filter: what happens with invalid filters.
    """
    columns = filter_columns(filters, *names, keep)
    need_schema(schema)
    enforced = isinstance(schema, Schema)
    attributes = schema if isinstance(schema, Schema) else Schema.from_spark(schema)
    own = blobs_at(str(own_directory()))
    stored = compile_frame(filters, columns, attributes, enforced, on_bad_filter, Folder(own))
    return Filters(stored, own.uri)


def prepare(
    publications: "DataFrame", filters: "DataFrame | Filters | FilterSet", given: MatchArguments
) -> "tuple[DataFrame, MatchQuery]":
    """The publications to match, and the query that matches them.

    Raises:
        FilterError: filters are invalid.
        SchemaError: a column cannot be the attribute of its name.
        ConfigError: an option is wrong, or an added column has the name of another column.
    """
    need_frame(publications, "publications")
    given.check()
    if given.where is not None:
        publications = publications.where(given.where)
    spark = publications.sparkSession
    need_python(spark)
    live = isinstance(filters, FilterSet) and publications.isStreaming
    if isinstance(filters, FilterSet | Filters):
        if (given.id, given.filter, given.on_bad_filter) != ("id", "filter", "raise"):
            raise ConfigError("id, filter and on_bad_filter are for a DataFrame of filters")
        compiled = _compiled(filters, given.schema)
    else:
        need_filters(filters)
        schema = publications.schema if given.schema is None else given.schema
        names = (given.id, given.filter)
        compiled = compile_from_frame(filters, schema, given.keep or (), names, given.on_bad_filter)
        given = replace(given, keep=None)  # all that was compiled
    warn_of_times_without_zone(spark, compiled)
    place = Place(compiled.uri) if live else place_for(spark, compiled.stored, compiled.uri)
    query = query_of(publications.schema, compiled, given, place, live)
    if live or compiled.stored.reads_now:  # a later version of a set may have now()
        query = replace(query, now=moment_of(publications, given.now))
    return publications, query


def query_of(
    columns: StructType, filters: Filters, given: MatchArguments, place: Place, live: bool
) -> MatchQuery:
    """The checked query of a match.

    Args:
        columns: the columns of the publications.
        filters: the filters; of a set, its newest version.
        given: the options.
        place: where tasks find the filters.
        live: whether each micro-batch uses its own version of the set.

    Returns:
        The query, without a value of `now()`.
    """
    stored = filters.stored
    needed: tuple[Attribute, ...]
    needed = needed_ever(stored, columns) if live else needed_by(stored)
    need_columns(columns, stored, needed, Place(filters.uri).open)
    source: FilterSource = LiveFilters(filters.uri) if live else PlacedFilters(stored, place)
    query = MatchQuery(
        filters=source,
        id_type=filters.columns[0].dataType,
        kept=() if given.how in ("semi", "anti") else filters.chosen(given.keep),
        needed=needed,
        enforced=stored.enforced,
        how=given.how,
        output=given.output,
        prefix=given.prefix,
    )
    need_no_clash(columns, query.added())
    return query


def _compiled(filters: Filters | FilterSet, schema: Schema | None) -> Filters:
    """The filters to match: the newest version of a set, or filters read with another schema."""
    if isinstance(filters, Filters):
        return filters if schema is None else on_schema(filters, schema)
    if schema is not None:
        raise ConfigError("a FilterSet has a schema of its own, so schema is too much")
    return filters.filters()
