"""What all tests share: Hypothesis profiles, one lazy Spark session and one S3 server for all."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.s3 import s3  # noqa: F401

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parent.parent

# A busy machine must not change a verdict, so no test has a deadline. The same commit gives the
# same result in CI; elsewhere new examples are tried in each run. `thorough` is for long searches.
_quiet = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("dev", _quiet)
settings.register_profile("ci", _quiet, derandomize=True, print_blob=True)
settings.register_profile("thorough", _quiet, max_examples=2000)
settings.load_profile("ci" if os.environ.get("CI") else "dev")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the users of the `spark` fixture, and keeps Spark tests on one worker: one JVM."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker("spark")
        if item.get_closest_marker("spark"):
            item.add_marker(pytest.mark.xdist_group("spark"))


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator["SparkSession"]:
    """A local Spark session with ANSI on, in UTC, that leaves nothing behind."""
    from pyspark.sql import SparkSession

    scratch = tmp_path_factory.mktemp("spark")
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    options = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": f"-Dderby.system.home={scratch}",
        "spark.executorEnv.PYTHONPATH": str(ROOT),  # so that workers can import the tests
        "spark.local.dir": str(scratch / "local"),
        "spark.sql.ansi.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.master("local[2]").appName("wherecast-tests")
    session = builder.config(map=options).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()
