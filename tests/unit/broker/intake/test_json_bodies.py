"""Publication objects become columns; each bad one is told with its place."""

import base64
import json
from typing import Any

import pyarrow as pa
import pytest

import wherecast as wc
from wherecast.broker.intake.intake import PreparedPublications, prepare
from wherecast.broker.intake.json_bodies import prepare_objects, read_objects
from wherecast.columns.log_encoding import decode_batch
from wherecast.model import Limits

SCHEMA = wc.Schema.from_dict({"no2": {"type": "float", "min": 0, "max": 1000}, "n": "int"})


def prepared(body: Any, limits: Limits = Limits()) -> PreparedPublications:  # noqa: B008
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    return prepare_objects(read_objects(text, True, 100, limits), "air", SCHEMA, limits)


def verdicts(body: Any) -> list[tuple[int, str, str | None]]:
    """Row, code, and what it is about."""
    return [(bad.row, bad.code, bad.attribute or bad.key) for bad in prepared(body).rejected]


def test_an_object_is_read_as_a_publication_of_the_same_content_is() -> None:
    at = "2026-05-01T12:30:00Z"
    given = {"attributes": {"no2": 1, "n": 2}, "id": "a", "payload": "aGk=", "published_at": at}
    ours = prepared([given, {"attributes": {"n": 3}}])
    theirs = prepare([wc.Publication.from_dict(given), wc.Publication({"n": 3})], "air", SCHEMA)
    assert ours.good.attributes == theirs.good.attributes
    assert ours.good.headers.equals(theirs.good.headers)
    assert ours.good.payloads.equals(theirs.good.payloads)
    assert ours.good.digests.tolist() == theirs.good.digests.tolist()
    assert ours.rows.tolist() == [0, 1]


def test_good_ones_among_bad_ones_are_kept() -> None:
    body = (
        b'{"attributes":{"n":1},"id":"a"}\n[]\n\n{"attributes":{"n":2.5}}\n{"attributes":{"n":3}}'
    )
    publishers = pa.array(["p", "q", None, "r"])
    objects = read_objects(body, False, 100)
    found = prepare_objects(objects, "air", SCHEMA, publishers=publishers)
    assert found.rows.tolist() == [0, 3]
    assert found.good.headers.column("publisher").to_pylist() == ["p", "r"]
    assert decode_batch(found.good.attributes, SCHEMA).column("n").to_pylist() == [1, 3]
    assert found.good.headers.column("id").to_pylist() == ["a", None]
    assert [bad.row for bad in found.rejected] == [1, 2]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'{"attributes": {"n": 1}, "id": ""}', (0, "wrong_type", "id")),
        (b'{"attributes": {"n": 1}, "id": 5}', (0, "wrong_type", "id")),
        (b'{"attributes": {"n": 1}, "id": "\\ud800"}', (0, "wrong_type", "id")),
        (b'{"attributes": {"n": 1}, "id": NaN}', (0, "not_finite", "id")),
        (b'{"attributes": {"n": 1}, "id": "a", "id": "b"}', (0, "duplicate_key", "id")),
        (b'{"attributes": {"n": 1, "n": 2}}', (0, "duplicate_key", "n")),
        (b'{"attributes": {"no2": NaN}}', (0, "not_finite", "no2")),
        (b'{"attributes": {"no2": 1e999}}', (0, "out_of_range", "no2")),
        (b'{"attributes": {"n": 9223372036854775808}}', (0, "out_of_range", "n")),
        (b'{"attributes": {"no2": 1001}}', (0, "out_of_range", "no2")),
        (b'{"attributes": {"n": true}}', (0, "wrong_type", "n")),
        (b'{"attributes": {"x": 1}}', (0, "unknown_attribute", "x")),
        (b'{"attributes": []}', (0, "wrong_type", "attributes")),
        (b'{"attributes": {"n": 1}, "ids": "a"}', (0, "unknown_key", "ids")),
        (b"{}", (0, "missing", "attributes")),
        (b'{"attributes": {}, "payload": "*"}', (0, "malformed", "payload")),
        (b'{"attributes": {}, "payload": 1}', (0, "wrong_type", "payload")),
        (b'{"attributes": {}, "published_at": "2026-02-30"}', (0, "bad_time", "published_at")),
        (b'{"attributes": {}, "published_at": 5}', (0, "wrong_type", "published_at")),
        (b'{"attributes": {}, "valid_for": "1h"}', (0, "not_supported", "valid_for")),
        (b"[5]", (0, "malformed", None)),
        (b'{"attributes":' + b'{"a":' * 10_000 + b"1" + b"}" * 10_001, (0, "too_deep", None)),
        (b'{"attributes": {"n": ' + b"1" * 5_000 + b"}}", (0, "out_of_range", "n")),
    ],
)
def test_each_fault_has_its_verdict(body: bytes, expected: tuple[int, str, str | None]) -> None:
    assert verdicts(body) == [expected]


def test_what_looks_odd_is_taken() -> None:
    odd = [{"attributes": {"n": 5.0, "no2": -0.0}}, {"attributes": {"n": 2**53 + 1, "no2": None}}]
    found = prepared(odd)
    assert not found.rejected
    rows = decode_batch(found.good.attributes, SCHEMA).to_pylist()
    assert rows == [{"no2": 0.0, "n": 5}, {"no2": None, "n": 2**53 + 1}]


@pytest.mark.parametrize("body", [b"", b"  ", b"{", b'"text"', b'{"attributes": {"n": 1}', b"\xff"])
def test_what_is_no_json_is_refused_as_a_whole(body: bytes) -> None:
    with pytest.raises(wc.PublicationError):
        prepared(body)


def test_limits_are_those_that_are_given() -> None:
    text = base64.b64encode(b"abcd").decode()
    found = prepared({"attributes": {}, "payload": text}, Limits(payload_bytes_max=3))
    assert [bad.code for bad in found.rejected] == ["too_large"]
    with pytest.raises(wc.PublicationError, match=r"101 publications .*limits.publications_max"):
        prepared([{"attributes": {}}] * 101)
