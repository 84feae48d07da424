"""The Spark session of commands: local by default, on the loopback only, and quiet."""

import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wherecast.model import ConfigError
from wherecast.pipeline.spark.java import java_problem
from wherecast.pipeline.spark.session_settings import MASTER, settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PYTHON_ERROR = re.compile(r"(\w+\.)*\w+(Error|Exception): (?!An exception was thrown)")


@contextmanager
def spark_session(
    master: str = MASTER, quiet: bool = True, options: Mapping[str, str] | None = None
) -> Iterator["SparkSession"]:
    """A Spark session that is stopped at the end; an active session is used and not stopped.

    Args:
        master: the master URL of Spark.
        quiet: whether the output of Java goes to a file instead of the screen.
        options: further settings for a new session.

    Raises:
        ConfigError: PySpark or Java is missing, Java is too old, or the master is invalid.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise ConfigError("this needs PySpark: pip install 'wherecast[spark]'") from None

    active = SparkSession.getActiveSession()
    if active is not None:
        yield active
        return
    with tempfile.TemporaryDirectory(prefix="wherecast-spark-", ignore_cleanup_errors=True) as home:
        session = _start(master, Path(home), quiet, options or {})
        try:
            yield session
        except Exception as error:
            if type(error).__module__.partition(".")[0] in ("pyspark", "py4j"):
                raise SparkFailed(
                    gist(error)
                ) from error  # later its text cannot be read: Java is gone
            raise
        finally:
            with suppress(Exception):  # Java may be gone already
                session.stop()
            _end_java()


class SparkFailed(RuntimeError):
    """A Spark job that failed, in one line."""


def _start(master: str, home: Path, quiet: bool, options: Mapping[str, str]) -> "SparkSession":
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    log = home / "spark.log"
    try:
        with _stderr_to(log) if quiet else nullcontext():
            builder = SparkSession.builder.master(master).appName("wherecast")
            session = builder.config(map={**_options(master, home), **options}).getOrCreate()
            session.sparkContext.setLogLevel("ERROR")
    except Exception as error:  # the user needs one line, whatever the cause
        reason = _reason(error, log)
        _end_java()
        raise ConfigError(f"Spark did not start: {reason}") from error
    return session


def _options(master: str, home: Path) -> dict[str, Any]:
    options: dict[str, Any] = {
        **{setting.key: setting.better for setting in settings()},
        "spark.local.dir": str(home / "local"),
        "spark.sql.shuffle.partitions": str(2 * (os.cpu_count() or 1)),
        "spark.sql.warehouse.dir": str(home / "warehouse"),
        "spark.driver.extraJavaOptions": f"-Dderby.system.home={home}",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    if master.startswith("local"):
        options["spark.driver.host"] = options["spark.driver.bindAddress"] = "127.0.0.1"
    return options


@contextmanager
def _stderr_to(path: Path) -> Iterator[None]:
    """Sends standard error to a file, also that of Java processes that start meanwhile."""
    sys.stderr.flush()
    original = os.dup(2)
    with path.open("wb") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(original, 2)
        os.close(original)


def _reason(error: Exception, log: Path) -> str:
    """The reason why Spark did not start, in one line, from its error and the log of Java."""
    exited = "gateway process exited" in str(error)
    problem = java_problem() if exited else None
    if problem is not None:
        return problem
    log_lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    for mark, cut in (('Exception in thread "main"', "Exception: "), ("connect to master", ": ")):
        cause = next((line for line in log_lines if mark in line), None)
        if cause is not None:
            return cause.rsplit(cut, 1)[-1]
    if exited:
        last = next((line for line in reversed(log_lines) if line.strip()), "it said nothing")
        return f"Java ended at once: {last.strip()}"
    return gist(error)


def gist(error: Exception) -> str:
    """The most useful line of a Spark error: the last error of Python, or else of Java."""
    lines = [line.strip() for line in str(error).splitlines()]
    said = [line for line in lines if _PYTHON_ERROR.match(line)]
    if said and "No module named" in said[-1]:
        return f"{said[-1]}: the Python of the Spark workers lacks it; set PYSPARK_PYTHON"
    if said:
        return said[-1]
    java = [line for line in lines if line.startswith((": ", "Caused by: "))]
    if java:
        return java[-1].rsplit("Exception: ", 1)[-1]
    return next((line for line in lines if line), type(error).__name__)


def _end_java() -> None:
    """Ends the Java process that this process started."""
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    if gateway is None:
        return
    gateway.shutdown()
    process = getattr(gateway, "proc", None)
    if process is not None:
        with suppress(OSError):
            process.stdin.close()
        process.wait(timeout=20)
    SparkContext._gateway = SparkContext._jvm = None


def kill_java() -> None:
    """Ends the Java process that this process started at once; calls into it then fail."""
    from pyspark import SparkContext

    process = getattr(SparkContext._gateway, "proc", None)
    if process is not None:
        process.kill()
