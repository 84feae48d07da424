"""kill -9 of a broker that matches in its own process: nothing is lost, nothing comes unmarked."""

from pathlib import Path

import pytest

from tests.crash.campaign import kills, run
from tests.crash.parts import BROKER, INLINE, INLINE_PIPELINE


@pytest.mark.release
def test_a_broker_that_is_killed(tmp_path: Path) -> None:
    run(tmp_path, (INLINE,), ("broker",), kills(8))


@pytest.mark.release
def test_a_pipeline_and_those_it_delivers_to_are_killed(tmp_path: Path) -> None:
    run(tmp_path, (BROKER, INLINE_PIPELINE), ("pipeline", "broker"), kills(6))


@pytest.mark.soak("broker-kills")
def test_a_broker_that_is_killed_often(tmp_path: Path) -> None:
    run(tmp_path, (INLINE,), ("broker",), kills(200))
