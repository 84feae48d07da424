"""One process of a server.

It is told things on its standard input, and ends where that ends: so it does not outlive its
supervisor. It says things on its standard output, a line each. It leads a session of its own, so a
signal from the terminal reaches the supervisor alone.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import Any

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Command:
    """How a process is started.

    Attributes:
        name: of it.
        arguments: after the Python that runs this.
        first: what it is told at once, if anything.
        descriptors: that it gets.
    """

    name: str
    arguments: tuple[str, ...]
    first: dict[str, Any] | None = None
    descriptors: tuple[int, ...] = ()


class Child:
    """A process that was started.

    Attributes:
        name: of it.
        problem: the last line that it wrote to standard error.
    """

    def __init__(self, name: str, process: asyncio.subprocess.Process) -> None:
        self.name = name
        self.problem = ""
        self._process = process
        self._started = monotonic()

    @classmethod
    async def start(cls, command: Command, heard: Say, told: Say) -> "Child":
        """Starts a process.

        Args:
            command: what is started.
            heard: called with each line that it says.
            told: called with each line that it writes to standard error.
        """
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *command.arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
            pass_fds=command.descriptors,
        )
        child = cls(command.name, process)
        if command.first is not None:
            child.tell(command.first)
        child._readers = [
            asyncio.ensure_future(child._read(process.stdout, heard)),
            asyncio.ensure_future(child._read(process.stderr, child._noted(told))),
        ]
        return child

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    @property
    def lived_s(self) -> float:
        """How long ago it was started."""
        return monotonic() - self._started

    def tell(self, what: dict[str, Any]) -> None:
        """Gives it a line; one that has ended does not hear it."""
        assert self._process.stdin is not None
        with suppress(OSError, RuntimeError):
            self._process.stdin.write(json.dumps(what).encode() + b"\n")

    async def ended(self) -> int:
        """Waits for its end; the exit code, negative where a signal ended it."""
        code = await self._process.wait()
        with suppress(TimeoutError):  # what it had started may still hold the pipes
            async with asyncio.timeout(1.0):
                await asyncio.gather(*self._readers)
        for reader in self._readers:
            reader.cancel()
        return code

    def ask_to_end(self) -> None:
        """Asks it to end."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """Ends it without asking, with what is left of its group."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            self._process.send_signal(number)

    def _noted(self, told: Say) -> Say:
        def note(line: str) -> None:
            self.problem = line
            told(line)

        return note

    async def _read(self, stream: asyncio.StreamReader | None, heard: Say) -> None:
        assert stream is not None
        while True:
            try:
                line = await stream.readline()
            except ValueError:  # longer than any line that is expected
                continue
            if not line:
                return
            heard(line.decode(errors="replace").rstrip("\n"))

    _readers: Sequence["asyncio.Future[None]"] = ()
