"""kill -9 of the publishing process, of the pipeline on Spark, of its Java and of its workers."""

from pathlib import Path

import pytest

pytest.importorskip("pyspark.sql.streaming.datasource", reason="needs PySpark 4.2")

from tests.crash.campaign import Campaign, kills, run
from tests.crash.parts import BROKER, INLINE_PIPELINE, PIPELINE, calm
from tests.spark.services import until

pytestmark = [pytest.mark.spark, pytest.mark.classic]
TARGETS = ("worker", "pipeline", "broker", "java", "checkpoint")


@pytest.mark.release
def test_processes_that_are_killed(tmp_path: Path) -> None:
    run(tmp_path, (BROKER, PIPELINE), TARGETS, kills(5))


@pytest.mark.soak("spark-kills")
def test_processes_that_are_killed_often(tmp_path: Path) -> None:
    run(tmp_path, (BROKER, PIPELINE), (*TARGETS, "worker", "broker", "pipeline"), kills(200))


@pytest.mark.release
def test_a_checkpoint_is_deleted_and_another_pipeline_takes_over(tmp_path: Path) -> None:
    campaign = Campaign(tmp_path, (calm(BROKER), calm(PIPELINE)), seed=0)
    try:
        first = campaign.running["pipeline"]
        for more in (2, 4):
            until("commits", lambda more=more: len(first.lines) > more)
            campaign.delete_checkpoints()
        until("commits", lambda: len(first.lines) > 6)
        campaign.start(calm(INLINE_PIPELINE))
        until("the end of the first", lambda: not first.is_running)
        first.sweep()
        assert first.process.returncode == 1
        told = (tmp_path / "pipeline.err").read_text().splitlines()
        assert told[-1] == "pipeline 1 was replaced by pipeline 2"
        verdict = campaign.drain()
        assert not verdict.faults, verdict.faults
    finally:
        campaign.close()
