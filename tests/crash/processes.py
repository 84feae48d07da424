"""Processes that are started, told, watched and killed."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Thread

from tests.spark.services import send, session_members, until

ROOT = Path(__file__).parents[2]
CRASH_AT, CRASH_TOLD = "WHERECAST_CRASH_AT", "WHERECAST_CRASH_TOLD"
_KINDLY_S = 60


class Started:
    """A Python module that runs as the leader of a session, with what it says.

    Attributes:
        armed: the point it is to die at, if one was named.
        lines: what it has said.
    """

    def __init__(
        self,
        module: str,
        arguments: Sequence[object],
        errors: Path,
        armed: str = "",
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self.armed = armed
        self.lines: list[str] = []
        search = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        own = {CRASH_AT: armed, "PYTHONPATH": search, **(environ or {})}
        with errors.open("ab") as file:
            self.process = subprocess.Popen(
                [sys.executable, "-m", module, *map(str, arguments)],
                env={**os.environ, **own},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=file,
                text=True,
                start_new_session=True,
            )
        self._reading = Thread(target=self._read, daemon=True)
        self._reading.start()

    def tell(self, line: str) -> None:
        """Gives it a line."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self.process.poll() is None

    @property
    def was_killed(self) -> bool:
        """Whether kill -9 ended it."""
        return self.process.poll() == -signal.SIGKILL

    def members(self) -> dict[int, str]:
        """The command lines of all live processes of its session, by pid."""
        return session_members(self.process.pid)

    def kill(self) -> None:
        """Ends it at once; what it had started may go on."""
        self.process.kill()
        self.process.wait()

    def close(self) -> int:
        """Asks it to end, and gives its exit code; nothing of its session is left."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        code = self.process.wait(_KINDLY_S)
        self.sweep()
        return code

    def sweep(self) -> None:
        """Ends all that is left of the session, without asking."""
        for pid in self.members():
            send(pid, signal.SIGKILL)
        self.process.wait()
        until("the end of its session", lambda: not self.members())
        self._reading.join()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.strip())
