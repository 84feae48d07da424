"""The value of `now()` in the filters of a query: one moment, or a column of moments.

A batch query has the time of the call, which the driver reads once. A stream has Spark's
`current_timestamp`, which Spark fixes for each micro-batch in the checkpoint. So tasks and
micro-batches that run again find the same matches.
"""

from datetime import datetime
from typing import TYPE_CHECKING, Any

import pyspark.sql.functions as fn
from pyspark.sql.types import TimestampType

from wherecast.model import ConfigError
from wherecast.model.times import current_micros, time_micros

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def need_now(value: object) -> None:
    """Raises ConfigError unless the value is a datetime, a Column or None."""
    if value is None or isinstance(value, datetime) or type(value).__name__ == "Column":
        return
    raise ConfigError(f"now is a datetime or a Column of timestamps, not {type(value).__name__}")


def moment_of(publications: "DataFrame", now: Any) -> "Column | int":
    """The value of `now()`: microseconds since 1970, or a column of the publications.

    Args:
        publications: the publications.
        now: the argument of `wherecast.spark.match`.

    Raises:
        ConfigError: the column has no timestamps.
    """
    if isinstance(now, datetime):
        return time_micros(now)
    if now is None:
        return fn.current_timestamp() if publications.isStreaming else current_micros()
    column: Column = now
    (field,) = publications.select(column).schema.fields
    if not isinstance(field.dataType, TimestampType):
        shown = field.dataType.simpleString()
        raise ConfigError(f"now is a column of timestamps, column {field.name} is {shown}")
    return column
