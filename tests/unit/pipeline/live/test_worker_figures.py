"""What workers tell their driver."""

import subprocess
import sys
from collections.abc import Iterator

import pytest

from wherecast.pipeline.live.pipeline_figures import PipelineFigures
from wherecast.pipeline.live.worker_figures import Listener, Teller


@pytest.fixture
def listener() -> Iterator[Listener]:
    listener = Listener()
    yield listener
    listener.close()
    assert not listener.folder.exists()


def test_workers_are_added_up_and_the_last_one_knows_the_index(listener: Listener) -> None:
    one, two = Teller(listener.folder), Teller(listener.folder)
    one.tell(PipelineFigures(batches=1, publications=10, filters=7, seconds={"match": 1.0}))
    two.tell(PipelineFigures(batches=1, publications=5, filters=3, seconds={"match": 0.5}))
    heard = listener.heard()
    assert (heard.batches, heard.publications, heard.filters) == (2, 15, 3)
    one.tell(PipelineFigures(batches=1, publications=1, filters=2, seconds={"match": 0.5}))
    heard = listener.heard()
    assert (heard.batches, heard.publications, heard.filters) == (3, 16, 2)
    assert heard.seconds == {"match": 2.0}


def test_what_a_dead_worker_did_still_counts_and_its_file_goes(listener: Listener) -> None:
    text = "from wherecast.pipeline.live import worker_figures, pipeline_figures\n"
    text += "from pathlib import Path\n"
    text += f"worker_figures.Teller(Path({str(listener.folder)!r}))"
    text += ".tell(pipeline_figures.PipelineFigures(publications=4))"
    subprocess.run([sys.executable, "-c", text], check=True)
    Teller(listener.folder).tell(PipelineFigures(publications=2))
    for _ in range(2):
        assert listener.heard().publications == 6
    assert len(list(listener.folder.iterdir())) == 1
