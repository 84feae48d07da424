"""The Spark session of the tests: classic, or a client of a Spark Connect server.

`WHERECAST_TEST_SPARK=connect` asks for the second.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.spark.services import Service, spark_environ, spark_home

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parents[2]
KIND = os.environ.get("WHERECAST_TEST_SPARK", "classic")
SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"


def options(scratch: Path) -> dict[str, str]:
    """ANSI on, in UTC, on the loopback, and nothing left outside the scratch directory."""
    return {
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


@contextmanager
def classic(scratch: Path) -> Iterator["SparkSession"]:
    """A local session of this process."""
    from pyspark.sql import SparkSession

    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2,2]").appName("wherecast-tests")
    session = builder.config(map=options(scratch)).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@contextmanager
def connect(scratch: Path) -> Iterator["SparkSession"]:
    """A client of a server that is a process of its own, so that this one has no Java."""
    from pyspark.sql import SparkSession

    settings = {**options(scratch), "spark.connect.grpc.binding.port": "0"}
    settings["spark.connect.grpc.binding.address"] = "127.0.0.1"
    given = [part for pair in settings.items() for part in ("--conf", "=".join(pair))]
    submit = [spark_home() / "bin/spark-submit", "--master", "local[2,2]", "--class", SERVER]
    environ = spark_environ(PYSPARK_PYTHON=sys.executable)
    server = Service.start([*submit, *given, "spark-internal"], scratch / "server.log", environ)
    try:
        port = server.said(r"Spark Connect server started at: \S+?:(\d+)")[1]
        session = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").getOrCreate()
        yield session
        session.stop()
    finally:
        server.close()


SESSIONS = {"classic": classic, "connect": connect}
