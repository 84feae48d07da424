"""What a Spark session is doing, and where it runs."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class Work:
    """The tasks of the jobs that run now.

    Attributes:
        finished: how many are done.
        total: how many there are, those of later stages included.
    """

    finished: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """Where a session runs.

    Attributes:
        version: of Spark.
        master: as Spark writes it.
    """

    version: str
    master: str

    def __str__(self) -> str:
        return f"Spark {self.version} {self.master}"


def whereabouts(spark: "SparkSession") -> Whereabouts:
    """Where a session runs."""
    return Whereabouts(spark.version, spark.conf.get("spark.master", None) or "unknown master")


def work(spark: "SparkSession") -> Work:
    """The tasks of the jobs that run now, as Spark's status tracker knows them.

    Threads may ask while another one waits for the jobs.
    """
    finished = total = 0
    try:
        tracker = spark.sparkContext.statusTracker()
        jobs = [tracker.getJobInfo(job) for job in tracker.getActiveJobsIds()]
        for stage in {stage for job in jobs if job is not None for stage in job.stageIds}:
            info = tracker.getStageInfo(stage)
            if info is not None:
                finished += info.numCompletedTasks
                total += info.numTasks
    except Exception:  # noqa: BLE001  # Java is gone, or out of reach: whoever waits for it is told
        return Work()
    return Work(finished, total)
