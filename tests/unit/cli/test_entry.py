"""The command: its exit codes, and errors in one or two lines."""

import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version

import pytest

from wherecast.cli import explain_filter
from wherecast.cli.entry import run


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    try:
        expected = version("wherecast")
    except PackageNotFoundError:
        expected = "0+unknown"
    assert capsys.readouterr().out == f"wherecast {expected}\n"


@pytest.mark.parametrize(
    "command", [[], ["match"], ["explain"], ["demo"], ["bench"], ["index", "check"]]
)
def test_help_has_an_example(capsys: pytest.CaptureFixture[str], command: list[str]) -> None:
    assert run([*command, "--help"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert " ".join(["wherecast", *command]) in out
    assert "Example" in out or not command


def test_without_arguments_the_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 2
    out, err = capsys.readouterr()
    assert "Usage" in out + err
    assert "wherecast:" not in err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["mach"], "No such command 'mach'"),
        (["explain", "n = 1"], "Missing argument 'PUBLICATION_JSON'"),
        (["match", "--filters", "f.csv"], "Missing option '--publications'"),
        (["match", "--wrong"], "No such option: --wrong"),
        (["explain", "--schema", "no.toml", "n = 1", "{}"], "no.toml"),
        (["bench", "langage"], "did you mean language?"),
    ],
)
def test_usage_errors_are_short(
    capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert told in err
    assert len(err.splitlines()) <= 2


class TestFailures:
    @pytest.fixture(autouse=True)
    def broken(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*_: object) -> None:
            raise ValueError("it\nbroke")

        monkeypatch.setattr(explain_filter, "Filter", fail)

    def test_are_one_line_without_a_traceback(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(["explain", "n = 1", "{}"]) == 1
        out, err = capsys.readouterr()
        assert out == ""
        assert err == "wherecast: ValueError: it\n(--debug shows where it happened)\n"

    @pytest.mark.parametrize("place", [0, 1, 3])
    def test_debug_shows_where(self, capsys: pytest.CaptureFixture[str], place: int) -> None:
        arguments = ["explain", "n = 1", "{}"]
        arguments.insert(place, "--debug")
        assert run(arguments) == 1
        assert "Traceback" in capsys.readouterr().err


def test_interrupted(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(explain_filter, "Filter", interrupt)
    assert run(["explain", "n = 1", "{}"]) == 130
    assert "interrupted" in capsys.readouterr().err


def test_the_command_loads_little() -> None:
    script = (
        "import sys; from wherecast.cli.entry import run; run(['explain', 'n = 1', '{}']);"
        "print(*sorted({name.split('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert not set(done.stdout.split()) & {"pyspark", "py4j", "matplotlib", "numba"}
