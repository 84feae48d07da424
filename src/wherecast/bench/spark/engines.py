"""Measures `match` and the joins that replace it on one case, in one Spark session."""

from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from wherecast.bench.case import filters_of
from wherecast.bench.measured import WrongResult, timed
from wherecast.bench.progress import Row
from wherecast.bench.spark.cases import MeasuredOutput, SparkCase
from wherecast.bench.spark.frames import (
    PUBLICATION,
    CheckedResult,
    checked,
    numbered,
    repeated,
    seconds_of,
    stored,
)
from wherecast.bench.spark.joins import (
    Join,
    PreparedJoin,
    boxes_from,
    either_from,
    prepare,
)
from wherecast.bench.spark.transfer import transfer
from wherecast.model import Schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from wherecast.spark import Filters

FIRST = 1_000  # publications of a first result
_REPEATS, _PEER_REPEATS = 5, 3
_PEER_SECONDS = 60 / (_PEER_REPEATS + 2)  # per run; all runs and the check take a minute
_PROBE, _PROBE_STEP, _PROBE_SECONDS = 16, 8, 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Bench:
    """The data of a case, stored in files of a scratch directory.

    Attributes:
        case: the case.
        spark: the session.
        home: the scratch directory.
        schema: the attributes.
        texts: the filters, `id` and `filter`.
        table: the publications with their numbers.
        filters: the filters as a frame.
        publications: the publications as a frame.
    """

    case: SparkCase
    spark: "SparkSession"
    home: Path
    schema: Schema
    texts: pa.Table
    table: pa.Table
    filters: "DataFrame"
    publications: "DataFrame"

    def sample(self, rows: int) -> "DataFrame":
        """The first `rows` publications, in files of their own."""
        home = self.home / f"sample-{rows}"
        if home.exists():
            return self.spark.read.parquet(str(home))
        return stored(self.spark, self.table.slice(0, rows), home)


def bench_of(case: SparkCase, spark: "SparkSession", home: Path, seed: int) -> Bench:
    """Draws the filters and the publications of a case, and stores them."""
    workload = case.make(seed)
    texts = filters_of(workload, case.filters)
    table = numbered(pa.Table.from_batches(workload.publications(case.publications)))
    return Bench(
        case, spark, home, workload.schema, texts, table,
        stored(spark, texts, home / "filters"), stored(spark, table, home / "publications"),
    )  # fmt: skip


def first_result(bench: Bench) -> tuple[Row, "Filters"]:
    """Measures the time from frames of filters to the matches of a few publications."""
    from wherecast.spark import compile_filters, match

    first = bench.sample(min(FIRST, bench.table.num_rows))
    started = perf_counter()
    filters = compile_filters(bench.filters, schema=first.schema)
    compiled = perf_counter()
    matches = match(first, filters).count()
    done = perf_counter()
    row = {
        **bench.case.columns("match"),
        "output": "first result",
        "publications": min(FIRST, bench.table.num_rows),
        "matches": matches,
        "compile seconds": compiled - started,
        "first result seconds": done - started,
        "index bytes/filter": filters.stats["index_bytes"] / bench.case.filters,
    }
    return row, filters


class Matching:
    """Measures the outputs of `match` on a case, and checks that they agree."""

    def __init__(self, bench: Bench, filters: "Filters") -> None:
        self._bench, self._filters = bench, filters
        self._pairs: CheckedResult | None = None
        self._read_seconds = median(repeated(lambda: bench.publications, _PEER_REPEATS))
        self.rows: dict[str, Row] = {}

    def measure(self, output: MeasuredOutput) -> Row:
        """The row of one output on all publications, with the time of the transfer alone.

        Raises:
            WrongResult: the matches differ from those of another output.
        """
        publications, rows = self._bench.publications, self._bench.table.num_rows
        seconds = repeated(lambda: self.result(publications, output), _REPEATS)
        found = checked(self.result(publications, output))
        self._compare(output, found)
        mean = found.rows / rows
        alone = repeated(lambda: transfer(publications, output, mean), _PEER_REPEATS)
        row = {
            **figures(self._bench.case, ("match", output), rows, seconds, found),
            "sent bytes": found.moved.sent_bytes,
            "received bytes": found.moved.received_bytes,
            "sent bytes/publication": found.moved.sent_bytes / rows,
            "received bytes/publication": found.moved.received_bytes / rows,
            "worker bytes": found.resident.peak_bytes,
            "worker private bytes": found.resident.private_bytes,
            "worker MiB": found.resident.peak_bytes / 2**20,
            "worker private MiB": found.resident.private_bytes / 2**20,
            "transfer seconds": median(alone),
            "transfer share": median(alone) / median(seconds),
            "read seconds": self._read_seconds,
        }
        self.rows[output] = row
        return row

    def result(self, publications: "DataFrame", output: MeasuredOutput) -> "DataFrame":
        """The query of one output."""
        from wherecast.spark import match

        if output == "semi":
            return match(publications, self._filters, how="semi")
        return match(publications, self._filters, output=output)

    def _compare(self, output: MeasuredOutput, found: CheckedResult) -> None:
        """Raises WrongResult unless the output agrees with the others.

        All outputs have the same pairs; `semi` has the publications of `arrays`.
        """
        if output == "semi":
            arrays = self.result(self._bench.publications, "arrays").select(PUBLICATION)
            expected = checked(arrays)
        else:
            expected = self._pairs = self._pairs or found
        need_equal(self._bench.case, output, found, expected)


