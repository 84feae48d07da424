"""The Spark runner without Spark: what a worker says when it lacks something."""

import sys

import pytest

import wherecast
from wherecast.pipeline.spark import spark_runner


def test_a_worker_that_cannot_import_wherecast_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wherecast.pipeline.spark.spark_runner", None)

    with pytest.raises(RuntimeError) as caught:
        spark_runner.in_worker(b"", f"{spark_runner.__name__}:run_batches")([])

    told = str(caught.value)
    assert sys.executable in told
    assert "spark.pyspark.python" in told
    assert "\n" not in told


def test_a_worker_with_another_version_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    called = spark_runner.in_worker(b"", f"{spark_runner.__name__}:run_batches")
    monkeypatch.setattr(wherecast, "__version__", "0.0.1")

    with pytest.raises(RuntimeError, match=r"has Wherecast 0\.0\.1, the driver has .*; install"):
        called([])
