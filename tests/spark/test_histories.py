"""Histories of all kinds of records lead to the same on Spark as in the model."""

from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("pyspark.sql.streaming.datasource", reason="needs PySpark 4.2")

from tests.histories import Model, define, play, random_history
from tests.property.test_histories import KINDS, check_log, check_queues
from tests.seeds import random_of
from wherecast.pipeline.live.live_options import LiveOptions
from wherecast.pipeline.live.spark_pipeline import LivePipeline
from wherecast.store.open_store import open_store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.classic, pytest.mark.slow]


@pytest.mark.parametrize("tasks", [1, 2])
def test_a_history_leads_to_the_same_on_spark(
    spark: "SparkSession", tmp_path: Path, tasks: int
) -> None:
    random = random_of(f"history on Spark {tasks}")
    steps = random_history(random, 1_500)
    model = Model().walk(steps)
    store = open_store(tmp_path / "store")
    define(store.log)
    half = len(steps) // 2
    for some in (steps[:half], steps[half:]):
        play(store.log, some, at=1)
        pipeline = LivePipeline(spark, tmp_path / "store", LiveOptions(tasks=tasks))
        pipeline.run(Event(), to_end=True)
        pipeline.store.close()
    check_log(store.log, model)
    check_queues(store, model, KINDS["embedded"])
    store.close()
