"""An upgrade for which there is no space leaves the directory as it was."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MOUNTED = 'mount -t tmpfs -o size=32m none "$1/disk" || exit 77; exec "$2" -m "$3" "$1"'


@pytest.mark.slow
def test_a_disk_with_too_little_space(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    command = ["unshare", "-rm", "sh", "-c", MOUNTED, "sh", str(tmp_path), sys.executable]
    search = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [*command, "tests.upgrade.full_disk"],
        env={**os.environ, "PYTHONPATH": search},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 77 or "unshare:" in done.stderr:
        pytest.skip(f"no mount namespace here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout) >= 3
