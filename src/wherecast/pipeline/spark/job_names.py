"""Readable names for the jobs that Wherecast itself starts, on the pages of Spark."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_DESCRIPTION = "spark.job.description"


@contextmanager
def described(spark: "SparkSession", text: str) -> Iterator[None]:
    """Gives the jobs of the body a description, unless the caller has set one.

    A client of Spark Connect cannot set descriptions.
    """
    context = getattr(spark, "_sc", None)
    if context is None or context.getLocalProperty(_DESCRIPTION):
        yield
        return
    context.setLocalProperty(_DESCRIPTION, text)
    try:
        yield
    finally:
        context.setLocalProperty(_DESCRIPTION, None)
