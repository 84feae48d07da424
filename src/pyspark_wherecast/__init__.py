"""Makes the format `wherecast` known to Spark, which looks for it in packages `pyspark_*`."""

from wherecast.pipeline.spark.match_data_source import MatchesSource as DefaultSource

__all__ = ["DefaultSource"]
