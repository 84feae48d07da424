"""The usual trap: Spark's workers run another Python than the driver. One line says so at once."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.environments import install_beside, outside, run
from tests.spark import worker_python

pytestmark = [pytest.mark.spark, pytest.mark.classic, pytest.mark.release]


@pytest.fixture(scope="module")
def driver(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install_beside(wheel, tmp_path_factory.mktemp("driver"))


def seen(driver: Path, worker: str | Path, cwd: Path) -> dict[str, str]:
    """What a user of the driver's Python sees where workers run another."""
    environ = {**outside(), "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": str(worker)}
    command = [driver, worker_python.__file__]
    done = subprocess.run(command, cwd=cwd, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return told


def other_python() -> Path:
    """A Python of another minor version, where the machine has one that starts."""
    named = [shutil.which(f"python3.{minor}") for minor in range(11, 16)]
    kept = sorted(Path.home().glob(".pyenv/versions/3.1[1-9]*/bin/python3"))
    for place in (*map(Path, filter(None, named)), *kept):
        done = subprocess.run([place, "--version"], capture_output=True, text=True)
        found = re.match(r"Python 3\.(\d+)\.", done.stdout)
        if found and int(found[1]) != sys.version_info.minor:
            return place
    pytest.skip("no other version of Python is here")


def refused(told: dict[str, str]) -> str:
    """The text of an error that comes before any query runs, in one line."""
    assert told["step"] == "match"
    assert told["error"] == "ConfigError"
    assert "\n" not in told["text"]
    assert "PYSPARK_PYTHON" in told["text"]
    return told["text"]


def test_the_same_python_matches(driver: Path, tmp_path: Path) -> None:
    assert seen(driver, driver, tmp_path) == {"step": "2 rows", "error": "", "text": ""}


def test_a_python_without_wherecast(driver: Path, tmp_path: Path) -> None:
    worker = install_beside(None, tmp_path)

    text = refused(seen(driver, worker, tmp_path))

    assert f"({worker}) has no wherecast:" in text


def test_a_python_without_anything(driver: Path, tmp_path: Path) -> None:
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare", cwd=tmp_path)
    worker = tmp_path / "bare/bin/python"

    text = refused(seen(driver, worker, tmp_path))

    assert f"({worker}) has no wherecast, pyarrow" in text


def test_a_python_of_another_version(driver: Path, tmp_path: Path) -> None:
    text = refused(seen(driver, other_python(), tmp_path))

    # Spark writes the colon from 4.0 on.
    assert f"than that in driver 3.{sys.version_info.minor}" in text.replace("driver:", "driver")