def measure_join(bench: Bench, join: Join, matching: Matching) -> Row:
    """The row of a join that users write, on as many publications as it matches in a minute.

    Raises:
        WrongResult: the matches differ from those of `match`.
    """
    home = bench.home / f"join-{join.name}"
    texts = bench.texts.column("filter")
    boxes = either_from(texts) if join.either else boxes_from(texts, bench.schema)
    load_seconds, ready = timed(lambda: prepare(bench.spark, join, boxes, home))
    rows, start_seconds = _sample_size(bench, ready)
    sample = bench.sample(rows)
    seconds = repeated(lambda: ready.pairs(sample), _PEER_REPEATS)
    found = checked(ready.pairs(sample))
    need_equal(bench.case, join.name, found, checked(matching.result(sample, "rows")))
    if rows < bench.table.num_rows:  # the start of a query is no cost of a publication
        seconds = [max(each - start_seconds, each / 2) for each in seconds]
    row = figures(bench.case, (join.name, "rows"), rows, seconds, found)
    ratios = {
        f"times {output}": row["µs/publication"] / own["µs/publication"]
        for output, own in matching.rows.items()
    }
    more = {"join rows": ready.count, "load seconds": load_seconds, "start seconds": start_seconds}
    return {**row, **more, "agrees with": "match", **ratios}


def need_equal(case: SparkCase, name: str, found: CheckedResult, expected: CheckedResult) -> None:
    """Raises WrongResult unless two results are equal."""
    if (found.rows, found.hash) != (expected.rows, expected.hash):
        raise WrongResult(
            f"{case.what}, {case.filters:,} filters: {name} found {found.rows:,} matches"
            f" ({found.hash}), not {expected.rows:,} ({expected.hash})"
        )


def _sample_size(bench: Bench, ready: PreparedJoin) -> tuple[int, float]:
    """The number of publications for a join, and its seconds with a single publication."""

    def run(rows: int) -> float:
        return seconds_of(ready.pairs(bench.sample(rows)))

    most = bench.table.num_rows
    start = min(run(1) for _ in range(2))
    rows = _PROBE
    while rows < most:
        seconds = run(rows) - start
        if seconds >= _PROBE_SECONDS:
            return min(most, max(1, int(rows * _PEER_SECONDS / seconds))), start
        rows *= _PROBE_STEP
    return most, start


def figures(
    case: SparkCase, names: tuple[str, str], rows: int, seconds: list[float], found: CheckedResult
) -> Row:
    """The columns of every row.

    Args:
        case: the case.
        names: the engine and the output.
        rows: number of publications.
        seconds: the seconds of each run.
        found: the checked result.
    """
    middle, best = median(seconds), min(seconds)
    row = {
        **case.columns(names[0]),
        "output": names[1],
        "publications": rows,
        "seconds": middle,
        "best seconds": best,
        "repeats": len(seconds),
        "publications/s": rows / middle,
        "best publications/s": rows / best,
        "µs/publication": middle / rows * 1e6,
        "hash": found.hash,
    }
    if names[1] == "semi":
        return {**row, "matched publications": found.rows}
    pairs: dict[str, Any] = {
        "matches": found.rows,
        "matches/publication": found.rows / rows,
        "match rows/s": found.rows / middle,
    }
    return {**row, **pairs}
