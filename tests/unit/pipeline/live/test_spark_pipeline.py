"""What a pipeline on Spark tells its caller; the query itself is tested on Spark."""

import pytest

pytest.importorskip("pyspark.sql.streaming.datasource", reason="needs PySpark 4.2")

from pathlib import Path
from threading import Event
from unittest.mock import MagicMock

from py4j.protocol import Py4JNetworkError

from wherecast.pipeline.live.spark_pipeline import LivePipeline
from wherecast.pipeline.spark.session import SparkFailed
from wherecast.store.open_store import open_store


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
