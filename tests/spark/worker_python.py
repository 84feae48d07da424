"""What a user sees whose Spark workers run another Python: prints the step and the error.

worker_python.py, with PYSPARK_PYTHON set to that Python.
"""

import json
import tempfile
from typing import Any


def seen(spark: Any) -> dict[str, str]:
    """The step that failed, and its error; the filters need no Python of the workers."""
    from wherecast.spark import match

    filters = spark.sql("SELECT 'f' AS id, 'id > 0' AS filter")
    step = "match"
    try:
        result = match(spark.range(3), filters)
        step = "action"
        step = f"{result.count()} rows"
    except Exception as error:  # noqa: BLE001  # whatever it is, it is what is asked for
        return {"step": step, "error": type(error).__name__, "text": str(error)}
    return {"step": step, "error": "", "text": ""}


def main() -> None:
    from pyspark.sql import SparkSession

    with tempfile.TemporaryDirectory() as scratch:
        spark = (
            SparkSession.builder.master("local[1]")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.local.dir", scratch)
            .config("spark.ui.enabled", "false")
            .getOrCreate()
        )
        spark.sparkContext.setLogLevel("OFF")
        print(json.dumps(seen(spark)))
        spark.stop()


if __name__ == "__main__":
    main()
