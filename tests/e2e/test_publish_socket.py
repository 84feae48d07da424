"""Publications over a WebSocket: answered in order, once they are on disk."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("fastapi")

from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from tests.e2e.server import Server, serving
from tests.e2e.test_server import AIR, pull, subscribe

LIMIT_S = 60.0


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("server")
    (folder / "air.toml").write_text(AIR)
    with serving(folder, "--runner", "inline", "--schema", "air.toml") as running:
        yield running


def publishing(server: Server, options: str = "", stream: str = "default") -> ClientConnection:
    return connect(f"ws://127.0.0.1:{server.port}/v1/streams/{stream}/publish{options}")


def send(socket: ClientConnection, n: Any, attributes: Any, **more: Any) -> None:
    socket.send(json.dumps({"n": n, "attributes": attributes} | more))


def answers(socket: ClientConnection, count: int) -> list[int | dict[str, Any]]:
    """The answers to so many publications, in order: the number, or the error with its number."""
    found: list[int | dict[str, Any]] = []
    while len(found) < count:
        message = json.loads(socket.recv(timeout=LIMIT_S))
        found += message.get("acked", [message])
    return found


def test_what_is_acknowledged_is_delivered(server: Server) -> None:
    subscribe(server, "ana", "no2 > 40")
    with publishing(server, "?publisher=station-7&window=100") as socket:
        for n in range(5, 505):
            send(socket, n, {"no2": float(n)}, id=f"r-{n}")
        assert answers(socket, 500) == list(range(5, 505))
    found: list[Any] = []
    while len(found) < 464:
        some = pull(server, "ana")
        found += some
        assert server.call("POST", "/v1/subscribers/ana/ack", {"through": some[-1]["cursor"]})
    assert [one["publication"]["id"] for one in found] == [f"r-{n}" for n in range(41, 505)]
    assert {one["publication"]["publisher"] for one in found} == {"station-7"}


def test_each_bad_one_has_its_error_and_the_connection_goes_on(server: Server) -> None:
    with publishing(server) as socket:
        send(socket, 1, {"no2": 1.0}, id="a")
        send(socket, 2, {"no3": 1.0})
        send(socket, 3, {"no2": 1.0}, id="a")  # came before, the same
        send(socket, 4, {"no2": 2.0}, id="a")  # another body
        send(socket, 5, {"no2": 2.0, "seen": "2026-01-01T00:00:00Z"}, payload="aGk=")
        send(socket, 6, 5)
        socket.send("{")
        send(socket, 8, {"no2": 1e999})
        send(socket, 9, {"no2": 9.0})
        socket.send("[]")
        found = answers(socket, 10)
    assert [one if isinstance(one, int) else one["n"] for one in found] == list(range(1, 11))
    codes = {one["n"]: one["error"]["code"] for one in found if isinstance(one, dict)}
    assert codes == {
        2: "unknown_attribute",
        4: "conflict",
        6: "wrong_type",
        7: "malformed",
        8: "not_finite",
        10: "malformed",
    }


@pytest.mark.parametrize("second", [3, 1, 2.0, "2", True, None])
def test_a_number_that_does_not_follow_ends_the_connection(server: Server, second: Any) -> None:
    with publishing(server) as socket:
        send(socket, 1, {"no2": 1.0})
        if second is None:  # a message without a number takes the next one
            socket.send(json.dumps({"attributes": {"no2": 1.0}}))
            assert answers(socket, 2) == [1, 2]
            return
        send(socket, second, {"no2": 1.0})
        with pytest.raises(ConnectionClosed) as closed:
            answers(socket, 1_000)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4003


def test_after_a_cut_the_same_ids_take_effect_once(server: Server) -> None:
    subscribe(server, "bob", "count = 77")
    for _ in range(2):
        with publishing(server) as socket:
            for n in range(20):
                send(socket, n, {"count": 77}, id=f"cut-{n}")
            assert answers(socket, 20) == list(range(20))
    assert [one["publication"]["id"] for one in pull(server, "bob")] == [
        f"cut-{n}" for n in range(20)
    ]


@pytest.mark.parametrize(
    ("stream", "options", "status"),
    [
        ("nowhere", "", 404),
        ("default", "?window=0", 422),
        ("default", "?window=x", 422),
        ("default", "?windw=5", 422),
        ("default", "?publisher=@x", 422),
    ],
)
def test_bad_addresses_are_refused(server: Server, stream: str, options: str, status: int) -> None:
    with pytest.raises(InvalidStatus) as refused, publishing(server, options, stream):
        pass
    assert refused.value.response.status_code == status
