"""The demo as a newcomer runs it, and the commands that it tells to try next."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from wherecast.cli.demo import demo_air

pytestmark = [pytest.mark.spark, pytest.mark.classic, pytest.mark.release]


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
    assert total(shown, "refused") == 5
    assert total(shown, "micro-batches") == demo_air.MICRO_BATCHES
    assert total(shown, "versions") == 1 + len(demo_air.changes())
    assert 10_000 < total(shown, "notifications") < total(shown, "matches")
    checked = f"Checked: the inline runner gives the same {total(shown, 'notifications'):,}"
    assert checked in shown


def test_changes_act_from_the_next_micro_batch_on(shown: str) -> None:
    lines = shown[: shown.index("ana: ")].splitlines()
    rows = [line.split() for line in lines if re.match(r" +\d+  v\d", line)]
    by_batch = {int(batch): (version, int(ana)) for batch, version, *_, ana, _, _ in rows}
    assert list(by_batch) == list(range(1, demo_air.MICRO_BATCHES + 1))
    assert [version for version, _ in by_batch.values()] == ["v2"] * 4 + ["v3"] * 4 + ["v4"] * 4
    before, during, after = (
        sum(by_batch[batch][1] for batch in range(first, first + 4)) for first in (1, 5, 9)
    )
    assert during > 2 * max(before, after), "ana's trip"
    assert "502 subscriptions added or changed while it runs: v3 from batch 5 on" in shown
    assert "1,002 subscriptions removed while it runs: v4 from batch 9 on" in shown


def test_three_subscribers_learn_what_and_why(shown: str) -> None:
    for subscriber in demo_air.SHOWN:
        assert re.search(rf"^{subscriber}: \d+ notifications", shown, re.MULTILINE)
    assert shown.count("✔ true") >= 3
    assert "✘ false" in shown


def test_the_next_commands_work_as_printed(home: Path, shown: str) -> None:
    lines = shown[shown.index("Try next") :].splitlines()[1:]
    explain, match, inline = [line for line in lines if line]

    assert "It matches." in shell(home, explain)
    on_spark, here = shell(home, match), shell(home, inline)
    filters = total(shown, "subscriptions")
    expected = rf"12,000 publications \(5 refused\), {filters:,} filters: ([\d,]+) matches in "
    counts = [re.match(expected, line) for line in (on_spark, here)]
    assert all(counts)
    assert len({found[1] for found in counts if found}) == 1
    assert re.search(r"\) on Spark \S+ local\[\*,4\] -> \S+/matches.csv$", on_spark.strip())
    assert re.search(r"\) inline -> \S+/matches.jsonl$", here.strip())
    files = home / "files"
    rows = (files / "matches.csv").read_text().count("\n") - 1
    assert rows == (files / "matches.jsonl").read_text().count("\n") > 10_000
