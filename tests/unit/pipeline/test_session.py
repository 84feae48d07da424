"""What goes wrong with Spark, in one line."""

from pathlib import Path

import pytest

from wherecast.pipeline.session import _reason, gist

WORKER = """[STREAM_FAILED] Query [id = 1] terminated with exception: Job aborted
Traceback (most recent call last):
  File "worker.py", line 1, in <module>
    raise ValueError("no")
ValueError: no

\tat org.apache.spark.api.python.BasePythonRunner
Caused by: org.apache.spark.SparkException: Task failed"""


MISSING = "Traceback\nModuleNotFoundError: No module named 'pyarrow'\n"
JAVA = """An error occurred while calling None.
: org.x.SparkException: Could not parse: 'x'
\tat org.x"""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (WORKER, "ValueError: no"),
        (MISSING, f"{MISSING.splitlines()[1]}: the Python of the Spark workers lacks it"),
        (JAVA, "Could not parse: 'x'"),
        ("[UNRESOLVED_COLUMN] no such column\nmore", "[UNRESOLVED_COLUMN] no such column"),
        ("", "RuntimeError"),
    ],
)
def test_the_line_that_says_most(text: str, told: str) -> None:
    assert gist(RuntimeError(text)).partition("; set")[0] == told


@pytest.mark.parametrize(
    ("log", "told"),
    [
        (
            'WARNING: x\nException in thread "main" org.x.SparkException: Master must be y\n\tat z',
            "Master must be y",
        ),
        ("1 WARN A: Failed to connect to master h:1\nmore", "Failed to connect to master h:1"),
        ("line 71: no such file", "Java 17 or newer is needed"),
    ],
)
def test_why_spark_did_not_start(tmp_path: Path, log: str, told: str) -> None:
    (tmp_path / "log").write_text(log)
    error = RuntimeError("Java gateway process exited before sending its port number.")

    assert told in _reason(error, tmp_path / "log")
    assert "Java 17" in _reason(error, tmp_path / "none")
