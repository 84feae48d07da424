"""Java services that tests start: each with a log, and ended with all that it started."""

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

LIMIT_S = 120
T = TypeVar("T")


def until(what: str, condition: Callable[[], T], limit_s: float = LIMIT_S) -> T:
    """What the condition gives as soon as that is true."""
    end = time.monotonic() + limit_s
    while not (found := condition()):
        assert time.monotonic() < end, f"not within {limit_s} s: {what}"
        time.sleep(0.05)
    return found


def spark_home() -> Path:
    """Where the PySpark of this environment keeps its commands and jars."""
    import pyspark

    return Path(pyspark.__file__).parent


def spark_environ(**more: str) -> dict[str, str]:
    """The variables of a Java service that listens on the loopback only."""
    own = {"SPARK_HOME": str(spark_home()), "SPARK_LOCAL_IP": "127.0.0.1"}
    return {**os.environ, **own, **more}


@dataclass(frozen=True)
class Service:
    """A process that leads a session; what it starts stays in that session.

    Attributes:
        process: the leader.
        log: what it writes.
    """

    process: subprocess.Popen[bytes]
    log: Path

    @classmethod
    def start(
        cls, command: Sequence[str | Path], log: Path, environ: Mapping[str, str]
    ) -> "Service":
        """The service, started; it does not outlive this process, however that ends."""
        with log.open("wb") as file:
            process = subprocess.Popen(
                [*_with_us(), *command],
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        return cls(process, log)

    def said(self, pattern: str) -> re.Match[str]:
        """The first place of its log where a pattern is found; waits for it."""

        def look() -> re.Match[str] | None:
            text = self.log.read_text(errors="replace")
            found = re.search(pattern, text)
            assert found or self.process.poll() is None, f"ended without {pattern}:\n{text[-4000:]}"
            return found

        found = until(f"{pattern} in {self.log}", look)
        assert found is not None
        return found

    def members(self) -> dict[int, str]:
        """The command lines of all live processes of its session, by pid."""
        return session_members(self.process.pid)

    def close(self, kindly_s: float = 20) -> None:
        """Ends all processes of the session: asked at first, and then without asking."""
        for sent, limit_s in ((signal.SIGTERM, kindly_s), (signal.SIGKILL, LIMIT_S)):
            for pid in self.members():
                send(pid, sent)
            with suppress(AssertionError):
                until("the end", lambda: self.process.poll() is not None, limit_s)
                until("the end of all", lambda: not self.members(), limit_s)
                return
        raise AssertionError(f"still there: {self.members()}")


def _with_us() -> list[str]:
    """What kills a command when the one who started it is gone, where the system has that."""
    return ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []


def send(pid: int, sent: signal.Signals) -> None:
    """Sends a signal to a process, which may be gone."""
    with suppress(ProcessLookupError):
        os.kill(pid, sent)


def session_members(leader: int) -> dict[int, str]:
    """The command lines of all live processes of a session, by pid."""
    found = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            state, _, _, session = (place / "stat").read_text().rpartition(")")[2].split()[:4]
            command = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(session) == leader and state not in "ZX":
            found[int(place.name)] = command.strip()
    return found
