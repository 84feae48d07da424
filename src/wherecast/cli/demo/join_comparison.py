"""The same filters matched by Wherecast and by a range join of Spark, in one session."""

from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import pyarrow as pa

from wherecast.bench.spark.frames import count_and_hash, stored
from wherecast.cli.demo import homes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class TimedQuery:
    """A query that ran to its end, and the pairs of a reading and a filter that it found.

    Attributes:
        readings: number of readings.
        matches: number of pairs.
        hash: hash of all pairs, in any order.
        seconds: time to find, count and hash the pairs.
    """

    readings: int
    matches: int
    hash: str
    seconds: float


@dataclass(frozen=True, slots=True)
class JoinComparison:
    """`match` compared with a range join.

    Attributes:
        filters: number of filters of both.
        example: one of the filters.
        compile_seconds: time from the filters as a DataFrame to an index that tasks can load.
        match: `match` on all readings.
        match_sample: `match` on the sample.
        join: the range join on the sample.
        join_start_seconds: time of the range join with a single reading.
    """

    filters: int
    example: str
    compile_seconds: float
    match: TimedQuery
    match_sample: TimedQuery
    join: TimedQuery
    join_start_seconds: float

    @property
    def join_readings_per_s(self) -> float:
        """Readings per second of the join, without its time for a single reading."""
        spent = max(self.join.seconds - self.join_start_seconds, self.join.seconds / 2)
        return self.join.readings / spent

    @property
    def match_readings_per_s(self) -> float:
        """Readings per second of `match` on all readings."""
        return self.match.readings / self.match.seconds

    @property
    def ratio(self) -> float:
        """The time of the join per reading, as a multiple of that of `match`."""
        return self.match_readings_per_s / self.join_readings_per_s


class Comparing:
    """Runs the queries of the comparison, one after the other; `step` names the current one."""

    def __init__(self) -> None:
        self.step = "drawing the filters"

    def run(self, spark: "SparkSession", scratch: Path) -> JoinComparison:
        """The comparison, with files in a scratch directory.

        Raises:
            RuntimeError: the join finds other pairs than `match`.
        """
        from wherecast.spark import compile_filters, match

        table, readings = homes.filters(), homes.readings()
        count = homes.SAMPLE
        filters = stored(spark, table, scratch / "homes")
        every = stored(spark, readings, scratch / "readings")
        sample = stored(spark, readings.slice(0, count), scratch / "sample")
        single = stored(spark, readings.slice(0, 1), scratch / "single")
        self.step = f"compiling {table.num_rows:,} filters"
        started = perf_counter()
        compiled = compile_filters(filters.select("id", "filter"), schema=every.schema)
        compile_seconds = perf_counter() - started
        self.step = "match, loading the filters"
        count_and_hash(match(sample, compiled))
        self.step = f"match, {count:,} readings"
        match_sample = _timed(match(sample, compiled), count)
        self.step = f"match, {readings.num_rows:,} readings"
        matched = _timed(match(every, compiled), readings.num_rows)
        self.step = "range join, 1 reading"
        start = _timed(_join(single, filters), 1)
        self.step = f"range join, {count:,} readings"
        joined = _timed(_join(sample, filters), count)
        need_same(match_sample, joined)
        example = _example(table)
        return JoinComparison(
            table.num_rows, example, compile_seconds, matched, match_sample, joined, start.seconds
        )


def need_same(match: TimedQuery, join: TimedQuery) -> None:
    """Raises RuntimeError unless the join found the same pairs as `match`."""
    if (match.matches, match.hash) != (join.matches, join.hash):
        raise RuntimeError(
            f"on {join.readings:,} readings the range join found {join.matches:,} matches"
            f" ({join.hash}), and match found {match.matches:,} ({match.hash})"
        )


def _join(readings: "DataFrame", filters: "DataFrame") -> "DataFrame":
    """The pairs by the join that users write: Spark broadcasts the bounds and tries all pairs."""
    import pyspark.sql.functions as fn

    bounds = fn.broadcast(filters.drop("filter").alias("f"))
    pairs = readings.alias("r").join(bounds, fn.expr(homes.JOIN))
    return pairs.select("r.publication", fn.col("f.id").alias("filter_id"))


def _timed(pairs: "DataFrame", readings: int) -> TimedQuery:
    started = perf_counter()
    matches, hash = count_and_hash(pairs)
    return TimedQuery(readings, matches, hash, perf_counter() - started)


def _example(table: pa.Table) -> str:
    example: str = table.column("filter")[0].as_py()
    return example
