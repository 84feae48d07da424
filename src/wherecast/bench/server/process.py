"""A server process to measure: start, requests, metrics, and CPU time by kind of process."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread
from typing import Any, TextIO

import orjson

from wherecast.bench.process_use import ProcessUse, cpu_seconds, descendants, use_of
from wherecast.model import StoreError

_ADDRESS = re.compile(r"Serving http://127\.0\.0\.1:(\d+) ")
_ENDS_WITHIN_S = 60


class MeasuredServer:
    """A running server.

    Attributes:
        port: the port on which the server listens.
    """

    def __init__(self, process: "subprocess.Popen[str]", port: int) -> None:
        self.port = port
        self._process = process

    def call(
        self, method: str, path: str, body: Any = None, kind: str = "application/json"
    ) -> tuple[int, Any]:
        """The status and the document of an answer."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=300)
        try:
            given = body if isinstance(body, bytes | None) else orjson.dumps(body)
            connection.request(method, path, given, {"Content-Type": kind} if given else {})
            answer = connection.getresponse()
            content = answer.read()
            is_json = answer.headers.get_content_type() == "application/json"
            return answer.status, orjson.loads(content) if is_json and content else content
        finally:
            connection.close()

    def metric(self, name: str, **labels: str) -> float:
        """The current value of a metric; 0 if it does not exist yet."""
        wanted = ",".join(f'{key}="{value}"' for key, value in labels.items())
        line = f"wherecast_{name}{{{wanted}}} " if labels else f"wherecast_{name} "
        _, text = self.call("GET", "/metrics")
        found = [one for one in text.decode().splitlines() if one.startswith(line)]
        return float(found[0].rpartition(" ")[2]) if found else 0.0

    def cpu_seconds(self) -> dict[str, float]:
        """The CPU time of the server's processes so far, by kind of process."""
        found: dict[str, float] = {}
        for pid in descendants(self._process.pid):
            try:
                command = Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
            except OSError:
                continue
            kind = _kind(command)
            found[kind] = found.get(kind, 0.0) + cpu_seconds(pid)
        return found

    def use(self) -> ProcessUse:
        """The processor time and the voluntary switches of the server's processes so far."""
        return use_of(self._process.pid)


def _kind(command: str) -> str:
    for word in ("gateway", "java", "pyspark", "pipeline"):
        if word in command:
            return {"java": "Java", "pyspark": "workers", "pipeline": "driver"}.get(word, word)
    return "supervisor"


@contextmanager
def measured_server(
    runner: str, data: Path, schema: str = "", environ: Mapping[str, str] | None = None
) -> Iterator[MeasuredServer]:
    """A server with a new directory; the body runs when the server is ready.

    Args:
        runner: `inline` or `spark`.
        data: the directory for the store.
        schema: the schema of the stream `default`, as TOML; by default it is open.
        environ: environment variables with further settings.

    Raises:
        StoreError: the server did not start.
    """
    data.mkdir(parents=True, exist_ok=True)
    options = ["--runner", runner, "--port", "0", "--data", str(data / "store")]
    if schema:
        (data / "schema.toml").write_text(schema, encoding="utf-8")
        options += ["--schema", str(data / "schema.toml")]
    process = subprocess.Popen(
        [sys.executable, "-m", "wherecast", "serve", *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        env={**os.environ, **(environ or {})},
        text=True,
    )
    assert process.stdout is not None
    try:
        port = next((int(got[1]) for line in process.stdout if (got := _ADDRESS.match(line))), None)
        if port is None:
            raise StoreError("the server did not start")
        Thread(target=_drain, args=(process.stdout,), daemon=True).start()
        yield MeasuredServer(process, port)
    finally:
        process.terminate()
        process.wait(_ENDS_WITHIN_S)


def _drain(output: TextIO) -> None:
    """Reads an output to its end: a full pipe would stop the process."""
    with output:
        output.read()
