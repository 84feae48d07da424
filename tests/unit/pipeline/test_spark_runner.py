"""The Spark runner without Spark: what a worker says when it lacks something."""

import sys

import pytest

from wherecast.pipeline import spark_runner


def test_a_worker_that_cannot_import_wherecast_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wherecast.pipeline.spark_runner", None)

    with pytest.raises(RuntimeError) as caught:
        spark_runner._in_worker(b"")([])

    told = str(caught.value)
    assert sys.executable in told
    assert "spark.pyspark.python" in told
    assert "\n" not in told
