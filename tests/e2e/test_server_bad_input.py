"""What a server answers to bad input: an error that names the place, and nothing is stored."""

import http.client
import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("fastapi")

from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tests.e2e.server import Server, serving

AIR = """
[attributes]
no2 = { type = "float", min = 0, max = 1000 }
city = "string"
level = { type = "string", values = ["low", "high"] }
seen = "timestamp"
count = "int"
"""
PATH = "/v1/streams/default/publications"
NOBODY = "/v1/subscribers/nobody"
UPSIDE_DOWN = {"type": "float", "min": 2, "max": 1}
JSON = "application/json"
NDJSON = "application/x-ndjson"
ANA = "/v1/subscribers/ana"
EXPLAIN = "/v1/streams/default/explain"
LONE_VALUE = rb'{"schema":{"a":{"type":"string","values":["\ud800"]}}}'
ARROW = "application/vnd.apache.arrow.stream"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("server")
    (folder / "air.toml").write_text(AIR)
    environ = {"WHERECAST__LIMITS__BODY_BYTES_MAX": "100000"}
    with serving(folder, "--runner", "inline", "--schema", "air.toml", environ=environ) as running:
        assert running.call("PUT", "/v1/subscribers/ana")[0] == 201
        yield running


def ends(server: Server) -> int:
    return int(server.call("GET", "/v1/streams/default")[1]["positions"]["ends"]["0"])


def one(attributes: str) -> bytes:
    return b'{"attributes": ' + attributes.encode() + b"}"


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"", 400, "malformed"),
        (b" \n", 400, "malformed"),
        (b'{"attributes": {"no2": 1', 400, "malformed"),
        (b"\xff\xfe", 400, "malformed"),
        (b'"text"', 400, "malformed"),
        (one('{"no2": NaN}'), 422, "not_finite"),
        (one('{"no2": Infinity}'), 422, "not_finite"),
        (one('{"no2": 1e999}'), 422, "out_of_range"),
        (one('{"count": ' + "9" * 5000 + "}"), 422, "out_of_range"),
        (one('{"count": 9223372036854775808}'), 422, "out_of_range"),
        (one('{"a":' * 10_000 + "1" + "}" * 10_000), 422, "too_deep"),
        (one('{"no2": 1, "no2": 2}'), 422, "duplicate_key"),
        (one('{"city": "\\ud800"}'), 422, "malformed"),
        (one("{" + ",".join(f'"a{n}": 1' for n in range(1001)) + "}"), 422, "too_many_attributes"),
        (one('{"no3": 1}'), 422, "unknown_attribute"),
        (one('{"no2": 1001}'), 422, "out_of_range"),
        (one('{"level": "mid"}'), 422, "not_listed"),
        (one('{"count": true}'), 422, "wrong_type"),
        (one('{"count": 5.5}'), 422, "wrong_type"),
        (one('{"seen": "2026-02-30T00:00:00Z"}'), 422, "bad_time"),
        (b"[" + b'{"attributes": {}},' * 10_000 + b'{"attributes": {}}]', 413, "too_large"),
    ],
)
def test_bad_publications(server: Server, body: bytes, status: int, code: str) -> None:
    before = ends(server)
    found, document = server.call("POST", PATH, body)
    assert (found, document["error"]["code"]) == (status, code), document
    assert document["error"]["message"]
    assert ends(server) == before


@pytest.mark.parametrize(
    "attributes",
    [
        '{"no2": -0.0}',
        '{"count": 5.0}',
        '{"count": 9007199254740993}',
        '{"seen": "2026-05-01T12:30:00"}',
        '{"city": "a\\u0000b"}',
        '{"CITY": "by case"}',
    ],
)
def test_odd_publications_are_taken(server: Server, attributes: str) -> None:
    status, document = server.call("POST", PATH, one(attributes))
    assert (status, document["accepted"]) == (202, 1), document


