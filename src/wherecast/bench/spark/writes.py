"""Measures `write_matches` beside `match(…).write.parquet`: the same rows, proved by a hash."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from wherecast.bench.progress import Row
from wherecast.bench.spark.engines import Bench, figures, need_equal
from wherecast.bench.spark.frames import CheckedResult, rows_and_hash
from wherecast.bench.spark.worker_metrics import Moved, Resident

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from wherecast.spark import Filters

REPEATS = 3
SPARK, OWN = "match, write.parquet", "write_matches"


def measure_writes(bench: Bench, filters: "Filters") -> Iterator[Row]:
    """A row for each writer; the two write in turn.

    Raises:
        WrongResult: the files of the two writers have other rows.
    """
    from wherecast.spark import match, write_matches

    publications = bench.sample(bench.case.written)

    def by_spark(path: str) -> None:
        match(publications, filters).write.mode("overwrite").parquet(path)

    def by_workers(path: str) -> None:
        write_matches(publications, filters, path, mode="overwrite")

    writers: dict[str, Callable[[str], None]] = {SPARK: by_spark, OWN: by_workers}
    home = bench.home / "written"
    seconds: dict[str, list[float]] = {name: [] for name in writers}
    for turn in range(REPEATS + 1):
        for name, write in writers.items():
            started = perf_counter()
            write(str(home / name))
            if turn:  # the first turn is not counted
                seconds[name].append(perf_counter() - started)
    found = {name: _checked(bench.spark.read.parquet(str(home / name))) for name in writers}
    need_equal(bench.case, OWN, found[OWN], found[SPARK])
    sizes = {name: _nbytes(home / name) for name in writers}
    shutil.rmtree(home)
    rows = {
        name: figures(bench.case, (name, "parquet"), bench.case.written, seconds[name], found[name])
        for name in writers
    }
    for name, row in rows.items():
        ratio = row["seconds"] / rows[OWN]["seconds"]
        more = {"file bytes": sizes[name], "file bytes/match": sizes[name] / found[name].rows}
        yield {**row, **more, "times write_matches": ratio}


def _checked(frame: "DataFrame") -> CheckedResult:
    """The count and the hash of all columns."""
    return CheckedResult(*rows_and_hash(frame), Moved(0, 0), Resident())


def _nbytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob("*.parquet"))
