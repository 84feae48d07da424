"""The progress bar: on terminals only, with what it is told."""

import io

import pytest
from rich.console import Console

from wherecast.cli import screen
from wherecast.pipeline.spark.session_status import Work


def terminal() -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=80, color_system=None)


def shown(out: Console) -> str:
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue()


@pytest.mark.parametrize(("finished", "full"), [(0, 0), (5, 10), (10, 20)])
def test_the_bar_shows_the_tasks(finished: int, full: int) -> None:
    out = terminal()

    def ask() -> Work:
        return Work(finished, 10)

    with screen.progress("Matching", lambda now: f"{now.finished} of {now.total}", ask, out):
        pass

    assert f"{finished} of 10" in shown(out)
    assert "━" * full in shown(out)
    assert "━" * 21 not in shown(out)


def test_without_tasks_it_says_that_something_is_going_on() -> None:
    out = terminal()
    with screen.progress("Matching", lambda now: f"{now}", out=out):
        pass
    assert "Matching" in shown(out)
    assert "Work(finished=0, total=0)" in shown(out)


def test_nothing_where_it_is_piped() -> None:
    out = Console(file=io.StringIO(), width=80)

    def ask() -> Work:
        raise AssertionError("nobody draws")

    with screen.progress("Matching", str, ask, out):
        out.print("a line")
    assert shown(out) == "a line\n"
