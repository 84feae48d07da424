"""A server as a process, and plain clients of it."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

from tests.spark.services import session_members, until

ROOT = Path(__file__).parents[2]
STARTS_WITHIN_S = 120
_ADDRESS = re.compile(r"Serving http://127\.0\.0\.1:(\d+) ")


class Server:
    """`wherecast serve`, running.

    Attributes:
        lines: what it printed.
        process: its supervisor.
    """

    def __init__(self, folder: Path, *options: str, environ: dict[str, str] | None = None) -> None:
        self.lines: list[str] = []
        self.errors = folder / "server.err"
        search = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        with self.errors.open("ab") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "wherecast", "serve", "--port", "0", *options],
                cwd=folder,
                env={**os.environ, "PYTHONPATH": search, **(environ or {})},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                start_new_session=True,
            )
        self._reading = Thread(target=self._read, daemon=True)
        self._reading.start()

    @property
    def port(self) -> int:
        """Where it listens, once it does."""
        return int(self._found(_ADDRESS)[1])

    def wait(self) -> "Server":
        """Waits until it serves."""
        until("the server", lambda: self._has_started(), STARTS_WITHIN_S)
        return self

    def told(self) -> str:
        """What it wrote to standard error."""
        return self.errors.read_text(errors="replace")

    def children(self) -> dict[int, str]:
        """The processes that it started itself: their command lines, by pid."""
        listed = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return {
            int(pid): Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
            for pid in listed.split()
        }

    def call(
        self, method: str, path: str, body: Any = None, kind: str = "application/json"
    ) -> tuple[int, Any]:
        """The status and the document of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            given = body if isinstance(body, bytes | None) else json.dumps(body).encode()
            headers = {} if body is None else {"Content-Type": kind}
            connection.request(method, path, given, headers)
            answer = connection.getresponse()
            content = answer.read()
            is_json = answer.headers.get_content_type() == "application/json"
            return answer.status, json.loads(content) if content and is_json else content
        finally:
            connection.close()

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Asks it to end; its exit code."""
        self.process.send_signal(number)
        return self.process.wait(60)

    def close(self) -> None:
        """Ends it, and leaves nothing of it."""
        everyone = set(self.children()) if self.process.poll() is None else set()
        if self.process.poll() is None:
            self.stop()
        until("the end of all", lambda: not any(session_members(pid) for pid in everyone), 60)
        self._reading.join()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def _has_started(self) -> bool:
        assert self.process.poll() is None, self.told()
        return any(_ADDRESS.match(line) for line in self.lines)

    def _found(self, wanted: re.Pattern[str]) -> re.Match[str]:
        return next(found for line in self.lines if (found := wanted.match(line)))

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))


@contextmanager
def serving(folder: Path, *options: str, **given: Any) -> Iterator[Server]:
    """A server that runs meanwhile."""
    server = Server(folder, *options, **given)
    try:
        yield server.wait()
    finally:
        server.close()
