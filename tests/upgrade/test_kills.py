"""An upgrade that is killed at any instant is completed by the next opening."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.seeds import jobs, random_of
from tests.upgrade.old_directory import EXPECTED, delivered, unpack
from wherecast.store.crash_points import UPGRADE_POINTS
from wherecast.store.embedded.check.check_store import check_store

ROOT = Path(__file__).parents[2]
OFTEN = ("upgrade.saved", "upgrade.log", "upgrade.before")


def upgrade(path: Path, practice: Path | None, last: int, point: str = "") -> tuple[int, str]:
    """Upgrades a directory in a process that ends at a call or a point; its code and output."""
    search = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    arguments = [str(practice or ""), str(path), str(last)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.upgrade.victim", *arguments],
        env={**os.environ, "WHERECAST_CRASH_AT": point, "PYTHONPATH": search},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> int:
    """Number of calls that an upgrade makes."""
    folders = [tmp_path_factory.mktemp(name) for name in ("practice", "store")]
    code, output = upgrade(unpack(folders[1]), unpack(folders[0]), -1)
    assert code == 0
    return int(output)


def check(path: Path) -> None:
    """The next opening has a store that delivers what it held."""
    assert delivered(path) == EXPECTED
    assert [one.problem for one in check_store(path) if one.problem] == []
    assert json.loads((path / "format").read_text())["version"] == 2
    names = {name for name in os.listdir(path) if "layout" in name or "upgrade" in name}
    assert names == {"layout-1"}
    assert not (path / "cursors.db").exists()


@pytest.mark.parametrize(
    "point",
    [
        *OFTEN,
        *(pytest.param(p, marks=pytest.mark.release) for p in UPGRADE_POINTS if p not in OFTEN),
    ],
)
def test_a_kill_at_a_point(tmp_path: Path, point: str) -> None:
    path = unpack(tmp_path)
    for _ in range(2):  # and the try after it, too
        code, _ = upgrade(path, None, -1, point)
        assert code == -signal.SIGKILL
    check(path)


@pytest.mark.slow
@pytest.mark.parametrize("job", jobs(50, in_make_test=1, in_release=8))
def test_a_kill_at_any_instant(tmp_path: Path, calls: int, job: int) -> None:
    for name in ("practice", "store"):
        (tmp_path / name).mkdir()
    path, random = unpack(tmp_path / "store"), random_of(job)
    code, _ = upgrade(path, unpack(tmp_path / "practice"), random.randrange(calls))
    assert code == -signal.SIGKILL
    if random.random() < 0.5:  # once more; it may be completed
        upgrade(path, None, random.randrange(calls))
    check(path)
