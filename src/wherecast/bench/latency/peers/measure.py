"""Other brokers beside ours: the time from publishing to receiving, and what it costs."""

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from shutil import which

import orjson

from wherecast.bench.latencies import latency_columns
from wherecast.bench.latency.bare_sync import bare_syncs, sync_columns
from wherecast.bench.latency.peers import nats_turns, redis_turns
from wherecast.bench.latency.peers.peer import PeerBroker
from wherecast.bench.latency.peers.peer_server import PeerMissingError, peer_server
from wherecast.bench.latency.publish_to_take import drawn
from wherecast.bench.measured import WrongResult
from wherecast.bench.process_use import own_use, use_of
from wherecast.bench.progress import Doing, Row

PEERS = (
    PeerBroker("NATS", "nats-server", "2.0", "nats", "no", "subject",
         nats_turns.core_command, nats_turns.core_turns),
    PeerBroker("NATS JetStream", "nats-server", "2.10", "nats", "synced", "subject",
         nats_turns.jetstream_command, nats_turns.jetstream_turns),
    PeerBroker("Redis channel", "redis-server", "5.0", "redis", "no", "channel",
         redis_turns.channel_command, redis_turns.channel_turns),
    PeerBroker("Redis stream", "redis-server", "5.0", "redis", "synced", "stream",
         redis_turns.stream_command, redis_turns.stream_turns),
)  # fmt: skip
_COUNT = 5_000
WARM_UP = 500


def rows(size: int | None, seed: int, home: Path) -> Iterator[Row | Doing]:
    """A row per peer; a peer that is not installed has a row that says what is missing."""
    yield Doing("peers: drawing")
    load = drawn(min(size or _COUNT, _COUNT) + WARM_UP, seed)
    bodies = [orjson.dumps(attributes) for attributes in load.publications]
    for peer in PEERS:
        yield Doing(peer.what)
        try:
            yield measure(peer, size, bodies, home / peer.what)
        except PeerMissingError as error:
            yield {"what": peer.what, "skipped": str(error)}


def measure(peer: PeerBroker, size: int | None, bodies: Sequence[bytes], home: Path) -> Row:
    """The row of a peer: bodies go through it one by one; the first ones do not count.

    Raises:
        PeerMissingError: its server or its client is not installed, or the server is too old.
        WrongResult: a body was lost or changed.
    """
    version = _version(peer)
    with peer_server(peer, home) as (pid, port):
        syncs = bare_syncs(size, home)
        server, own, millis = use_of(pid), own_use(), []
        with closing(peer.turns(port, bodies)) as turns:
            for number, (turn, body) in enumerate(zip(turns, bodies, strict=True)):
                _check(peer, body, turn.body)
                millis.append(turn.millis)
                if number == WARM_UP - 1:
                    server, own = use_of(pid), own_use()
        server, own, millis = use_of(pid) - server, own_use() - own, millis[WARM_UP:]
    return {
        "what": peer.what,
        **latency_columns(millis),
        "matches": len(millis),
        **server.columns(len(millis)),
        **own.columns(len(millis), "client "),
        **(sync_columns(syncs) if peer.on_disk == "synced" else {}),
        **peer.promise,
        "peer version": version,
    }


def _check(peer: PeerBroker, sent: bytes, received: bytes) -> None:
    if sent != received:
        raise WrongResult(f"{peer.what}: {sent!r} was published, {received!r} was received")


def _version(peer: PeerBroker) -> str:
    """The version of a peer's server, as it says itself."""
    if which(peer.program) is None:
        raise PeerMissingError(f"{peer.program} is not on PATH")
    if find_spec(peer.library) is None:
        need = "pip install 'wherecast[bench]'"
        raise PeerMissingError(f"the client {peer.library} is not installed; {need}")
    run = subprocess.run(
        [peer.program, "--version"], capture_output=True, text=True, check=False, timeout=10
    )
    return run.stdout.strip()
