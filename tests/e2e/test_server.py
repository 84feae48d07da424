"""Publishers and subscribers talk to a running server over HTTP and WebSocket."""

import io
import json
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

pytest.importorskip("fastapi")

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from tests.e2e.server import Server, serving
from tests.spark.services import until

AIR = """
[attributes]
no2 = { type = "float", min = 0, max = 1000 }
city = "string"
seen = "timestamp"
count = "int"
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("server")
    (folder / "air.toml").write_text(AIR)
    with serving(folder, "--runner", "inline", "--schema", "air.toml") as running:
        yield running


def subscribe(server: Server, name: str, filter: str, id: str = "s1") -> None:
    assert server.call("PUT", f"/v1/subscribers/{name}")[0] == 201
    path = f"/v1/subscribers/{name}/subscriptions/{id}"
    assert server.call("PUT", path, {"filter": filter})[0] == 201


def publish(server: Server, *publications: dict[str, Any]) -> Any:
    status, document = server.call("POST", "/v1/streams/default/publications", list(publications))
    assert status == 202, document
    return document


def pull(server: Server, name: str, wait: int = 10) -> list[Any]:
    path = f"/v1/subscribers/{name}/notifications?max=100&wait={wait}"
    status, document = server.call("GET", path)
    assert status == 200, document
    return document["notifications"]


def pushing(server: Server, name: str, options: str = "") -> ClientConnection:
    return connect(f"ws://127.0.0.1:{server.port}/v1/subscribers/{name}/push{options}")


def test_what_is_published_is_pulled_and_acknowledged(server: Server) -> None:
    subscribe(server, "ana", "no2 > 40 AND city = 'Zagreb'")
    done = publish(
        server,
        {"attributes": {"no2": 45.0, "city": "Zagreb"}, "id": "a1", "payload": "aGk="},
        {"attributes": {"no2": 45.0, "city": "Split"}},
    )
    assert (done["accepted"], done["rejected"], done["duplicates"]) == (2, 0, 0)
    assert done["last"] == done["first"] + 1

    [first] = pull(server, "ana")
    assert first["publication"]["attributes"] == {"no2": 45.0, "city": "Zagreb"}
    assert first["publication"]["id"] == "a1"
    assert first["publication"]["payload"] == "aGk="
    assert first["subscription_ids"] == ["s1"]
    assert first["stream"] == "default"
    assert first["offset"] == done["first"]
    assert first["redelivered"] is False
    [again] = pull(server, "ana")
    assert again == first | {"redelivered": True}

    until("commit", lambda: server.call("GET", "/v1/subscribers/ana")[1]["queued"] == 1)
    ack = {"through": first["cursor"]}
    assert server.call("POST", "/v1/subscribers/ana/ack", ack)[0] == 204
    assert pull(server, "ana", wait=0) == []
    assert server.call("GET", "/v1/subscribers/ana")[1]["queued"] == 0


def test_a_pull_waits_for_what_comes(server: Server) -> None:
    subscribe(server, "waiting", "city = 'Rijeka'")
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(pull, server, "waiting", 60)
        publish(server, {"attributes": {"city": "Rijeka"}})
        [found] = waiting.result(60)
    assert found["publication"]["attributes"] == {"city": "Rijeka"}


def test_lines_and_arrow_are_taken_as_well(server: Server) -> None:
    subscribe(server, "boris", "count >= 100")
    path = "/v1/streams/default/publications"
    lines = b"".join(
        json.dumps({"attributes": {"count": 100 + number}}).encode() + b"\n" for number in range(3)
    )
    status, done = server.call("POST", path, lines, "application/x-ndjson")
    assert (status, done["accepted"]) == (202, 3)
    table = pa.table({"count": [200, 201], "city": ["Split", None]})
    assert _arrow(server, table) == 2
    attributes = pa.array([{"count": 300}, {"count": 301}])
    assert _arrow(server, pa.table({"attributes": attributes, "id": ["x1", "x2"]})) == 2

    until("all", lambda: len(pull(server, "boris")) == 7)
    found = [one["publication"] for one in pull(server, "boris")]
    assert [one["attributes"]["count"] for one in found] == [100, 101, 102, 200, 201, 300, 301]
    assert [one["id"] for one in found[-2:]] == ["x1", "x2"]


def test_a_publisher_has_a_name_and_ids_of_its_own(server: Server) -> None:
    subscribe(server, "petra", "city = 'Pula'")
    path = "/v1/streams/default/publications"
    body = {"attributes": {"city": "Pula"}, "id": "pula-1"}
    for query in ("?publisher=station-7", "?publisher=stanica%20%C5%BD", ""):
        assert server.call("POST", path + query, body)[0] == 202
    again = {**body, "attributes": {"city": "Pula", "no2": 1.0}}
    assert server.call("POST", f"{path}?publisher=station-7", body)[0] == 200
    assert server.call("POST", f"{path}?publisher=station-7", again)[0] == 409
    until("all", lambda: len(pull(server, "petra")) == 3)
    found = [one["publication"] for one in pull(server, "petra")]
    assert [one.get("publisher") for one in found] == ["station-7", "stanica Ž", None]
    assert {one["id"] for one in found} == {"pula-1"}
    for bad in ("?publisher=", f"?publisher={'x' * 257}"):
        status, document = server.call("POST", path + bad, body)
        assert (status, document["error"]["message"][:12]) == (422, "a publisher ")


def test_an_id_of_one_stream_is_free_on_others(server: Server) -> None:
    assert server.call("PUT", "/v1/streams/evil", {"schema": {"n": "int"}})[0] == 201
    taken = {"attributes": {"n": 1}, "id": "order-1"}
    assert server.call("POST", "/v1/streams/evil/publications", taken)[0] == 202
    publish(server, {"attributes": {"count": 1}, "id": "order-1"})


def _arrow(server: Server, table: pa.Table) -> int:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    kind = "application/vnd.apache.arrow.stream"
    path = "/v1/streams/default/publications"
    status, done = server.call("POST", path, sink.getvalue(), kind)
    assert status == 202, done
    return int(done["accepted"])


def test_notifications_are_pushed_and_acknowledged(server: Server) -> None:
    subscribe(server, "cvita", "city = 'Osijek'")
    with pushing(server, "cvita", "?confirm=true") as socket:
        publish(server, *({"attributes": {"city": "Osijek", "count": n}} for n in range(3)))
        got = [json.loads(socket.recv(30)) for _ in range(3)]
        assert [one["publication"]["attributes"]["count"] for one in got] == [0, 1, 2]
        assert server.call("GET", "/v1/subscribers/cvita")[1]["connected"] is True
        socket.send(json.dumps({"cursors": [got[1]["cursor"]]}))
        assert json.loads(socket.recv(30)) == {"acknowledged": {"cursors": [got[1]["cursor"]]}}
        socket.send(json.dumps({"through": got[0]["cursor"]}))
        socket.recv(30)
        socket.send('{"through": "nonsense"}')
        assert json.loads(socket.recv(30))["error"]["code"] == "bad_cursor"
    [left] = pull(server, "cvita")
    assert left == got[2] | {"redelivered": True}


def test_a_second_connection_replaces_the_first(server: Server) -> None:
    subscribe(server, "dora", "city = 'Pula'")
    with pushing(server, "dora") as first, pushing(server, "dora", "?batch=10") as second:
        with pytest.raises(ConnectionClosed) as closed:
            first.recv(30)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 4000
        publish(server, {"attributes": {"city": "Pula"}})
        [got] = json.loads(second.recv(30))["notifications"]
        assert got["publication"]["attributes"] == {"city": "Pula"}


def test_a_subscription_is_the_same_changed_or_ended(server: Server) -> None:
    subscribe(server, "eva", "no2 > 1")
    path = "/v1/subscribers/eva/subscriptions/s1"
    status, same = server.call("PUT", path, {"filter": "no2 > 1"})
    assert (status, same["verdict"]) == (200, "unchanged")
    status, changed = server.call("PUT", path, {"filter": "no2 > 2"})
    assert (status, changed["verdict"]) == (200, "changed")
    assert server.call("GET", path)[1]["filter"] == "no2 > 2"
    status, never = server.call("PUT", path, {"filter": "no2 > 5 AND no2 < 3"})
    assert status == 200
    assert "never match" in never["warnings"][0]
    assert server.call("DELETE", path)[0] == 204
    assert server.call("DELETE", path)[0] == 404
    assert server.call("DELETE", "/v1/subscribers/eva")[0] == 204
    assert server.call("GET", "/v1/subscribers/eva")[0] == 404


def test_many_subscriptions_have_a_verdict_each(server: Server) -> None:
    server.call("PUT", "/v1/subscribers/many")
    path = "/v1/subscribers/many/subscriptions"
    lines = b'{"id": "a", "filter": "no2 > 1"}\n{"id": "b", "filter": "no2 >"}\nnonsense\n'
    status, done = server.call("PUT", path, lines, "application/x-ndjson")
    assert status == 200
    assert [one["verdict"] for one in done["verdicts"]] == ["created", "rejected", "rejected"]
    assert done["verdicts"][1]["error"]["position"] == 4
    lines = b'{"id": "c", "filter": "no2 > 1"}\n'
    status, done = server.call("PUT", f"{path}?replace=true", lines, "application/x-ndjson")
    assert (done["created"], done["removed"]) == (1, 1)
    listed = server.call("GET", path)[1]["subscriptions"]
    assert [one["id"] for one in listed] == ["c"]


def test_it_tells_how_it_is(server: Server) -> None:
    assert server.call("GET", "/healthz") == (200, {"status": "ok"})
    status, ready = server.call("GET", "/readyz")
    assert (status, ready["ready"], ready["pipeline"]["phase"]) == (200, True, "inline")
    status, metrics = server.call("GET", "/metrics")
    assert status == 200
    for name in (
        b"publications_accepted_total",
        b"publications_matched_total",
        b'notifications_delivered_total{way="push"}',
        b"notifications_acknowledged_total",
        b"lag_publications",
        b"lag_seconds",
        b"subscriptions",
        b"push_connections",
        b"batches_total",
        b"matches_total",
        b"candidates_total",
        b"index_filters",
        b"index_bytes",
        b'stage_seconds_total{stage="append"}',
        b'stage_seconds_total{stage="match"}',
        b'stage_seconds_total{stage="notify"}',
    ):
        assert b"\nwherecast_" + name + b" " in metrics, name
    status, stream = server.call("GET", "/v1/streams/default")
    assert status == 200
    assert stream["schema"]["attributes"]["city"] == "string"
    assert server.call("GET", "/v1/dead-letters")[1]["dead_letters"] == []
    explained = {"filter": "no2 > 40", "publication": {"attributes": {"no2": 12}}}
    status, why = server.call("POST", "/v1/streams/default/explain", explained)
    assert (status, why["matched"]) == (200, False)
    assert why["plan"] == {"indexed": ["no2 > 40.0"], "checked": [], "formulas": []}
    assert "/v1/streams" in server.call("GET", "/openapi.json")[1]["paths"]


def test_decimals_are_delivered_however_they_are_asked_for(server: Server) -> None:
    schema = {"schema": {"price": {"type": "decimal", "scale": 2}}}
    assert server.call("PUT", "/v1/streams/shop", schema)[0] == 201
    assert server.call("PUT", "/v1/subscribers/vlatka")[0] == 201
    path = "/v1/subscribers/vlatka/subscriptions/s1"
    wanted = {"filter": "price > 10", "stream": "shop"}
    assert server.call("PUT", path, wanted)[0] == 201
    publication = {"attributes": {"price": "12.50"}}
    assert server.call("POST", "/v1/streams/shop/publications", publication)[0] == 202
    [pulled] = pull(server, "vlatka")
    with pushing(server, "vlatka") as socket:
        pushed = json.loads(socket.recv(60))
    read = server.call("GET", "/v1/streams/shop/publications")[1]["publications"]
    for one in (pulled, pushed, *read):
        assert one["publication"]["attributes"] == {"price": "12.50"}
    given = {"filter": "price > 10", "publication": publication}
    explained = server.call("POST", "/v1/streams/shop/explain", given)[1]
    assert explained["reasons"][0]["seen"] == {"price": "12.5"}
    assert "Traceback" not in server.told()


def test_how_long_the_log_of_a_stream_is_kept(server: Server) -> None:
    path, schema = "/v1/streams/kept", {"schema": {"price": "float"}}
    status, stream = server.call("PUT", path, schema | {"keep": "60m"})
    assert (status, stream["keep"]) == (201, "1h")
    assert server.call("PUT", path, schema)[1]["keep"] == "1h"
    assert server.call("PUT", path, schema | {"keep": "7d"})[0] == 200
    assert server.call("GET", path)[1]["keep"] == "7d"
    every = server.call("GET", "/v1/streams")[1]["streams"]
    keeps = {one["name"]: one["keep"] for one in every}
    assert (keeps["kept"], keeps["default"]) == ("7d", None)
    assert server.call("PUT", path, schema | {"keep": "0s"})[1]["keep"] is None


def test_the_address_leads_to_everything(server: Server) -> None:
    status, links = server.call("GET", "/")
    assert status == 200
    assert {"/docs", "/healthz", "/metrics", "/v1/streams"} <= set(links.values())
    for path in links.values():
        assert server.call("GET", path)[0] == 200


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_stops_while_clients_wait(tmp_path: Path, number: signal.Signals) -> None:
    with serving(tmp_path, "--runner", "inline") as server:
        server.call("PUT", "/v1/subscribers/ana")
        with pushing(server, "ana") as socket:
            assert server.stop(number) == 0
            with pytest.raises(ConnectionClosed) as closed:
                socket.recv(30)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1001
    assert server.told() == ""