def test_a_bad_one_among_good_ones_has_its_own_verdict(server: Server) -> None:
    body = [{"attributes": {"count": 1}}, {"attributes": {"count": 1.5}}, {"attributes": {}}]
    status, document = server.call("POST", PATH, body)
    assert (status, document["accepted"], document["rejected"]) == (202, 2, 1)
    [error] = document["errors"]
    assert (error["index"], error["pointer"]) == (1, "/attributes/count")


def test_the_same_id_again(server: Server) -> None:
    given = {"attributes": {"count": 1}, "id": "twice"}
    assert server.call("POST", PATH, given)[0] == 202
    status, same = server.call("POST", PATH, given)
    assert (status, same["duplicates"], same["accepted"]) == (200, 1, 0)
    status, other = server.call("POST", PATH, given | {"attributes": {"count": 2}})
    assert (status, other["error"]["code"]) == (409, "conflict")
    status, mixed = server.call("POST", PATH, [given, {"attributes": {"count": 3}}])
    assert (status, mixed["duplicates"], mixed["accepted"]) == (202, 1, 1)


@pytest.mark.parametrize(
    ("body", "kind"),
    [(b"no Arrow", ARROW), (b"\n\n", NDJSON), (b"{}\n", "text/plain"), (b"{}", "")],
)
def test_bodies_of_other_kinds(server: Server, body: bytes, kind: str) -> None:
    status, document = server.call("POST", PATH, body, kind)
    assert status == (400 if kind in (ARROW, NDJSON) else 415), document


@pytest.mark.parametrize(
    ("filter", "status"),
    [
        ("", 422),
        ("no2 > (1", 422),
        ("no3 > 1", 422),
        ("city > 5", 422),
        (" AND ".join(["no2 > 1"] * 300), 422),
        ("(" * 1000 + "no2 > 1" + ")" * 1000, 422),
        (" AND ".join(f"(no2 = {n} OR count = {n})" for n in range(20)), 201),
        ("no2 > 5 AND no2 < 3", 201),
        ("no2 BETWEEN 5 AND 3", 201),
        ("city = '" + "x" * 50_000 + "'", 422),
        ("no2 > 1'; DROP TABLE entries; --", 422),
        ("__import__('os')", 422),
        ("no2 IN (SELECT 1)", 422),
        ("sleep(10) = 1", 422),
        ("no2 > NaN", 422),
        ("no2 ＞ 1", 422),
    ],
)
def test_bad_filters(server: Server, filter: str, status: int) -> None:
    path = f"/v1/subscribers/ana/subscriptions/f{abs(hash(filter))}"
    found, document = server.call("PUT", path, {"filter": filter})
    assert found == status, document
    if status == 201:
        assert "never match" in document["warnings"][0]
    else:
        assert document["error"]["pointer"] == "/filter"


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("POST", "/v1/streams/nowhere/publications", {"attributes": {}}, 404, "unknown_stream"),
        ("GET", "/v1/streams/defualt", None, 404, "unknown_stream"),
        ("GET", "/v1/nothing", None, 404, "not_found"),
        ("PATCH", PATH, None, 405, "method_not_allowed"),
        ("GET", "/v1/subscribers/nobody", None, 404, "unknown_subscriber"),
        ("GET", "/v1/subscribers/nobody/notifications", None, 404, "unknown_subscriber"),
        ("PUT", f"{NOBODY}/subscriptions/s", {"filter": "no2 > 1"}, 404, "unknown_subscriber"),
        ("POST", "/v1/subscribers/nobody/ack", {"through": "0" * 16}, 404, "unknown_subscriber"),
        ("DELETE", "/v1/subscribers/nobody", None, 404, "unknown_subscriber"),
        ("GET", "/v1/subscribers/ana/subscriptions/none", None, 404, "unknown_subscription"),
        ("PUT", "/v1/subscribers/ana/subscriptions/s", {"filters": "x"}, 422, "unknown_key"),
        ("PUT", "/v1/subscribers/ana/subscriptions/s", {}, 422, "missing"),
        ("PUT", "/v1/subscribers/ana/subscriptions/s", {"filter": 5}, 422, "wrong_type"),
        ("PUT", "/v1/subscribers/ana/subscriptions/s", [], 422, "wrong_type"),
        ("PUT", "/v1/subscribers/" + "x" * 257, None, 422, "bad_name"),
        ("GET", "/v1/subscribers/ana/notifications?max=0", None, 422, "bad_parameter"),
        ("GET", "/v1/subscribers/ana/notifications?max=many", None, 422, "bad_parameter"),
        ("GET", "/v1/subscribers/ana/notifications?max=1001", None, 422, "bad_parameter"),
        ("GET", "/v1/subscribers/ana/notifications?wait=nan", None, 422, "bad_parameter"),
        ("GET", "/v1/subscribers/ana/notifications?wait=1e9", None, 422, "bad_parameter"),
        ("POST", "/v1/subscribers/ana/ack", {"through": "x"}, 422, "bad_cursor"),
        ("POST", "/v1/subscribers/ana/ack", {"through": "7" + "f" * 15}, 409, "not_delivered"),
        ("POST", "/v1/subscribers/ana/ack", {"cursors": []}, 422, "wrong_type"),
        ("POST", "/v1/subscribers/ana/ack", {}, 422, "missing"),
        ("PUT", "/v1/streams/s2", {"schema": {"a": "text"}}, 422, "unknown_type"),
        ("PUT", "/v1/streams/s2", {"schema": {"a": UPSIDE_DOWN}}, 422, None),
        ("PUT", "/v1/streams/default", {"schema": {"a": "float"}}, 409, "other_schema"),
        ("PUT", "/v1/streams/s2", {"schema": {"a": "int"}, "keep": "long"}, 422, "bad_duration"),
        ("PUT", "/v1/streams/s2", {"schema": {"a": "int"}, "keep": "-1h"}, 422, "bad_duration"),
        ("PUT", "/v1/streams/s2", {"schema": {"a": "int"}, "keep": 5}, 422, "wrong_type"),
        ("PUT", "/v1/streams/s2", {"schema": {"a": "int"}, "kept": "1h"}, 422, None),
        ("PUT", "/v1/streams/@s2", {"schema": {"a": "int"}}, 422, "bad_name"),
        ("POST", "/v1/streams/@s2/publications", {"attributes": {}}, 422, "bad_name"),
        ("PUT", "/v1/subscribers/@b1", None, 422, "bad_name"),
        ("GET", "/v1/subscribers/@b1", None, 422, "bad_name"),
    ],
)  # fmt: skip
def test_other_requests(
    server: Server, method: str, path: str, body: Any, status: int, code: str | None
) -> None:
    found, document = server.call(method, path, body)
    assert found == status, document
    assert code in (None, document["error"]["code"]), document
    assert document["error"]["message"]


