"""What a pipeline on Spark tells its caller; the query itself is tested on Spark."""

import pytest

pytest.importorskip("pyspark.sql.streaming.datasource", reason="needs PySpark 4.2")

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any
from unittest.mock import MagicMock

from py4j.protocol import Py4JNetworkError

from wherecast.model import ConflictError, StoreError
from wherecast.pipeline.live import spark_pipeline
from wherecast.pipeline.live.live_options import LiveOptions
from wherecast.pipeline.live.spark_pipeline import LivePipeline
from wherecast.pipeline.spark.session import SparkFailed
from wherecast.store.contracts import Store
from wherecast.store.open_store import open_store
from wherecast.store.records import Batch


def test_the_end_of_java_is_no_request_to_stop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise Py4JNetworkError("nothing answers")

    owner = open_store(tmp_path / "store")
    pipeline, stop = LivePipeline(MagicMock(), tmp_path / "store"), Event()
    monkeypatch.setattr(pipeline, "_run", fail)
    with pytest.raises(SparkFailed, match="Java ended, and the pipeline with it"):
        pipeline.run(stop)
    assert not stop.is_set()
    pipeline.store.close()
    owner.close()


class Queries:
    """Queries that stand still, one after the other, and what is done with them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.options: list[dict[str, str | int | float]] = []
        self.patience: list[float] = []
        self.after: Callable[[], None] = lambda: None

        @contextmanager
        def watched(
            store: Store, patience_s: float, give_up: Callable[[], None]
        ) -> Iterator[Event]:
            self.patience.append(patience_s)
            stands = Event()
            stands.set()
            yield stands

        @contextmanager
        def running_query(
            spark: object, log: object, options: dict[str, str | int | float], to_end: bool
        ) -> Iterator[MagicMock]:
            self.options.append(options)
            yield MagicMock(isActive=True, recentProgress=[], exception=lambda: None)
            self.after()

        monkeypatch.setattr(spark_pipeline, "watched", watched)
        monkeypatch.setattr(spark_pipeline, "running_query", running_query)


def test_a_query_that_stands_still_is_started_again_and_not_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, queries = open_store(tmp_path / "store"), Queries(monkeypatch)
    options = LiveOptions(trigger="slices", stall_s=10.0)
    pipeline = LivePipeline(MagicMock(), tmp_path / "store", options)
    with pytest.raises(StoreError, match=r"matching fails at \{\}: nothing was committed for 40 s"):
        pipeline.run(Event())
    assert queries.patience == [10.0, 10.0, 20.0, 40.0]
    assert [one["epoch"] for one in queries.options] == [1, 2, 3, 4]
    pipeline.store.close()
    owner.close()


def test_a_task_of_a_query_that_was_given_up_commits_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, queries, stop = open_store(tmp_path / "store"), Queries(monkeypatch), Event()
    pipeline = LivePipeline(MagicMock(), tmp_path / "store", LiveOptions(trigger="slices"))
    queries.after = lambda: stop.set() if len(queries.options) == 2 else None
    pipeline.run(stop)
    given_up = int(queries.options[0]["epoch"])
    with pytest.raises(ConflictError):
        owner.batches.commit(Batch(0, 0, 1, 0, ()), given_up)
    pipeline.store.close()
    owner.close()


@pytest.mark.parametrize(
    ("trigger", "slots", "length_s"),
    [("auto", 2, 600.0), ("auto", 1, 0.0), ("slices", 1, 600.0), ("batches", 2, 0.0)],
)
def test_a_task_stays_where_spark_has_a_slot_to_spare(
    trigger: Any, slots: int, length_s: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, queries, stop = open_store(tmp_path / "store"), Queries(monkeypatch), Event()
    queries.after = stop.set
    spark = MagicMock()
    spark.sparkContext.defaultParallelism = slots
    pipeline = LivePipeline(spark, tmp_path / "store", LiveOptions(trigger=trigger))
    pipeline.run(stop)
    assert [one["sliceS"] for one in queries.options] == [length_s]
    pipeline.store.close()
    owner.close()
