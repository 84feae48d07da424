"""Wherecast on Spark DataFrames, batch and streaming: which filters each publication satisfies.

from wherecast.spark import match, compile_filters

match(publications, filters)                                     # filters: id, filter
filters = compile_filters(filters, schema=publications.schema)   # once, then reuse
match(publications, filters, how="left", output="arrays")
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

try:
    from pyspark.sql.types import LongType, StructType
except ImportError as error:
    raise ImportError("wherecast.spark needs PySpark: pip install 'wherecast[spark]'") from error

from wherecast.model import Attribute, ConfigError, Schema
from wherecast.pipeline.filters.blob_location import Place, PlacedFilters, blobs_at
from wherecast.pipeline.filters.filter_set import Change, FilterSet
from wherecast.pipeline.filters.filter_table import OnBad
from wherecast.pipeline.filters.process_blobs import own_directory
from wherecast.pipeline.filters.stored_filters import Folder, StoredFilters
from wherecast.pipeline.filters.streaming_filters import LiveFilters
from wherecast.pipeline.spark.compile_filters import compile_frame, filter_columns
from wherecast.pipeline.spark.match_query import MatchQuery, build
from wherecast.pipeline.spark.query_checks import (
    need_columns,
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
from wherecast.pipeline.spark.session_settings import Advice, check, session
from wherecast.pipeline.spark.ship_blobs import place_for
from wherecast.pipeline.spark.spark_filters import Filters, load_filters, on_schema
from wherecast.pipeline.spark.worker_python import need_python
from wherecast.pipeline.stages.batch_task import FilterSource
from wherecast.pipeline.stages.result_columns import How, Output

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = [
    "Advice",
    "Change",
    "FilterSet",
    "Filters",
    "check",
    "compile_filters",
    "load_filters",
    "match",
    "session",
    "validate",
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
    columns = filter_columns(filters, id, filter, keep)
    need_schema(schema)
    enforced = isinstance(schema, Schema)
    attributes = schema if isinstance(schema, Schema) else Schema.from_spark(schema)
    own = blobs_at(str(own_directory()))
    stored = compile_frame(filters, columns, attributes, enforced, on_bad_filter, Folder(own))
    return Filters(stored, own.uri)


def match(  # noqa: PLR0913  # the options of a join, all but two by keyword
    publications: "DataFrame",
    filters: "DataFrame | Filters | FilterSet",
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
        id: the column of the ids, where `filters` is a DataFrame.
        filter: the column of the WHERE clauses, where `filters` is a DataFrame.
        on_bad_filter: `raise` or `skip` for invalid filters, where `filters` is a DataFrame.

    Raises:
        FilterError: filters are invalid.
        SchemaError: a column cannot be the attribute of its name.
        ConfigError: an option is wrong, or an added column has the name of another column.
    """
    need_frame(publications, "publications")
    need_one_of("how", how, How)
    need_one_of("output", output, Output)
    need_kind("prefix", prefix, str)
    need_kind("schema", schema, Schema, optional=True)
    if keep is not None:
        need_names("keep", keep)
    if keep and how in ("semi", "anti"):
        raise ConfigError(f"how={how!r} adds no columns of the filters, so keep is too much")
    need_python(publications.sparkSession)
    live = isinstance(filters, FilterSet) and publications.isStreaming
    if isinstance(filters, FilterSet | Filters):
        if (id, filter, on_bad_filter) != ("id", "filter", "raise"):
            raise ConfigError("id, filter and on_bad_filter are for a DataFrame of filters")
        compiled = _compiled(filters, schema)
    else:
        need_filters(filters)
        given = publications.schema if schema is None else schema
        compiled = compile_filters(filters, given, keep or (), id, filter, on_bad_filter)
        keep = None  # all that was compiled
    source, needed = _source(publications, compiled, live)
    query = MatchQuery(
        filters=source,
        id_type=compiled.columns[0].dataType,
        kept=() if how in ("semi", "anti") else compiled.chosen(keep),
        needed=needed,
        enforced=compiled.stored.enforced,
        how=how,
        output=output,
        prefix=prefix,
    )
    need_no_clash(publications, query.added())
    return build(publications, query)


def _compiled(filters: Filters | FilterSet, schema: Schema | None) -> Filters:
    """The filters to match: the newest version of a set, or filters read with another schema."""
    if isinstance(filters, Filters):
        return filters if schema is None else on_schema(filters, schema)
    if schema is not None:
        raise ConfigError("a FilterSet has a schema of its own, so schema is too much")
    return filters.filters()


def _source(
    publications: "DataFrame", filters: Filters, live: bool
) -> tuple[FilterSource, tuple[Attribute, ...]]:
    """Where tasks find the filters, and the attributes that filters name now or may name later."""
    stored = filters.stored
    needed = needed_ever(stored, publications) if live else needed_by(stored)
    need_columns(publications, stored, needed, Place(filters.uri).open)
    if live:
        return LiveFilters(filters.uri), needed
    place = place_for(publications.sparkSession, stored, filters.uri)
    return PlacedFilters(stored, place), needed


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
    need_columns(publications, none, tuple(schema))
    filters = PlacedFilters(none, Place(str(own_directory())))
    # What matches none of no filters: every row, those that are refused with their errors.
    query = MatchQuery(filters, LongType(), (), tuple(schema), True, "anti", "rows", prefix)
    need_no_clash(publications, query.added())
    return build(publications, query)
