"""Settings of a Spark session that matter to a match: the better values, with reasons.

`docs/reference/spark-settings.md` has the measured effect of each.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wherecast.model import ConfigError
from wherecast.pipeline.spark.worker_python import worker_python

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MASTER = "local[*,4]"  # four attempts per task, so that the crash of a worker does not end the job
_CHECKPOINTS = "FileSystemBasedCheckpointFileManager"


@dataclass(frozen=True, slots=True)
class Advice:
    """A setting of a session with a better value.

    Attributes:
        setting: the setting.
        value: the current value.
        better: the better value.
        why: the effect of the better value.
    """

    setting: str
    value: str
    better: str
    why: str

    def __str__(self) -> str:
        return f"{self.setting} is {self.value}, better {self.better}: {self.why}"


@dataclass(frozen=True, slots=True)
class _Setting:
    """A setting that `session` sets and `check` checks."""

    key: str
    better: str
    default: str
    why: str


def settings() -> tuple[_Setting, ...]:
    """The settings with better values than Spark's defaults, for the installed Spark."""
    return (
        _Setting(
            "spark.sql.ansi.enabled", "true", "true",
            "a filter means what it means as a WHERE clause with ANSI on",
        ),
        _Setting(
            "spark.sql.session.timeZone", "UTC", "",
            "times without a zone are UTC in filters, so they should be in queries",
        ),
        _Setting(
            "spark.sql.streaming.checkpointFileManagerClass", _checkpoint_manager(), "",
            "each micro-batch waits less for its checkpoint files",
        ),
    )  # fmt: skip


def _checkpoint_manager() -> str:
    import pyspark

    package = "org.apache.spark.sql.execution.streaming"
    old = int(pyspark.__version__.partition(".")[0]) < 4
    return f"{package}.{_CHECKPOINTS}" if old else f"{package}.checkpointing.{_CHECKPOINTS}"


def session(
    master: str = MASTER, name: str = "wherecast", options: Mapping[str, str] | None = None
) -> "SparkSession":
    """A Spark session with settings that suit a match; an active session gets them too.

    Args:
        master: the master URL of Spark.
        name: the name of the application.
        options: further settings, which override the others.
    """
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers use the same Python
    given = {setting.key: setting.better for setting in settings()} | dict(options or {})
    return SparkSession.builder.master(master).appName(name).config(map=dict(given)).getOrCreate()


def check(spark: "SparkSession") -> list[Advice]:
    """Advice about a session, the most important first; empty if all settings are good.

    Runs a job to find the Python of the workers if it may differ from that of this process.
    """
    return [*_python(spark), *_switches(spark), *_settings(spark)]


def _python(spark: "SparkSession") -> Iterator[Advice]:
    what = "the Python of the workers"
    try:
        found = worker_python(spark)
    except ConfigError as error:
        yield Advice(what, "another one", sys.executable, str(error))
        return
    if found is None:
        return
    for package, why in (
        ("wherecast", "no match can run"),
        ("pyarrow", "no match can run"),
        ("numba", "matching is many times slower without it"),
    ):
        if found.packages[package] is None:
            yield Advice(f"{package} for {found.executable}", "missing", "installed", why)


def _switches(spark: "SparkSession") -> Iterator[Advice]:
    """Advice about settings whose default is good, if they were changed."""
    reuse = _get(spark, "spark.python.worker.reuse", "true")
    if reuse.lower() != "true":
        why = "each task starts a Python process and maps the filters anew"
        yield Advice("spark.python.worker.reuse", reuse, "true", why)
    codec = _get(spark, "spark.sql.execution.arrow.compression.codec", "none")
    if codec != "none":
        why = "packing and unpacking costs more than it saves between processes of one host"
        yield Advice("spark.sql.execution.arrow.compression.codec", codec, "none", why)
    rows = _get(spark, "spark.sql.execution.arrow.maxRecordsPerBatch", "10000")
    if int(rows) < 1_000:  # 0 means no limit
        why = "each batch has a cost of its own; without a limit a partition must fit into memory"
        yield Advice("spark.sql.execution.arrow.maxRecordsPerBatch", rows, "10000", why)


def _settings(spark: "SparkSession") -> Iterator[Advice]:
    for setting in settings():
        value = _get(spark, setting.key, setting.default)
        if value.lower() != setting.better.lower():
            yield Advice(setting.key, value or "not set", setting.better, setting.why)


def _get(spark: "SparkSession", key: str, default: str) -> str:
    value = spark.conf.get(key, None)  # Spark refuses an empty default for a time zone
    return default if value is None else value
