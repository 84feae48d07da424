"""What goes wrong with Spark, in one line."""

from pathlib import Path

import pytest

from tests.fake_java import fake_java
from wherecast.pipeline.spark.session import _reason, gist

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
        ("line 71: no memory\n\n", "Java ended at once: line 71: no memory"),
        ("", "Java ended at once: it said nothing"),
    ],
)
def test_why_spark_did_not_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: str, told: str
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path, "25.0.1")))
    (tmp_path / "log").write_text(log)
    error = RuntimeError("Java gateway process exited before sending its port number.")

    assert _reason(error, tmp_path / "log") == told


def test_a_java_that_cannot_be_used_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path, "1.8.0_392")))
    (tmp_path / "log").write_text('Exception in thread "main" x.UnsupportedClassVersionError: y')
    error = RuntimeError("Java gateway process exited before sending its port number.")

    assert "is Java 8, which is too old" in _reason(error, tmp_path / "log")
