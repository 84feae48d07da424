"""A full disk refuses what it cannot keep, and heals by itself once there is space."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.crash.processes import ROOT

MOUNTED = 'mount -t tmpfs -o size=4m none "$1/store" || exit 77; exec "$2" -m "$3" "$1" "$4"'


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("inline", marks=pytest.mark.slow),
        pytest.param("split", marks=pytest.mark.slow),
        pytest.param("spark", marks=pytest.mark.soak("full-disk-spark")),
    ],
)
def test_a_disk_that_is_full_and_freed(tmp_path: Path, kind: str) -> None:
    (tmp_path / "store").mkdir()
    command = ["unshare", "-rm", "sh", "-c", MOUNTED, "sh", str(tmp_path), sys.executable]
    search = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [*command, "tests.crash.full_disk", kind],
        env={**os.environ, "PYTHONPATH": search},
        capture_output=True,
        text=True,
    )
    if done.returncode == 77 or "unshare:" in done.stderr:
        pytest.skip(f"no mount namespace here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stdout + done.stderr