def test_a_large_body_is_refused_before_it_is_sent(server: Server) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.putrequest("POST", PATH)
    connection.putheader("Content-Type", "application/json")
    connection.putheader("Content-Length", str(10**12))
    connection.endheaders()
    assert connection.getresponse().status == 413
    connection.close()


def test_a_large_body_in_pieces_is_refused_while_it_is_sent(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", server.port), 60) as raw:
        head = f"POST {PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        raw.sendall(head.encode() + b"Transfer-Encoding: chunked\r\n\r\n")
        piece = b"4000\r\n" + b" " * 0x4000 + b"\r\n"
        for _ in range(8):
            raw.sendall(piece)
        assert raw.recv(1000).startswith(b"HTTP/1.1 413")


def test_a_publish_that_is_cut_short_stores_nothing(server: Server) -> None:
    before = ends(server)
    with socket.create_connection(("127.0.0.1", server.port), 60) as raw:
        body = one('{"count": 77}')
        head = f"POST {PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {NDJSON}\r\n"
        raw.sendall(head.encode() + f"Content-Length: {len(body) + 50}\r\n\r\n".encode() + body)
    assert server.call("GET", "/healthz")[0] == 200
    assert ends(server) == before


def test_connections_of_strangers_are_refused(server: Server) -> None:
    address = f"ws://127.0.0.1:{server.port}/v1/subscribers"
    for path, origin, status in (
        ("nobody/push", None, 404),
        ("ana/push?window=0", None, 422),
        ("ana/push?widnow=5", None, 422),
        ("ana/push", "http://example.com", 403),
        ("ana/psuh", None, 404),
        ("", None, 404),
    ):
        with pytest.raises(InvalidStatus) as refused:
            connect(f"{address}/{path}", origin=origin)  # type: ignore[arg-type]
        assert refused.value.response.status_code == status
        error = json.loads(refused.value.response.body or b"{}")["error"]
        assert (bool(error["code"]), bool(error["message"])) == (True, True)
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("GET", "/v1/streams", headers={"Host": "evil.example"})
    answer = connection.getresponse()
    assert answer.status == 403
    assert json.loads(answer.read())["error"]["code"] == "forbidden"
    connection.close()


def test_what_was_refused_is_counted_by_its_cause(server: Server) -> None:
    server.call("POST", PATH, one('{"no3": 1}'))
    server.call("POST", PATH, b"{")
    metrics = server.call("GET", "/metrics")[1]
    assert b'wherecast_publications_rejected_total{cause="unknown_attribute"}' in metrics
    assert b'wherecast_publish_requests_refused_total{cause="malformed"}' in metrics


def test_nothing_of_this_was_logged_as_a_fault(server: Server) -> None:
    assert "Traceback" not in server.told()


@pytest.mark.parametrize(
    ("method", "path", "body", "kind", "status", "code"),
    [
        ("PUT", "/v1/subscribers/%ff", b"", JSON, 400, "malformed"),
        ("PUT", f"{ANA}/subscriptions?replace=true", b"", NDJSON, 400, "malformed"),
        ("PUT", "/v1/streams/s3", rb'{"schema":{"\ud800":"float"}}', JSON, 422, None),
        ("PUT", "/v1/streams/s3", LONE_VALUE, JSON, 422, None),
        ("POST", EXPLAIN, b'{"filter":"no2 > 1","publication":{"no2":NaN}}', JSON, 422,
         "not_finite"),
        ("POST", EXPLAIN, b'{"filter":"no2 > 1","publication":{"no2":1,"no2":2}}', JSON, 422,
         "duplicate_key"),
        ("POST", f"{ANA}/ack", b'{"cursors":[NaN]}', JSON, 422, "not_finite"),
        ("POST", PATH, b'{"attributes":{"no2":1,"NO2":2}}', JSON, 422, "conflict"),
    ],
)  # fmt: skip
def test_odd_bytes(
    server: Server, method: str, path: str, body: bytes, kind: str, status: int, code: str | None
) -> None:
    found, document = server.call(method, path, body, kind)
    assert found == status, document
    assert code is None or document["error"]["code"] == code, document
    assert "Unreadable" not in str(document)


def test_a_bad_id_among_many_has_its_verdict(server: Server) -> None:
    lines = b'{"id":"good","filter":"no2 > 990"}\n{"id":"b\\ud800","filter":"no2 > 1"}\n'
    status, document = server.call("PUT", f"{ANA}/subscriptions", lines, NDJSON)
    assert (status, document["created"], document["rejected"]) == (200, 1, 1)


@pytest.mark.parametrize("start", [b"GET /", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: "])
def test_a_head_without_end_is_refused_before_it_is_kept(server: Server, start: bytes) -> None:
    with socket.create_connection(("127.0.0.1", server.port), 60) as raw:
        raw.sendall(start)
        sent = 0
        try:
            while sent < 50 << 20:
                raw.sendall(b"a" * 10_000)
                sent += 10_000
        except OSError:
            pass
        assert sent < 50 << 20


def test_a_head_that_is_too_long_is_told_so(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", server.port), 60) as raw:
        raw.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ")
        raw.sendall(b"a" * 70_000)
        told = raw.recv(10_000)
        assert told.startswith(b"HTTP/1.1 431 ")
        assert b"longer than 65536 bytes" in told


def test_long_heads_within_the_limit_pass_on_one_connection(server: Server) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    for _ in range(20):
        connection.request("GET", "/healthz", headers={"X": "a" * 30_000})
        assert connection.getresponse().read() == b'{"status":"ok"}'
    connection.close()
