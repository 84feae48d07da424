"""`wherecast bench spark`: `match` compared with the joins that users write, on two cores."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from wherecast.bench.choice import check_choice
from wherecast.bench.pictures import Bars, Lines, Panel
from wherecast.bench.progress import Doing, Row, View
from wherecast.bench.spark import engines as engines
from wherecast.bench.spark.cases import NAMES, SCALE, SparkCase, cases
from wherecast.bench.spark.writes import measure_writes
from wherecast.pipeline.spark.session import spark_session
from wherecast.pipeline.spark.warm_up import warm_up

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TITLE = "Spark: match compared with the joins that users write, two cores, Spark's noop sink"
MASTER = "local[2]"
_OPTIONS = {"spark.driver.memory": "6g"}  # joins broadcast millions of rows
VIEWS = (
    View("first result seconds", {
        "what": "what", "filters": "filters", "publications": "pubs", "matches": "matches",
        "compile seconds": "compile s", "first result seconds": "first result s",
        "index bytes/filter": "index B/filter",
    }),
    View("transfer seconds", {
        "what": "what", "output": "output", "seconds": "s", "best seconds": "best s",
        "transfer seconds": "transfer s", "transfer share": "share", "read seconds": "read s",
        "sent bytes/publication": "B out/pub", "received bytes/publication": "B in/pub",
        "worker MiB": "worker MiB", "worker private MiB": "private",
    }),
    View("file bytes/match", {
        "what": "what", "engine": "engine", "publications": "pubs", "matches": "matches",
        "seconds": "s", "best seconds": "best s", "match rows/s": "rows/s",
        "file bytes/match": "B/match", "times write_matches": "× write_matches",
    }),
    View("publications/s", {
        "what": "what", "engine": "engine", "output": "output", "filters": "filters",
        "publications": "pubs", "matches/publication": "match/pub", "publications/s": "pubs/s",
        "match rows/s": "rows/s", "times arrays": "× arrays", "times rows": "× rows",
    }),
)  # fmt: skip


def rows(size: int | None, seed: int, only: str | None = None) -> Iterator[Row | Doing]:
    """A row per case and engine.

    Args:
        size: the largest number of filters per case, with at most 50 times as many publications;
            None is the size of the targets.
        seed: the seed of the workloads.
        only: one workload or case, or `scale`; None is all except `scale`.

    Raises:
        WrongResult: two results differ.
    """
    check_choice("workload", only, NAMES)
    for case in cases(size, only):
        yield Doing(f"{case.about}: starting Spark")
        with (
            TemporaryDirectory(prefix="wherecast-bench-") as home,
            spark_session(MASTER, options=_OPTIONS) as spark,  # new workers per case
        ):
            warm_up(spark, Path(home))  # a first result does not include the start
            for step in _case(case, spark, Path(home), seed):
                yield step if isinstance(step, Doing) else {**step, **_ran_on(spark)}


def _case(case: SparkCase, spark: "SparkSession", home: Path, seed: int) -> Iterator[Row | Doing]:
    """The rows of one case, `match` first."""
    yield Doing(f"{case.about}: drawing")
    bench = engines.bench_of(case, spark, home, seed)
    yield Doing(f"{case.about}: first result")
    row, filters = engines.first_result(bench)
    yield row
    matching = engines.Matching(bench, filters)
    for output in case.outputs:
        yield Doing(f"{case.about}: match, {output}")
        yield matching.measure(output)
    if case.written:
        yield Doing(f"{case.about}: files")
        yield from measure_writes(bench, filters)
    for join in case.joins:
        yield Doing(f"{case.about}: {join.name}")
        yield engines.measure_join(bench, join, matching)


def _ran_on(spark: "SparkSession") -> Row:
    context = spark.sparkContext
    jvm: Any = context._jvm
    return {
        "spark": spark.version,
        "java": jvm.java.lang.System.getProperty("java.version"),
        "master": context.master,
    }


def panels(rows: list[Row]) -> list[Panel]:
    """Publications per second by engine and output, a panel per case."""
    timed = [row for row in rows if "publications/s" in row]
    names = dict.fromkeys(row["what"] for row in timed)
    return [_panel(name, [row for row in timed if row["what"] == name]) for name in names]


def _panel(name: str, rows: list[Row]) -> Panel:
    """Bars of one case; lines for a case at several sizes."""
    if name.startswith(SCALE):
        points: dict[str, list[tuple[float, float]]] = {}
        for row in rows:
            points.setdefault(row["engine"], []).append((row["filters"], row["publications/s"]))
        return Lines(name, "filters", "publications per second", points)
    bars = {f"{row['engine']}, {row['output']}": row["publications/s"] for row in rows}
    return Bars(name, "publications per second", bars, {})
