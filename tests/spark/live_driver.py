"""A live query as a process of its own, so that it can be killed: `live_driver.py DIRECTORY`.

It matches the readings that arrive in `in` against the set of filters in `set`, and writes to
`out`. Two files make trouble: while there is `hold`, tasks do not end; where there is `fail`, the
first task that finds it changes all filters and fails.
"""

import os
import sys
import time
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession

from wherecast.spark import FilterSet, match

COLUMNS = "name string, air struct<no2: double, o3: double>, city string"
_HOLD_S = 120


def troubled(directory: str, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same batches, after some trouble."""
    place = Path(directory)
    for batch in batches:
        try:
            os.rename(place / "fail", place / "failed")
        except FileNotFoundError:
            pass
        else:
            wrong = pa.table({"id": ["wrong"], "filter": ["TRUE"], "email": ["wrong"]})
            FilterSet(place / "set").replace(wrong)
            raise RuntimeError("a task that fails once, after it has matched")
        until = time.monotonic() + _HOLD_S
        while (place / "hold").exists() and time.monotonic() < until:
            time.sleep(0.01)
        yield batch


def main(directory: Path) -> None:
    """Runs the query until it is killed."""
    options = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.local.dir": str(directory / "local"),
        "spark.python.worker.reuse": "false",  # a task that is tried again remembers nothing
        "spark.ui.enabled": "false",
    }
    spark = SparkSession.builder.master("local[2,4]").config(map=options).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    readings = spark.readStream.schema(COLUMNS).option("maxFilesPerTrigger", 1)
    found = match(readings.json(str(directory / "in")).repartition(2), FilterSet(directory / "set"))
    found = found.select("name", "filter_id", "email")
    made = found.mapInArrow(partial(troubled, str(directory)), found.schema)
    writer = made.writeStream.format("parquet").option("path", str(directory / "out"))
    writer.option("checkpointLocation", str(directory / "state")).start().awaitTermination()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
