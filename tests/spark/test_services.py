"""What a test starts ends with it: the services themselves, without Java."""

import os
import sys
from pathlib import Path

import pytest

from tests.spark.services import Service

STUBBORN = """
import os, signal, subprocess, sys, time
if len(sys.argv) == 1:  # a child in a group of its own, as Spark's Python daemon is
    subprocess.Popen([sys.executable, __file__, "child"], process_group=0)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("up", len(sys.argv), flush=True)
signal.pause()
"""


@pytest.fixture
def stubborn(tmp_path: Path) -> Service:
    script = tmp_path / "stubborn.py"
    script.write_text(STUBBORN)
    service = Service.start([sys.executable, script], tmp_path / "log", os.environ)
    service.said("up 1")
    service.said("up 2")
    return service


def test_a_service_ends_with_its_children_though_they_do_not_listen(stubborn: Service) -> None:
    before = stubborn.members()

    stubborn.close(kindly_s=0.1)

    assert len(before) == 2
    assert stubborn.members() == {}
