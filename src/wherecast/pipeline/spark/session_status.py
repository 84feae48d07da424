"""The state of a Spark session: its running tasks, version and master."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class Work:
    """The tasks of the jobs that run now.

    Attributes:
        finished: number of finished tasks.
        total: number of all tasks, those of later stages included.
    """

    finished: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """The version of Spark and the master of a session.

    Attributes:
        version: the version of Spark.
        master: the master URL.
    """

    version: str
    master: str

    def __str__(self) -> str:
        return f"Spark {self.version} {self.master}"


def whereabouts(spark: "SparkSession") -> Whereabouts:
    """The version of Spark and the master of a session."""
    return Whereabouts(spark.version, spark.conf.get("spark.master", None) or "unknown master")


def work(spark: "SparkSession") -> Work:
    """The tasks of the jobs that run now, from Spark's status tracker.

    A thread may call this while another thread waits for the jobs.
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
    except Exception:  # noqa: BLE001  # Java is gone; the thread that waits for the job gets the error
        return Work()
    return Work(finished, total)
