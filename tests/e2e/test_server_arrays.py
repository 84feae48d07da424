"""Arrays over HTTP: what is published comes back the same; a bad element is named."""

import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

pytest.importorskip("fastapi")

from tests.e2e.server import Server, serving
from tests.spark.services import until

SCHEMA = {
    "n": "int", "tags": "array<string>", "counts": "array<int>", "levels": "array<float>",
}  # fmt: skip
ROWS: list[dict[str, Any]] = [
    {"n": 1, "tags": ["a", None, "čaj"], "counts": [1, 2**53 + 1, None], "levels": [0.5, 1.0]},
    {"n": 2, "tags": [], "levels": [None]},
    {"n": 3},
]
NDJSON, ARROW = "application/x-ndjson", "application/vnd.apache.arrow.stream"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("server")
    environ = {"WHERECAST__LIMITS__ARRAY_ELEMENTS_MAX": "5"}
    with serving(folder, "--runner", "inline", environ=environ) as running:
        yield running


def stream(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as out:
        out.write_table(table)
    return bytes(sink.getvalue())


def bodies() -> dict[str, tuple[Any, str]]:
    objects = [{"attributes": row} for row in ROWS]
    columns = {name: [row.get(name) for row in ROWS] for name in SCHEMA}
    return {
        "json": (objects, "application/json"),
        "ndjson": ("\n".join(map(json.dumps, objects)).encode(), NDJSON),
        "arrow": (stream(pa.table(columns)), ARROW),
        "objects": (stream(pa.table({"attributes": pa.array(ROWS)})), ARROW),
    }


def all_of(server: Server, path: str) -> list[Any] | None:
    """The notifications of all rows, once they are there."""
    found: list[Any] = server.call("GET", path)[1]["notifications"]
    return found if len(found) == len(ROWS) else None


@pytest.mark.parametrize("way", ["json", "ndjson", "arrow", "objects"])
def test_what_is_published_comes_back(server: Server, way: str) -> None:
    assert server.call("PUT", f"/v1/streams/{way}", {"schema": SCHEMA})[0] == 201
    assert server.call("GET", f"/v1/streams/{way}")[1]["schema"]["attributes"] == SCHEMA
    assert server.call("PUT", f"/v1/subscribers/{way}")[0] == 201
    asked = {"filter": "n > 0", "stream": way}
    assert server.call("PUT", f"/v1/subscribers/{way}/subscriptions/s1", asked)[0] == 201
    body, kind = bodies()[way]
    status, done = server.call("POST", f"/v1/streams/{way}/publications", body, kind)
    assert (status, done["accepted"]) == (202, 3), done
    path = f"/v1/subscribers/{way}/notifications?max=3&wait=1"
    found = until("the notifications", lambda: all_of(server, path), 60)
    assert [one["publication"]["attributes"] for one in found] == ROWS
    _, logged = server.call("GET", f"/v1/streams/{way}/publications?from=0")
    assert [one["publication"]["attributes"] for one in logged["publications"]] == ROWS


@pytest.fixture(scope="module")
def path(server: Server) -> str:
    assert server.call("PUT", "/v1/streams/bad", {"schema": SCHEMA})[0] == 201
    return "/v1/streams/bad/publications"


BAD = {
    b'{"tags": ["a", "b", 3]}': ("wrong_type", "/attributes/tags/2"),
    b'{"tags": ["a", ["b"]]}': ("wrong_type", "/attributes/tags/1"),
    b'{"tags": "a"}': ("wrong_type", "/attributes/tags"),
    b'{"tags": ["a", "\\ud800"]}': ("malformed", "/attributes/tags/1"),
    b'{"counts": [0, 9223372036854775808]}': ("out_of_range", "/attributes/counts/1"),
    b'{"levels": [0, NaN]}': ("not_finite", "/attributes/levels/1"),
    b'{"counts": [1, 2, 3, 4, 5, 6]}': ("too_many_elements", "/attributes/counts"),
}


@pytest.mark.parametrize(("text", "wanted"), BAD.items(), ids=range(len(BAD)))
def test_a_bad_element_is_named(
    server: Server, path: str, text: bytes, wanted: tuple[str, str]
) -> None:
    body = b'{"attributes": {"n": 1}}\n{"attributes": %s}\n' % text
    status, done = server.call("POST", path, body, NDJSON)
    assert (status, done["accepted"], done["rejected"]) == (202, 1, 1)
    [error] = done["errors"]
    assert (error["index"], error["code"], error["pointer"]) == (1, *wanted)


def test_a_bad_element_of_an_arrow_stream_is_named(server: Server, path: str) -> None:
    levels = pa.array([[1.0], [0.0, float("nan"), float("inf")], None], pa.list_(pa.float64()))
    counts = pa.array([[1], [2], [0] * 6], pa.large_list(pa.int32()))
    body = stream(pa.table({"levels": levels, "counts": counts}))
    status, done = server.call("POST", path, body, ARROW)
    assert (status, done["accepted"]) == (202, 1)
    assert [(one["index"], one["code"], one["pointer"]) for one in done["errors"]] == [
        (1, "not_finite", "/attributes/levels/1"),
        (2, "too_many_elements", "/attributes/counts"),
    ]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([[["a"]]]), pa.array([[True]]), pa.array([["a"]], pa.list_(pa.string_view())),
        pa.array([["a"]], pa.list_view(pa.string())),
    ],
    ids=["nested", "bools", "views", "list views"],
)  # fmt: skip
def test_arrow_lists_that_are_not_taken(server: Server, path: str, column: pa.Array) -> None:
    status, found = server.call("POST", path, stream(pa.table({"tags": column})), ARROW)
    assert (status, found["error"]["code"]) == (422, "wrong_type")
    assert "column tags is" in found["error"]["message"]


def test_elements_that_expand_a_thousandfold_are_refused(server: Server, path: str) -> None:
    words = pa.DictionaryArray.from_arrays(
        pa.array([0] * 50_000, pa.int8()), pa.array(["x" * 2_000])
    )
    lists = pa.ListArray.from_arrays(pa.array(range(0, 50_001, 5), pa.int32()), words)
    status, found = server.call("POST", path, stream(pa.table({"tags": lists})), ARROW)
    assert (status, found["error"]["code"]) == (422, "too_large")
    assert "column tags has more than" in found["error"]["message"]
    status, found = server.call("POST", path, stream(pa.table({"tags": lists[:10]})), ARROW)
    assert (status, found["accepted"]) == (202, 10)


def test_an_explanation_names_the_element(server: Server, path: str) -> None:
    asked = {"filter": "n = 1", "publication": {"attributes": {"n": 1, "tags": ["a", 2]}}}
    status, found = server.call("POST", "/v1/streams/bad/explain", asked)
    assert (status, found["error"]["pointer"]) == (422, "/publication/attributes/tags/1")
    asked = {"filter": "n = 1", "publication": {"n": 1, "tags": ["a"]}}
    assert server.call("POST", "/v1/streams/bad/explain", asked)[1]["matched"] is True


def test_a_domain_of_an_array_is_refused(server: Server) -> None:
    schema = {"tags": {"type": "array<string>", "values": ["a"]}}
    status, found = server.call("PUT", "/v1/streams/domain", {"schema": schema})
    assert status == 422
    assert "values is not supported for arrays" in found["error"]["message"]
