"""The server of another broker as a process, on the loopback interface."""

import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

from wherecast.bench.latency.peers.peer import PeerBroker

_STARTS_WITHIN_S = 10.0
_ENDS_WITHIN_S = 10.0


class PeerMissingError(Exception):
    """Another broker cannot be measured; the text says what is missing."""


@contextmanager
def peer_server(peer: PeerBroker, home: Path) -> Iterator[tuple[int, int]]:
    """A running server with a new directory: its process id and its port.

    Raises:
        PeerMissingError: the server ended at once; the text has its last line.
    """
    home.mkdir(parents=True)
    port, log = _free_port(), home / "log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            peer.command(port, home),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        _await_port(peer, process, port, log)
        yield process.pid, port
    finally:
        process.terminate()
        try:
            process.wait(_ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _await_port(peer: PeerBroker, process: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    """Returns when the server accepts connections."""
    end = monotonic() + _STARTS_WITHIN_S
    while process.poll() is None and monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            sleep(0.01)
        else:
            return
    last = log.read_text(errors="replace").strip().rpartition("\n")[2]
    how = "did not start in time" if process.poll() is None else "ended at once"
    needs = f"{peer.version} or newer is needed"
    raise PeerMissingError(f"{peer.program} {how}: {last.rpartition(': ')[2]} ({needs})")


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port
