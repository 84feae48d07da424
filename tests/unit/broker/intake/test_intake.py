"""Publications are read with their schema; what is refused is told with its place."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

import wherecast as wc
from wherecast.broker.intake.intake import prepare
from wherecast.columns.log_encoding import decode_batch
from wherecast.model import Limits
from wherecast.store.records import HEADERS

SCHEMA = wc.Schema.from_dict({"no2": "float", "n": "int"})


def test_good_ones_keep_their_order_and_know_where_they_stood() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    given = [
        wc.Publication({"no2": 1}, "a", b"x", at),
        wc.Publication({"no2": "much", "n": 1.5}),
        wc.Publication({"no2": 2.0}, ""),
        wc.Publication({"n": 3}),
    ]
    prepared = prepare(given, "air", SCHEMA)
    assert prepared.rows.tolist() == [0, 3]
    assert [(bad.row, bad.attribute) for bad in prepared.rejected] == [
        (1, "no2"),
        (1, "n"),
        (2, None),
    ]
    good = prepared.good
    assert good.stream == "air"
    assert decode_batch(good.attributes, SCHEMA).to_pylist() == [
        {"no2": 1.0, "n": None},
        {"no2": None, "n": 3},
    ]
    nothing = dict.fromkeys(HEADERS.names)
    assert good.headers.to_pylist() == [nothing | {"id": "a", "published_at": at}, nothing]
    assert good.payloads.to_pylist() == [b"x", None]


def digest(attributes: object, payload: bytes | None = None) -> int:
    given = [wc.Publication(attributes, "x", payload)]  # type: ignore[arg-type]
    return int(prepare(given, "air", SCHEMA).good.digests[0])


def test_a_digest_tells_bodies_apart_as_they_are_read() -> None:
    one = digest({"no2": 1.0, "n": 2})
    assert digest({"n": 2.0, "no2": 1}) == one
    assert digest({"no2": 1.0, "n": 2}, b"") != one
    assert (
        len({one, digest({"no2": 1.0}), digest({"n": 2}), digest({"no2": 1.0, "n": 2}, b"x")}) == 4
    )


def test_limits_are_those_that_are_given() -> None:
    limits = Limits(payload_bytes_max=3)
    given = [wc.Publication({}, payload=b"abc"), wc.Publication({}, payload=b"abcd")]
    prepared = prepare(given, "air", SCHEMA, limits)
    [bad] = prepared.rejected
    assert (bad.row, bad.code) == (1, "too_large")
    assert bad.message == "payload has 4 bytes, the limit is 3"


@pytest.mark.parametrize("given", [[], [wc.Publication({"x": 1})]])
def test_there_may_be_none(given: list[wc.Publication]) -> None:
    prepared = prepare(given, "air", SCHEMA, publisher="station-7")
    assert len(prepared.rows) == 0
    assert prepared.good.headers.num_rows == len(prepared.good.payloads) == 0


def test_the_publisher_is_who_publishes() -> None:
    given = [wc.Publication({"n": 1}), wc.Publication({"n": 2}, publisher="another")]
    good = prepare(given, "air", SCHEMA, publisher="station-7").good
    assert good.headers.column("publisher").to_pylist() == ["station-7"] * 2
    assert prepare(given, "air", SCHEMA).good.headers.column("publisher").null_count == 2


def test_times_that_no_receiver_could_hold_are_refused() -> None:
    schema = wc.Schema.from_dict({"t": "timestamp"})
    given = [
        wc.Publication({"t": "9999-12-31T23:59:59-12:00"}),
        wc.Publication({"t": "9999-12-31T23:59:59Z"}),
        wc.Publication({}, published_at=datetime.max.replace(tzinfo=timezone(-timedelta(hours=1)))),
    ]
    prepared = prepare(given, "air", schema)
    assert [(bad.row, bad.code) for bad in prepared.rejected] == [
        (0, "out_of_range"),
        (2, "bad_time"),
    ]
    assert prepared.rows.tolist() == [1]


def test_a_body_on_another_stream_is_another_body() -> None:
    one = [wc.Publication({"no2": 1.0}, "x")]
    digests = {int(prepare(one, stream, SCHEMA).good.digests[0]) for stream in ("air", "water")}
    assert len(digests) == 2
