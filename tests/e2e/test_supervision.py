"""A server outlives its parts, and leaves nothing behind, whichever of its processes is killed."""

import json
import os
import shlex
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

pytest.importorskip("fastapi")

from tests.e2e.server import ROOT, STARTS_WITHIN_S, Server, serving
from tests.spark.services import session_members, until


def publish(server: Server) -> int:
    path = "/v1/streams/default/publications"
    return server.call("POST", path, {"attributes": {"a": 1}})[0]


def gateway(server: Server) -> int:
    return next(pid for pid, command in server.children().items() if "gateway" in command)


def pipeline(server: Server) -> int:
    return next(pid for pid, command in server.children().items() if "pipeline" in command)


def descendants(pid: int) -> list[int]:
    """The processes that a process started, and those that these started."""
    listed = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [one for child in map(int, listed) for one in (child, *descendants(child))]


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
    assert "Stopping" not in done.stdout
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
    far = {"WHERECAST__SPARK__MASTER": "spark://127.0.0.1:7077"}
    code, told = refused(tmp_path, "--port", "0", "--runner", "spark", **far)
    assert (code, "spark.master is spark://127.0.0.1:7077" in told) == (2, True)
    code, told = refused(tmp_path, "--port", "0", "--data", "file")
    assert code == 2
    with serving(tmp_path, "--runner", "inline") as server:
        code, told = refused(tmp_path, "--port", str(server.port))
        assert (code, "is in use; --port names another" in told) == (2, True)
        code, told = refused(tmp_path, "--port", "0")
        assert (code, "is in use by process" in told) == (2, True)
    code, told = refused(tmp_path, "--port", "0", "--schema", "other.toml")
    assert (code, "another schema" in told) == (2, True)


def test_what_is_suggested_comes_from_the_schema_of_the_store(tmp_path: Path) -> None:
    (tmp_path / "shop.toml").write_text("[attributes]\nprice = { type = 'decimal', scale = 2 }\n")
    with serving(tmp_path, "--runner", "inline", "--schema", "shop.toml") as server:
        given = [line.partition("--url")[0] for line in server.lines[-2:]]
    with serving(tmp_path, "--runner", "inline") as server:
        assert [line.partition("--url")[0] for line in server.lines[-2:]] == given
        [_, _, _, _, filter], [_, _, _, pair] = map(shlex.split, given)
        name, _, value = pair.partition("=")
        server.call("PUT", "/v1/subscribers/ana")
        wanted = {"filter": filter}
        assert server.call("PUT", "/v1/subscribers/ana/subscriptions/s", wanted)[0] == 201
        publication = {"attributes": {name: value}}
        assert server.call("POST", "/v1/streams/default/publications", publication)[0] == 202
        pulled = server.call("GET", "/v1/subscribers/ana/notifications?wait=30")[1]
        assert len(pulled["notifications"]) == 1


def test_events_for_machines_have_a_time_and_a_level(tmp_path: Path) -> None:
    server = Server(
        tmp_path, "--runner", "inline", environ={"WHERECAST__SERVER__LOG_FORMAT": "json"}
    )
    until("the server", lambda: '"event":"serving"' in server.told())
    os.kill(gateway(server), signal.SIGKILL)
    until("the end of the gateway", lambda: '"event":"died"' in server.told())
    server.close()
    events = [json.loads(line) for line in server.told().splitlines()]
    levels = {one["event"]: one["level"] for one in events if "event" in one}
    assert levels == {"opening": "info", "serving": "info", "died": "error", "stopping": "info"}
    assert all(one["at"].endswith("Z") for one in events)
    [died] = [one for one in events if one.get("event") == "died"]
    assert died["why"] == "it was ended by SIGKILL"


@pytest.mark.release
@pytest.mark.spark
@pytest.mark.classic
def test_a_pipeline_that_is_killed_leaves_no_temporary_files(tmp_path: Path) -> None:
    pytest.importorskip("pyspark.sql.streaming.datasource", reason="needs PySpark 4.2")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    java = f"-Djava.io.tmpdir={temporary}"
    environ = {"TMPDIR": str(temporary), "SPARK_SUBMIT_OPTS": java}
    server = Server(tmp_path, "--runner", "spark", environ=environ).wait()
    before = pipeline(server)
    os.killpg(before, signal.SIGKILL)
    until("its end", lambda: any("The pipeline ended" in line for line in server.lines))
    assert any("it was ended by SIGKILL" in line for line in server.lines)
    until("another one", lambda: server.call("GET", "/readyz")[0] == 200, STARTS_WITHIN_S)
    children = set(server.children())
    for pid in [server.process.pid, *descendants(server.process.pid)]:  # as systemd does
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    assert server.process.wait(60) == 0
    until("the end of all", lambda: not any(map(session_members, children)))
    server.close()
    assert "Traceback" not in server.told()
    assert list(temporary.iterdir()) == []


def test_spark_without_java_is_told(tmp_path: Path) -> None:
    pytest.importorskip("pyspark.sql.streaming.datasource", reason="needs PySpark 4.2")
    nowhere = str(tmp_path)
    options = ("--port", "0", "--runner", "spark")
    code, told = refused(tmp_path, *options, JAVA_HOME=nowhere, PATH=f"{nowhere}:/bin")
    assert code == 2
    assert "Java" in told
