"""kill -9 of a broker that matches in its own process: nothing is lost, nothing comes unmarked."""

from pathlib import Path

import pytest

from tests.crash.campaign import kills, run
from tests.crash.parts import DESK, INLINE, INLINE_PIPELINE


@pytest.mark.slow
def test_a_broker_that_is_killed(tmp_path: Path) -> None:
    run(tmp_path, (INLINE,), ("desk",), kills(8))


@pytest.mark.slow
def test_a_pipeline_and_those_it_delivers_to_are_killed(tmp_path: Path) -> None:
    run(tmp_path, (DESK, INLINE_PIPELINE), ("pipeline", "desk"), kills(6))


@pytest.mark.soak
def test_a_broker_that_is_killed_often(tmp_path: Path) -> None:
    run(tmp_path, (INLINE,), ("desk",), kills(200))
