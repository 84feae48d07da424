"""Upgrades on a small disk with more and more space, in a mount namespace: see `test_full_disk`.

Arguments: a folder with `disk`, where a small disk is mounted. Prints how often the disk was full.
"""

import json
import os
import shutil
import sys
from pathlib import Path

from tests.upgrade.old_directory import EXPECTED, delivered, unpack
from wherecast.model import ConfigError, StoreError
from wherecast.store.embedded.directory import Directory

_STEP = 1 << 15


def limit(disk: Path, free: int) -> Path:
    """Leaves so much space on a disk; returns the file that takes the rest."""
    ballast = disk / "ballast"
    status = os.statvfs(disk)
    left = status.f_bavail * status.f_frsize - free
    ballast.write_bytes(bytes(max(left, 0)))
    return ballast


def run(disk: Path) -> None:
    """Tries with more and more space until the upgrade succeeds."""
    path, fulls, free = unpack(disk), 0, 0
    shutil.rmtree(path)
    while True:
        path = unpack(disk)
        ballast = limit(disk, free)
        try:
            Directory(path).close()
            break
        except (StoreError, ConfigError) as error:
            told = str(error)
        ballast.unlink()
        fulls += 1
        assert "disk full" in told or "No space left" in told, told
        assert json.loads((path / "format").read_text())["version"] == 1
        assert not {"layout-1", "layout-1.new", "upgrade.new"} & set(os.listdir(path))
        assert delivered(path) == EXPECTED
        shutil.rmtree(path)
        free += _STEP
    ballast.unlink()
    assert delivered(path) == EXPECTED
    print(fulls)


if __name__ == "__main__":
    run(Path(sys.argv[1]) / "disk")
