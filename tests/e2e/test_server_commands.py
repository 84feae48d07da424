"""The commands for a running server, as the tutorial shows them."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("fastapi")

from tests.e2e.server import ROOT, Server, serving
from tests.spark.services import until

PAGE = ROOT / "docs" / "tutorial" / "three-terminals.md"
GUIDE = ROOT / "docs" / "how-to" / "talk-to-the-server.md"


def blocks(page: Path, info: str) -> list[str]:
    """The text of the blocks that are fenced with some words."""
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{re.escape(info)}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@contextmanager
def tutorial_server(folder: Path, runner: str) -> Iterator[Server]:
    """The first terminal."""
    [schema] = blocks(PAGE, "toml air.toml")
    (folder / "air.toml").write_text(schema)
    [serve] = blocks(PAGE, "sh serve")
    _, command, *options = shlex.split(serve)
    assert command == "serve"
    with serving(folder, "--runner", runner, *options) as running:
        yield running


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with tutorial_server(tmp_path, "inline") as running:
        yield running


def environ(server: Server) -> dict[str, str]:
    search = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return {
        **os.environ,
        "PYTHONPATH": search,
        "WHERECAST_URL": f"http://127.0.0.1:{server.port}",
    }


def wherecast(server: Server, line: str, *more: str, code: int = 0) -> str:
    """What a command prints."""
    program, *arguments = shlex.split(line)
    assert program == "wherecast"
    done = subprocess.run(
        [sys.executable, "-m", "wherecast", *arguments, *more],
        env=environ(server),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done.stdout + (done.stderr if code else "")


def without_times(printed: str) -> str:
    return re.sub(r"^\d{4}-\S+Z", "…", printed, flags=re.MULTILINE)


@contextmanager
def second_terminal(server: Server, line: str) -> Iterator[Iterator[str]]:
    """A subscriber from when it has subscribed to Ctrl-C: the lines that it prints."""
    with subprocess.Popen(
        [sys.executable, "-m", "wherecast", *shlex.split(line)[1:]],
        env={**environ(server), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as subscriber:
        assert subscriber.stdout is not None
        try:
            path = "/v1/subscribers/ana/subscriptions"
            until("it", lambda: server.call("GET", path)[1].get("subscriptions"))
            yield iter(subscriber.stdout)
        finally:
            subscriber.send_signal(signal.SIGINT)
            assert subscriber.wait(60) == 0


def three_terminals(server: Server) -> None:
    """Does what the tutorial says, all at once."""
    [subscribe], [publish] = blocks(PAGE, "sh subscribe"), blocks(PAGE, "sh publish")
    [later], [refused] = blocks(PAGE, "sh later"), blocks(PAGE, "sh refused")
    with second_terminal(server, subscribe) as received:
        printed = "".join(wherecast(server, line) for line in publish.splitlines())
        assert [printed] == blocks(PAGE, "text published")
        assert [without_times(next(received))] == blocks(PAGE, "text received")
    wherecast(server, later)
    with second_terminal(server, subscribe) as received:
        assert [without_times(next(received))] == blocks(PAGE, "text later")
    assert [wherecast(server, refused, code=2)] == blocks(PAGE, "text refused")


def test_the_tutorial_works_as_printed(server: Server) -> None:
    three_terminals(server)


@pytest.mark.release
@pytest.mark.spark
@pytest.mark.classic
def test_the_tutorial_works_on_spark(tmp_path: Path) -> None:
    pytest.importorskip("pyspark.sql.streaming.datasource", reason="needs PySpark 4.2")
    with tutorial_server(tmp_path, "spark") as running:
        three_terminals(running)


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_the_guide_to_curl_works(server: Server) -> None:
    printed = []
    for block in blocks(GUIDE, "sh"):
        here = block.replace("127.0.0.1:8080", f"127.0.0.1:{server.port}")
        script = here.replace("curl ", "curl --silent --show-error --fail-with-body ")
        done = subprocess.run(
            ["/bin/sh", "-ec", script], capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, (script, done.stdout, done.stderr)
        printed.append(done.stdout)
    _, _, defined, published, pulled, acknowledged = printed
    assert json.loads(defined)["keep"] == "1h"
    [shown] = re.findall(r"on disk: `(.*?)`", GUIDE.read_text(encoding="utf-8"))
    assert json.loads(published) == json.loads(shown)
    [got] = json.loads(pulled)["notifications"]
    assert got["publication"]["id"] == "station-7-0001"
    assert acknowledged == ""
    assert server.call("GET", "/v1/subscribers/ana")[1]["queued"] == 0


def test_the_greeting_names_the_next_commands(server: Server) -> None:
    first, second, third = server.lines[-3:]
    assert first.startswith(f"Serving http://127.0.0.1:{server.port} ")
    subscribe, publish = (line.partition(":")[2].strip() for line in (second, third))
    server.call("PUT", "/v1/subscribers/ana")
    _, _, name, filter, *_ = shlex.split(subscribe)
    path = f"/v1/subscribers/{name}/subscriptions/cli"
    assert server.call("PUT", path, {"filter": filter})[0] == 201
    wherecast(server, publish)
    wherecast(server, subscribe, "--count", "1")


def test_files_are_published_and_tailed(server: Server, tmp_path: Path) -> None:
    lines = tmp_path / "readings.jsonl"
    lines.write_text('{"no2": 1.5}\n\n{"attributes": {"no2": 2.5}, "id": "x"}\n{"no3": 1}\n')
    done = json.loads(wherecast(server, f"wherecast publish --json --file {lines}", code=2))
    assert (done["accepted"], done["rejected"]) == (2, 1)
    assert done["errors"][0]["index"] == 2
    document = tmp_path / "more.json"
    document.write_text('[{"no2": 3.5}]')
    wherecast(server, f"wherecast publish --file {document}")
    printed = wherecast(server, "wherecast tail --from-start --count 3 --json")
    found = [json.loads(line) for line in printed.splitlines()]
    assert [one["publication"]["attributes"]["no2"] for one in found] == [1.5, 2.5, 3.5]


def test_subscriptions_are_listed_and_deleted(server: Server) -> None:
    server.call("PUT", "/v1/subscribers/ana")
    server.call("PUT", "/v1/subscribers/ana/subscriptions/s1", {"filter": "no2 > 1"})
    assert wherecast(server, "wherecast subscriptions list ana") == "s1  default  no2 > 1\n"
    assert wherecast(server, "wherecast subscriptions delete ana s1") == "Deleted s1 of ana.\n"
    assert wherecast(server, "wherecast subscriptions list ana --json") == ""
    told = wherecast(server, "wherecast subscriptions delete ana s1", code=2)
    assert told == "wherecast: subscriber ana has no subscription s1\n"


def test_no_server_is_told_in_a_line(server: Server) -> None:
    told = wherecast(server, "wherecast publish a=1 --url http://127.0.0.1:1", code=1)
    assert told == "wherecast: no server answers at http://127.0.0.1:1: connection refused\n"


def test_the_guide_to_publishing_over_a_websocket_works(server: Server, tmp_path: Path) -> None:
    [script] = blocks(GUIDE, "python publish.py")
    (tmp_path / "publish.py").write_text(script)
    command = [sys.executable, str(tmp_path / "publish.py"), str(server.port)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "[0, 1, 2]\n"


def test_the_guide_to_websockets_works(server: Server, tmp_path: Path) -> None:
    [script] = blocks(GUIDE, "python listen.py")
    (tmp_path / "listen.py").write_text(script)
    server.call("PUT", "/v1/subscribers/ana")
    server.call("PUT", "/v1/subscribers/ana/subscriptions/s1", {"filter": "no2 > 40"})
    with subprocess.Popen(
        [sys.executable, str(tmp_path / "listen.py"), str(server.port)],
        stdout=subprocess.PIPE,
        text=True,
    ) as listening:
        assert listening.stdout is not None
        wherecast(server, "wherecast publish no2=45.2")
        assert listening.stdout.readline() == "{'no2': 45.2}\n"
        listening.terminate()
