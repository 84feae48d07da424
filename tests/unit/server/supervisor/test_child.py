"""Why a process ended is told by how it ended, not by what it happened to write before."""

import asyncio
import signal

import pytest

pytest.importorskip("fastapi")

from wherecast.server.supervisor.child import Child, Command, cause_of

WRITES = "import os, signal, sys; print('a warning', file=sys.stderr, flush=True); "


@pytest.mark.parametrize(
    ("ends", "cause"),
    [
        ("os.kill(os.getpid(), signal.SIGKILL)", "it was ended by SIGKILL"),
        ("os.kill(os.getpid(), signal.SIGTERM)", "it was ended by SIGTERM"),
        ("sys.exit(1)", "a warning"),
    ],
)
def test_a_process_that_is_killed_has_the_signal_as_its_cause(ends: str, cause: str) -> None:
    async def run() -> tuple[int, str]:
        lines: list[str] = []
        child = await Child.start(Command("it", ("-c", WRITES + ends)), print, lines.append)
        code = await child.ended()
        assert lines == [child.last_line] == ["a warning"]
        return code, child.last_line

    assert cause_of(*asyncio.run(run())) == cause


def test_a_process_that_wrote_nothing_has_its_code_as_its_cause() -> None:
    assert cause_of(3, "") == "it ended with code 3"
    assert cause_of(-signal.SIGSEGV, "") == "it was ended by SIGSEGV"


def test_a_process_has_the_variables_of_its_command() -> None:
    async def run() -> list[str]:
        lines: list[str] = []
        script = "import os; print(os.environ['GIVEN'], 'PATH' in os.environ)"
        command = Command("it", ("-c", script), environ={"GIVEN": "5"})
        child = await Child.start(command, lines.append, print)
        assert await child.ended() == 0
        return lines

    assert asyncio.run(run()) == ["5 True"]
