"""What is damaged or taken over between two lives: nothing is lost, and nothing comes twice."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.crash.campaign import Campaign
from tests.crash.parts import BROKER, INLINE, INLINE_PIPELINE, Part, calm
from tests.spark.services import until

pytestmark = pytest.mark.release


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator[Campaign]:
    """A broker and a pipeline that nobody kills."""
    started = Campaign(tmp_path, (calm(BROKER), calm(INLINE_PIPELINE)), seed=0)
    try:
        yield started
    finally:
        started.close()


def commits(campaign: Campaign, more: int) -> None:
    """Waits for so many more commits of the pipeline."""
    lines = campaign.running["pipeline"].lines
    wanted = len(lines) + more
    until("commits", lambda: len(lines) >= wanted)


def test_two_pipelines_on_one_directory(campaign: Campaign, tmp_path: Path) -> None:
    for _ in range(3):
        commits(campaign, 5)
        first = campaign.take_over("pipeline")
        until("the end of the first", lambda first=first: not first.is_running)
        first.sweep()
        assert first.process.returncode == 1
    told = (tmp_path / "pipeline.err").read_text().splitlines()
    assert [line.split(" was ")[1] for line in told] == [
        f"replaced by pipeline {number}" for number in (2, 3, 4)
    ]
    verdict = campaign.drain()
    assert not verdict.faults, verdict.faults


def cut(path: Path) -> None:
    """Takes the second half of a file away."""
    os.truncate(path, path.stat().st_size // 2)


@pytest.mark.parametrize("damage", [cut, Path.unlink])
@pytest.mark.parametrize("healers", [(INLINE,), (BROKER, INLINE_PIPELINE)])
def test_segments_that_nobody_has_read(
    campaign: Campaign, healers: tuple[Part, ...], damage: Callable[[Path], None]
) -> None:
    commits(campaign, 5)
    campaign.stop("pipeline")
    until("a backlog", lambda: campaign.backlog() > 300)
    campaign.stop("broker")
    campaign.start(calm(INLINE_PIPELINE))
    until("that all is matched", lambda: campaign.backlog() == 0)
    campaign.stop("pipeline")
    files = list((campaign.store / "segments").iterdir())
    assert files
    for file in files:
        damage(file)
    for part in healers:
        campaign.start(calm(part))
    verdict = campaign.drain()
    assert not verdict.faults, verdict.faults
