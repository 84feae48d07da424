"""A server outlives its parts, and leaves nothing behind, whichever of its processes is killed."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("fastapi")

from tests.e2e.server import ROOT, Server, serving
from tests.spark.services import session_members, until


def publish(server: Server) -> int:
    path = "/v1/streams/default/publications"
    return server.call("POST", path, {"attributes": {"a": 1}})[0]


def gateway(server: Server) -> int:
    return next(pid for pid, command in server.children().items() if "gateway" in command)


def test_a_gateway_that_is_killed_is_started_again(tmp_path: Path) -> None:
    with serving(tmp_path, "--runner", "inline") as server:
        assert publish(server) == 202
        before = gateway(server)
        os.kill(before, signal.SIGKILL)
        assert publish(server) == 202  # it waits in the queue of the socket
        assert gateway(server) != before
        assert server.call("GET", "/v1/streams/default")[1]["positions"]["ends"] == {"0": 2}
        assert any("The gateway ended" in line for line in server.lines)


def test_nothing_outlives_a_supervisor_that_is_killed(tmp_path: Path) -> None:
    server = Server(tmp_path, "--runner", "inline").wait()
    child = gateway(server)
    server.process.kill()
    server.process.wait()
    until("the end of the gateway", lambda: not session_members(child))
    server.close()


def refused(folder: Path, *options: str, **environ: str) -> tuple[int, str]:
    """The exit code and what is told of a server that cannot start."""
    search = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "wherecast", "serve", "--runner", "inline", *options],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": search, **environ},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "Traceback" not in done.stderr
    assert 1 <= len(done.stderr.splitlines()) <= 2, done.stderr
    return done.returncode, done.stderr


def test_what_cannot_start_says_why(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("[attributes]\na = 'text'\n")
    (tmp_path / "other.toml").write_text("[attributes]\na = 'float'\n")
    (tmp_path / "file").write_text("")
    assert refused(tmp_path, "--schema", "none.toml")[0] == 2
    assert refused(tmp_path, "--schema", "bad.toml")[0] == 2
    assert refused(tmp_path, "--host", "0.0.0.0")[0] == 2
    assert refused(tmp_path, WHERECAST__SERVER__PROT="1")[0] == 2
    code, told = refused(tmp_path, "--port", "0", "--data", "file")
    assert code == 2
    with serving(tmp_path, "--runner", "inline") as server:
        code, told = refused(tmp_path, "--port", str(server.port))
        assert (code, "is in use; --port names another" in told) == (2, True)
        code, told = refused(tmp_path, "--port", "0")
        assert (code, "is in use by process" in told) == (2, True)
    code, told = refused(tmp_path, "--port", "0", "--schema", "other.toml")
    assert (code, "another schema" in told) == (2, True)


def test_spark_without_java_is_told(tmp_path: Path) -> None:
    pytest.importorskip("pyspark.sql.streaming.datasource", reason="needs PySpark 4.2")
    nowhere = str(tmp_path)
    options = ("--port", "0", "--runner", "spark")
    code, told = refused(tmp_path, *options, JAVA_HOME=nowhere, PATH=f"{nowhere}:/bin")
    assert code == 2
    assert "Java" in told
