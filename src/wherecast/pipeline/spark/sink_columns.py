"""The columns of a sink: which become folders, and what Spark reads from the files."""

from collections.abc import Sequence
from dataclasses import replace

from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    ByteType,
    CharType,
    DataType,
    DateType,
    IntegerType,
    LongType,
    MapType,
    NullType,
    ShortType,
    StringType,
    StructField,
    StructType,
    VarcharType,
)

from wherecast.model import ConfigError
from wherecast.model.names import did_you_mean
from wherecast.pipeline.sink.hive_partitions import PartitionColumns
from wherecast.pipeline.sink.match_sink import MatchSink
from wherecast.pipeline.sink.parquet_files import FileOptions
from wherecast.pipeline.sink.sink_location import SinkLocation
from wherecast.pipeline.spark.frame_columns import columns_without_arrow_type
from wherecast.pipeline.spark.match_query import MatchQuery
from wherecast.pipeline.stages.batch_task import JoinTask
from wherecast.pipeline.stages.result_columns import JoinPlan, ResultLimits

_FOLDERS = (
    StringType, CharType, VarcharType, ByteType, ShortType, IntegerType, LongType, BooleanType,
    DateType,
)  # fmt: skip
_CODECS = {"uncompressed": "none", "lz4raw": "lz4", "lz4_raw": "lz4"}
_KNOWN_CODECS = ("none", "snappy", "gzip", "zstd", "lz4", "brotli")
_LIMITS = ResultLimits(rows_max=1 << 18)


def sink_of(
    location: SinkLocation,
    columns: StructType,
    query: MatchQuery,
    partition_by: tuple[str, ...],
    about: tuple[str, str],
) -> MatchSink:
    """The sink of a query.

    Args:
        location: the directory.
        columns: the columns of the publications.
        query: the query.
        partition_by: the columns of the result that become folders.
        about: the codec, in the names of Spark, and the version of Spark.

    Raises:
        ConfigError: a column cannot be written, or cannot be a folder.
    """
    _need_writable(columns)
    result = [*columns.fields, *query.added()]
    partitions = _partitions(result, partition_by)
    kept = [field for place, field in enumerate(result) if place not in partitions.places]
    # Spark reads the types from here, so they are the types of the result.
    metadata = (
        ("org.apache.spark.version", about[1]),
        ("org.apache.spark.sql.parquet.row.metadata", StructType(kept).json()),
    )
    hidden = [StructField("error", StringType())] if query.enforced else []
    names = [field.name for field in result]
    if not query.shows_error:
        names += [field.name for field in hidden]
    plan = JoinPlan(
        how=query.how,
        shape=query.output,
        ids=query.adds_filters,
        kept=tuple(column.name for column in query.kept),
        errors=query.enforced,
        limits=_LIMITS,
    )
    return MatchSink(
        location=location,
        task=JoinTask(query.filters, plan, tuple(names), now=query.moment),
        columns=tuple(columns.names),
        partitions=partitions,
        options=replace(FileOptions(), compression=_codec(about[0]), metadata=metadata),
        shows_error=query.shows_error,
    )


def _codec(name: str) -> str:
    """The codec in the names of pyarrow."""
    found = _CODECS.get(name.lower(), name.lower())
    if found not in _KNOWN_CODECS:
        known = ", ".join(_KNOWN_CODECS)
        raise ConfigError(f"compression is one of {known}, not {name!r}")
    return found


def _need_writable(columns: StructType) -> None:
    """Raises ConfigError if a column cannot be written by a worker."""
    remedy = "cast it to a string first, or use match(…).write.parquet"
    awkward = columns_without_arrow_type(columns)
    if awkward:
        raise ConfigError(f"Spark cannot send {', '.join(awkward)} to Python: {remedy}")
    void = [field.name for field in columns.fields if _has_void(field.dataType)]
    if void:
        raise ConfigError(f"Parquet has no type for {', '.join(void)}, which is void: cast it")
    folded = [name.casefold() for name in columns.names]
    several = [name for name in columns.names if folded.count(name.casefold()) > 1]
    if several:
        raise ConfigError(f"the publications have more than one column {several[0]}; rename one")


def _has_void(type_: DataType) -> bool:
    if isinstance(type_, StructType):
        return any(_has_void(field.dataType) for field in type_.fields)
    if isinstance(type_, ArrayType):
        return _has_void(type_.elementType)
    if isinstance(type_, MapType):
        return _has_void(type_.keyType) or _has_void(type_.valueType)
    return isinstance(type_, NullType)


def _partitions(result: Sequence[StructField], names: tuple[str, ...]) -> PartitionColumns:
    """The columns of a result that become folders: by exact case, else by any case."""
    places = []
    known = [field.name for field in result]
    for name in names:
        exact = [n for n, field in enumerate(result) if field.name == name]
        folded = [n for n, field in enumerate(result) if field.name.casefold() == name.casefold()]
        found = exact or folded
        if not found:
            hint = did_you_mean(name, known)
            text = f"partition_by names {name}, which is no column of the result"
            raise ConfigError(f"{text}; {hint}" if hint else text)
        field = result[found[0]]
        if not isinstance(field.dataType, _FOLDERS):
            shown = field.dataType.simpleString()
            raise ConfigError(
                f"partition_by takes strings, integers, booleans and dates; column {field.name} is"
                f" {shown}: cast it first"
            )
        if found[0] in places:
            raise ConfigError(f"partition_by names {field.name} twice")
        places.append(found[0])
    if places and len(places) == len(result):
        raise ConfigError("partition_by names all columns of the result; files need one")
    return PartitionColumns(tuple(result[place].name for place in places), tuple(places))
