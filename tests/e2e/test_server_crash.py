"""kill -9 of a server's processes while plain clients talk to it: nothing is lost or wrong."""

import signal
from collections import Counter
from pathlib import Path
from threading import Event

import pytest

pytest.importorskip("fastapi")

from tests.crash.campaign import is_inside, kills
from tests.crash.ledger import read_facts
from tests.crash.verdict import judge, kept_in
from tests.crash.world import SUBSCRIBERS
from tests.e2e.crash_clients import Clients
from tests.e2e.server import Server, serving
from tests.seeds import random_of, run_seed
from tests.spark.services import send, session_members, until

SCHEMA = '[attributes]\ncount = "int"\nno2 = "float"\ncity = "string"\n'
# The verdict reads the whole log, so nothing of it is removed.
KEPT = {"WHERECAST__RETENTION__EVERY": "1d", "WHERECAST__SERVER__RESTART_WAIT_MAX": "500ms"}


def victims(server: Server, target: str) -> list[int]:
    """The processes that a target names."""
    children = server.children()
    if target in ("gateway", "pipeline"):
        return [pid for pid, command in children.items() if target in command]
    inside = (session_members(pid) for pid, command in children.items() if "pipeline" in command)
    return [pid for found in inside for pid, told in found.items() if is_inside(target, told)]


def run(folder: Path, runner: str, targets: tuple[str, ...], count: int) -> None:
    """Kills the targets so often in turn, has all delivered, and judges."""
    (folder / "schema.toml").write_text(SCHEMA)
    (folder / "ledger").mkdir()
    draw, hit = random_of(count), Counter[str]()
    options = ("--runner", runner, "--schema", "schema.toml", "--data", "store")
    with serving(folder, *options, environ=KEPT) as server:
        clients = Clients(server.port, folder / "ledger", seed=run_seed() + count)
        try:
            clients.start()
            for number in range(count):
                grown = clients.received + draw.randint(50, 400)
                until("news", lambda grown=grown: clients.received > grown, 180)
                Event().wait(draw.random() * 0.3)
                target = targets[number % len(targets)]
                found = until(target, lambda target=target: victims(server, target), 180)
                send(draw.choice(found), signal.SIGKILL)
                hit[target] += 1
            clients.drain(lambda: is_empty(clients), until)
        finally:
            clients.close()
        assert server.stop() == 0
    verdict = judge(kept_in(folder / "store"), list(read_facts(folder / "ledger")))
    print(f"{hit.total()} kills ({dict(hit)}): {verdict}")
    assert not verdict.faults, "\n".join(verdict.faults)
    _, *tracebacks = server.told().split("Traceback (most recent call last)")
    assert not [
        one
        for one in tracebacks
        if any(room in one for room in ("/wherecast/broker/", "/wherecast/server/"))
    ]  # Spark has its own


def is_empty(clients: Clients) -> bool:
    """Whether all is matched, and nothing is queued."""
    try:
        if clients.call("GET", "/readyz")[1]["lag"]["publications"]:
            return False
        states = [clients.call("GET", f"/v1/subscribers/{name}")[1] for name in SUBSCRIBERS]
    except OSError:
        return False
    return not any(state["queued"] for state in states)


@pytest.mark.release
def test_a_gateway_that_matches_is_killed(tmp_path: Path) -> None:
    run(tmp_path, "inline", ("gateway",), kills(3))


@pytest.mark.release
@pytest.mark.spark
@pytest.mark.classic
def test_processes_are_killed(tmp_path: Path) -> None:
    pytest.importorskip("pyspark.sql.streaming.datasource", reason="needs PySpark 4.2")
    run(tmp_path, "spark", ("gateway", "pipeline", "worker"), kills(3))


@pytest.mark.soak("server-kills-spark")
@pytest.mark.spark
@pytest.mark.classic
def test_processes_are_killed_often(tmp_path: Path) -> None:
    pytest.importorskip("pyspark.sql.streaming.datasource", reason="needs PySpark 4.2")
    targets = ("gateway", "worker", "pipeline", "gateway", "java")
    run(tmp_path, "spark", targets, kills(100))


@pytest.mark.soak("server-kills")
def test_a_gateway_that_matches_is_killed_often(tmp_path: Path) -> None:
    run(tmp_path, "inline", ("gateway",), kills(100))
