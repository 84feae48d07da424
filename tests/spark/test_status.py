"""What a session is doing, as a progress bar asks for it."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

import pytest

from wherecast.pipeline.spark.session_status import Work, whereabouts, work

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
_POLLS_MAX = 1200
_POLL_S = 0.05


def test_where_it_runs(spark: "SparkSession") -> None:
    assert str(whereabouts(spark)) == f"Spark {spark.version} local[2,2]"


@pytest.mark.classic
def test_tasks_are_counted_while_they_run(spark: "SparkSession", tmp_path: Path) -> None:
    gate = str(tmp_path / "gate")

    def held(numbers: Iterator[int]) -> Iterator[int]:
        """The second task waits for the gate."""
        for number in numbers:
            for _ in range(_POLLS_MAX if number else 0):
                if Path(gate).exists():
                    break
                Event().wait(_POLL_S)
            yield number

    frame = spark.sparkContext.parallelize([0, 1], 2).mapPartitions(held)
    with ThreadPoolExecutor(1) as pool:
        assert work(spark) == Work()
        counted = pool.submit(frame.count)
        try:
            seen = any(
                work(spark) == Work(1, 2) or Event().wait(_POLL_S) for _ in range(_POLLS_MAX)
            )
        finally:
            Path(gate).touch()
        assert counted.result(timeout=60) == 2
    assert seen
    assert any(work(spark) == Work() or Event().wait(_POLL_S) for _ in range(_POLLS_MAX))
