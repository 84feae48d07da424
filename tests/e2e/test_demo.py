"""The demo as a newcomer runs it, and the commands that it tells to try next."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from wherecast.cli import demo_air

pytestmark = [pytest.mark.spark, pytest.mark.classic, pytest.mark.slow]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory to work in, with the command `wherecast` in `bin`."""
    place = tmp_path_factory.mktemp("demo")
    (place / "bin").mkdir()
    command = place / "bin" / "wherecast"
    command.write_text(f"#!{sys.executable}\nfrom wherecast.cli import main\n\nmain()\n")
    command.chmod(0o755)
    return place


def shell(home: Path, line: str) -> str:
    """The standard output of a command line that must succeed and say nothing else."""
    path = f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environ = {k: v for k, v in os.environ.items() if k not in ("PYSPARK_PYTHON", "SPARK_LOCAL_IP")}
    done = subprocess.run(
        line,
        shell=True,
        cwd=home,
        env={**environ, "PATH": path},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "WARN" not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def shown(home: Path) -> str:
    return shell(home, f"wherecast demo --directory {home / 'files'} --master 'local[2]'")


def total(shown: str, what: str) -> int:
    found = re.search(rf"^ *{what} +([\d,]+)", shown, re.MULTILINE)
    assert found, what
    return int(found[1].replace(",", ""))


def test_totals(shown: str) -> None:
    assert total(shown, "publications") == demo_air.PUBLICATIONS
    assert total(shown, "subscriptions") == demo_air.SUBSCRIPTIONS
    assert total(shown, "refused") == 5
    assert total(shown, "micro-batches") == 4
    assert 1000 < total(shown, "notifications") <= total(shown, "matches")
    assert "Checked: the inline runner gives the same" in shown


def test_three_subscribers_learn_what_and_why(shown: str) -> None:
    for subscriber in demo_air.SHOWN:
        assert re.search(rf"^{subscriber}: \d+ notifications", shown, re.MULTILINE)
    assert shown.count("✔ true") >= 3
    assert "✘ false" in shown


def test_the_next_commands_work_as_printed(home: Path, shown: str) -> None:
    lines = shown[shown.index("Try next") :].splitlines()[1:]
    explain, match, inline = [line for line in lines if line]

    assert "It matches." in shell(home, explain)
    expected = f" {total(shown, 'matches'):,} matches in "
    assert expected in shell(home, match)
    assert expected in shell(home, inline)
