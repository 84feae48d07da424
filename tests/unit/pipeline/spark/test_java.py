"""What is wrong with a Java, and that a command says so in one line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fake_java import fake_java
from wherecast.pipeline.spark.java import java_problem

pytest.importorskip("pyspark")

REMEDY = "install Java 17 or newer, or set JAVA_HOME to its directory"
_COMMANDS = ("bash", "cat", "dirname", "head", "ps", "rm", "sh")  # that Spark's scripts call


@pytest.fixture
def no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH of one directory, without Java."""
    directory = tmp_path / "bin"
    directory.mkdir()
    for name in _COMMANDS:
        for place in os.environ["PATH"].split(os.pathsep):
            if (Path(place) / name).exists():
                (directory / name).symlink_to(Path(place) / name)
                break
    monkeypatch.setenv("PATH", str(directory))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    return directory


@pytest.mark.parametrize(
    ("version", "told"), [("1.8.0_392", "Java 8"), ("11.0.21", "Java 11"), ("16-ea", "Java 16")]
)
def test_too_old(
    tmp_path: Path, no_java: Path, monkeypatch: pytest.MonkeyPatch, version: str, told: str
) -> None:
    home = fake_java(tmp_path, version)
    monkeypatch.setenv("JAVA_HOME", str(home))

    assert java_problem() == f"{home}/bin/java is {told}, which is too old; {REMEDY}"
    monkeypatch.delenv("JAVA_HOME")
    (no_java / "java").symlink_to(home / "bin" / "java")
    assert java_problem() == f"{no_java}/java is {told}, which is too old; {REMEDY}"


@pytest.mark.usefixtures("no_java")
@pytest.mark.parametrize("version", ["17", "17.0.9", "21-ea", "25.0.1"])
def test_good(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path, version)))
    assert java_problem() is None


@pytest.mark.usefixtures("no_java")
def test_missing_or_dumb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert java_problem() == f"there is no Java here; {REMEDY}"
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    assert java_problem() == f"there is no Java in JAVA_HOME (/nowhere); {REMEDY}"
    home = fake_java(tmp_path, "none")
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert java_problem() == f"{home}/bin/java does not tell its version; {REMEDY}"


@pytest.mark.usefixtures("no_java")
@pytest.mark.parametrize(
    "version",
    ["1.8.0_392", *(pytest.param(v, marks=pytest.mark.release) for v in (None, "11.0.21"))],
)
def test_the_command_says_so_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str | None
) -> None:
    """PySpark itself is started, so that its own way of failing is the one that is told."""
    if version is not None:
        monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path, version)))
    (tmp_path / "f.csv").write_text("id,filter\n1,n > 1\n")
    (tmp_path / "p.csv").write_text("n\n1\n2\n")
    files = ["--filters", "f.csv", "--publications", "p.csv", "--output", "o.csv"]
    done = subprocess.run(
        [sys.executable, "-m", "wherecast", "match", *files, "--json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )

    problem = java_problem()
    assert problem is not None
    assert done.stderr == f"wherecast: Spark did not start: {problem}\n"
    assert (done.returncode, done.stdout) == (2, "")
    assert not (tmp_path / "o.csv").exists()


@pytest.mark.usefixtures("no_java")
def test_the_demo_says_so_too(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "wherecast", "demo", "--directory", str(tmp_path / "files")],
        capture_output=True,
        text=True,
        timeout=120,
    )

    expected = f"wherecast: Spark did not start: there is no Java here; {REMEDY}\n"
    assert (done.returncode, done.stderr) == (2, expected)
    assert "Traceback" not in done.stdout
