"""The demo as a newcomer runs it, and the commands that it suggests."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from wherecast.cli.demo import air, homes

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


def number(text: str) -> int:
    return int(text.replace(",", ""))


def test_the_start_of_spark_stands_apart(shown: str) -> None:
    started = re.search(r"^Spark \S+ local\[2\] and its Python workers started in ", shown, re.M)
    assert started
    assert started.start() < shown.index("with Wherecast and without")


def test_the_join_of_spark_finds_the_same(shown: str) -> None:
    row = r" +([\d,]+) +([\d,]+) +[\d.]+ *[\d,]* +([0-9a-f]{14}…)"
    names = ("wherecast.spark.match", "  on a sample", "Spark's range join")
    rows = [re.search(rf"^{name}{row}", shown, re.MULTILINE) for name in names]
    every, sample, join = (found.groups() for found in rows if found)
    assert number(every[0]) == homes.READINGS
    assert sample == join
    assert number(join[0]) == homes.SAMPLE
    assert f"Same {join[1]} matches on the sample, by count and hash." in shown
    assert f"{homes.FILTERS:,} such filters compiled in " in shown
    ratio = re.search(r"range join ([\d,]+) times as long as match\.", shown)
    assert ratio
    assert number(ratio[1]) > 1


def test_totals_of_the_stream(shown: str) -> None:
    found = re.search(
        r"^([\d,]+) readings, ([\d,]+) matches, ([\d,]+) notifications"
        r" in (\d+) micro-batches with (\d+) versions\.",
        " ".join(shown.split(" \n")),
        re.MULTILINE,
    )
    assert found
    readings, matches, notifications, batches, versions = map(number, found.groups())
    assert readings == air.PUBLICATIONS
    assert batches == air.MICRO_BATCHES
    assert versions == 1 + len(air.changes())
    assert 10_000 < notifications < matches
    assert "5 readings refused, such as: attribute no2: -999.0 is below" in shown
    assert f"wc.Index in this process finds the same {matches:,} matches" in shown


def test_changes_act_from_the_next_micro_batch_on(shown: str) -> None:
    rows = [line.split() for line in shown.splitlines() if re.match(r" +\d+  v\d", line)]
    by_batch = {int(batch): (version, int(ana)) for batch, version, *_, ana, _, _ in rows}
    assert list(by_batch) == list(range(1, air.MICRO_BATCHES + 1))
    assert [version for version, _ in by_batch.values()] == ["v2"] * 2 + ["v3"] * 2 + ["v4"] * 2
    before, during, after = (
        sum(by_batch[batch][1] for batch in range(first, first + 2)) for first in (1, 3, 5)
    )
    assert during > 2 * max(before, after), "ana's trip"
    assert "502 subscriptions added or changed while it runs: v3 from batch 3 on" in shown
    assert "1,002 subscriptions removed while it runs: v4 from batch 5 on" in shown


def test_a_near_miss_is_explained(shown: str) -> None:
    why = shown[shown.index("Why did ana not hear of reading") : shown.index("Try next")]
    assert why.count("✔ true") == 1
    assert why.count("✘ false") == 1
    assert "It does not match: geo_distance(" in " ".join(why.split())


def test_ctrl_c_ends_it_with_130(home: Path) -> None:
    line = [str(home / "bin" / "wherecast"), "demo", "--directory", str(home / "other")]
    with subprocess.Popen(
        line,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as demo:
        assert demo.stdout
        assert demo.stderr
        for shown in demo.stdout:
            if "workers started in" in shown:
                os.killpg(demo.pid, signal.SIGINT)
                break
        assert demo.stderr.read().splitlines()[-1] == "wherecast: interrupted"
    assert demo.returncode == 130


def test_the_next_commands_work_as_printed(home: Path, shown: str) -> None:
    lines = shown[shown.index("Try next") :].splitlines()[1:]
    explain, match, inline = [line for line in lines if line]

    assert "It matches." in shell(home, explain)
    on_spark, here = shell(home, match), shell(home, inline)
    expected = r"6,000 publications \(5 refused\), 4,499 filters: ([\d,]+) matches in "
    counts = [re.match(expected, line) for line in (on_spark, here)]
    assert all(counts)
    assert len({found[1] for found in counts if found}) == 1
    assert re.search(
        r"\) on Spark \S+ local\[\*,4\], which took [\d.]+ s more to start, -> \S+csv$",
        on_spark.strip(),
    )
    assert re.search(r"\) inline -> \S+/matches.jsonl$", here.strip())
    files = home / "files"
    rows = (files / "matches.csv").read_text().count("\n") - 1
    assert rows == (files / "matches.jsonl").read_text().count("\n") > 10_000
