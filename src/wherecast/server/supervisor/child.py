"""One process of a server.

The process reads messages from its standard input, and ends where the input ends: so it does not
outlive its supervisor. It writes messages to its standard output, a line each. It leads a session
of its own, so that a signal from the terminal reaches the supervisor alone.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

OnLine = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Command:
    """How a process is started.

    Attributes:
        name: of the process, for people.
        arguments: of the Python interpreter that runs this process.
        first: the first message to the process, if there is one.
        descriptors: file descriptors that the process inherits.
        environ: further environment variables.
    """

    name: str
    arguments: tuple[str, ...]
    first: dict[str, Any] | None = None
    descriptors: tuple[int, ...] = ()
    environ: Mapping[str, str] = field(default_factory=dict)


class Child:
    """A process that was started.

    Attributes:
        name: of the process, for people.
        last_line: the last line that the process wrote to standard error.
    """

    def __init__(self, name: str, process: asyncio.subprocess.Process) -> None:
        self.name = name
        self.last_line = ""
        self._process = process
        self._started = monotonic()

    @classmethod
    async def start(cls, command: Command, on_output: OnLine, on_error: OnLine) -> "Child":
        """Starts a process.

        Args:
            command: how it is started.
            on_output: called with each line that it writes to standard output.
            on_error: called with each line that it writes to standard error.
        """
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *command.arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
            pass_fds=command.descriptors,
            env={**os.environ, **command.environ},
        )
        child = cls(command.name, process)
        if command.first is not None:
            child.tell(command.first)
        child._readers = [
            asyncio.ensure_future(child._read(process.stdout, on_output)),
            asyncio.ensure_future(child._read(process.stderr, child._noting(on_error))),
        ]
        return child

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    @property
    def lived_s(self) -> float:
        """Seconds since the process was started."""
        return monotonic() - self._started

    def tell(self, message: dict[str, Any]) -> None:
        """Sends a message to the process; one that has ended does not get it."""
        assert self._process.stdin is not None
        with suppress(OSError, RuntimeError):
            self._process.stdin.write(json.dumps(message).encode() + b"\n")

    async def ended(self) -> int:
        """The exit code of the process, once it has ended; negative where a signal ended it."""
        code = await self._process.wait()
        with suppress(TimeoutError):  # what it had started may still hold the pipes
            async with asyncio.timeout(1.0):
                await asyncio.gather(*self._readers)
        for reader in self._readers:
            reader.cancel()
        return code

    def ask_to_end(self) -> None:
        """Asks the process to end."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """Ends the process without asking, with what is left of its group."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            self._process.send_signal(number)

    def _noting(self, on_line: OnLine) -> OnLine:
        def note(line: str) -> None:
            self.last_line = line
            on_line(line)

        return note

    async def _read(self, stream: asyncio.StreamReader | None, on_line: OnLine) -> None:
        assert stream is not None
        while True:
            try:
                line = await stream.readline()
            except ValueError:  # longer than any line that is expected
                continue
            if not line:
                return
            on_line(line.decode(errors="replace").rstrip("\n"))

    _readers: Sequence["asyncio.Future[None]"] = ()


def cause_of(code: int, last_line: str) -> str:
    """Why a process ended: the signal that ended it, else what it wrote last, else its exit code.

    Args:
        code: the exit code, negative for a signal.
        last_line: the last line of its standard error.
    """
    if code < 0:
        return f"it was ended by {signal.Signals(-code).name}"
    return last_line or f"it ended with code {code}"
