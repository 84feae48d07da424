"""Other brokers: what is missing is named, what is lost or changed ends the run."""

import os
import sys
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from shutil import which
from typing import Any

import pytest

from wherecast.bench.latency.peers import measure as peers
from wherecast.bench.latency.peers.peer import PeerBroker, Turn
from wherecast.bench.latency.peers.peer_server import PeerMissingError, peer_server
from wherecast.bench.measured import WrongResult

LISTENS = """
import socket, sys
with socket.create_server(("127.0.0.1", int(sys.argv[1]))) as one:
    while True:
        one.accept()[0].close()
"""
BODIES = [b"%d" % number for number in range(peers.WARM_UP + 10)]
Turns = Callable[[int, Sequence[bytes]], Generator[Turn, None, None]]


def peer_of(turns: Turns, script: str = LISTENS) -> PeerBroker:
    """A peer whose server is a script of Python."""
    return PeerBroker(
        "script", "python3", "1.2", "sys", "synced", "channel",
        lambda port, _: [sys.executable, "-c", script, str(port)], turns,
    )  # fmt: skip


def echoed(port: int, bodies: Sequence[bytes]) -> Generator[Turn, None, None]:
    yield from (Turn(float(place), body) for place, body in enumerate(bodies))


def changed(port: int, bodies: Sequence[bytes]) -> Generator[Turn, None, None]:
    yield from echoed(port, [*bodies[:-1], b"other"])


def test_turns_after_the_warm_up_count(tmp_path: Path) -> None:
    row = peers.measure(peer_of(echoed), 5, BODIES, tmp_path / "peer")
    assert (row["what"], row["publications"], row["matches"]) == ("script", 10, 10)
    assert row["p50 ms"] == peers.WARM_UP + 4.5
    assert (row["on disk"], row["filter by"]) == ("synced", "channel")
    assert row.keys() >= {"sync p50 ms", "CPU µs/publication", "client switches/publication"}


def test_a_changed_publication_ends_the_run(tmp_path: Path) -> None:
    with pytest.raises(WrongResult, match="script: b'509' was published, b'other' was received"):
        peers.measure(peer_of(changed), 5, BODIES, tmp_path / "peer")


def test_the_server_ends_with_its_measurement(tmp_path: Path) -> None:
    with peer_server(peer_of(echoed), tmp_path / "peer") as (pid, _):
        os.kill(pid, 0)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_server_that_ends_at_once_is_named(tmp_path: Path) -> None:
    script = "import sys; sys.exit('script: place: unknown field \"sync\"')"
    wanted = r'python3 ended at once: unknown field "sync" \(1.2 or newer is needed\)'
    with (
        pytest.raises(PeerMissingError, match=wanted),
        peer_server(peer_of(echoed, script), tmp_path / "peer"),
    ):
        pass


def test_peers_that_are_not_installed_are_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    rows = [row for row in peers.rows(5, 1, tmp_path) if isinstance(row, dict)]
    assert [(row["what"], row["skipped"]) for row in rows] == [
        ("NATS", "nats-server is not on PATH"),
        ("NATS JetStream", "nats-server is not on PATH"),
        ("Redis channel", "redis-server is not on PATH"),
        ("Redis stream", "redis-server is not on PATH"),
    ]


@pytest.mark.parametrize("peer", peers.PEERS, ids=lambda peer: peer.what)
def test_an_installed_peer_gives_back_what_was_published(peer: Any, tmp_path: Path) -> None:
    if which(peer.program) is None:
        pytest.skip(f"{peer.program} is not installed")
    pytest.importorskip(peer.library)
    try:
        row = peers.measure(peer, 5, BODIES, tmp_path / "peer")
    except PeerMissingError as missing:
        pytest.skip(str(missing))
    assert row["matches"] == row["publications"] == 10
