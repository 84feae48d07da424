"""Arrow streams are taken as columns; what is dangerous or wrong is refused before it is used."""

import io
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest

import wherecast as wc
from wherecast.broker.intake.arrow_bodies import prepare_arrow
from wherecast.broker.intake.arrow_outline import StreamOutline, outline_of
from wherecast.broker.intake.intake import PreparedPublications
from wherecast.columns.log_encoding import decode_batch
from wherecast.model import Limits
from wherecast.store.records import HEADERS

SCHEMA = wc.Schema.from_dict({"no2": "float", "city": "string", "sensor.id": "int"})


def stream(table: pa.Table, **options: Any) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as out:
        out.write_table(table)
    return sink.getvalue()


def prepared(body: bytes | pa.Table, rows_max: int = 100) -> PreparedPublications:
    given = body if isinstance(body, bytes) else stream(body)
    return prepare_arrow(given, "air", SCHEMA, rows_max, Limits(payload_bytes_max=3))


def test_columns_are_attributes() -> None:
    found = prepared(pa.table({"no2": [1, 2], "sensor": pa.array([{"id": 5}, None])}))
    assert decode_batch(found.good.attributes, SCHEMA).to_pylist() == [
        {"no2": 1.0, "city": None, "sensor.id": 5},
        {"no2": 2.0, "city": None, "sensor.id": None},
    ]
    assert found.good.headers.column("id").null_count == 2


def test_publication_objects_have_their_headers_and_payloads() -> None:
    at = datetime(2026, 5, 1, tzinfo=UTC)
    table = pa.table(
        {
            "attributes": pa.array([{"no2": 1.0}, {"no2": 2.0}]),
            "id": ["a", None],
            "payload": [b"hi", None],
            "published_at": [at, None],
        }
    )
    good = prepared(table).good
    nothing = dict.fromkeys(HEADERS.names)
    assert good.headers.to_pylist() == [nothing | {"id": "a", "published_at": at}, nothing]
    assert good.payloads.to_pylist() == [b"hi", None]


def test_the_publisher_is_that_of_the_request() -> None:
    table = pa.table({"no2": [1, 2]})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    found = prepare_arrow(sink.getvalue().to_pybytes(), "air", SCHEMA, 9, publisher="station-7")
    assert found.good.headers.column("publisher").to_pylist() == ["station-7"] * 2


def test_bad_rows_are_told() -> None:
    table = pa.table(
        {
            "attributes": pa.array(
                [{"no2": 1.0}, {"no2": float("nan")}, {"no2": 2.0}, {"no2": 3.0}]
            ),
            "id": ["a", "b", "", "d"],
            "payload": [b"hi", None, None, b"long"],
        }
    )
    found = prepared(table)
    assert found.rows.tolist() == [0]
    assert [(bad.row, bad.code, bad.attribute or bad.key) for bad in found.rejected] == [
        (1, "not_finite", "no2"),
        (2, "wrong_type", "id"),
        (3, "too_large", "payload"),
    ]


def test_packed_streams_are_refused_unread() -> None:
    table = pa.table({"no2": [0.0] * 100})
    assert outline_of(stream(table)).is_packed is False
    for codec in ("lz4", "zstd"):
        body = stream(table, compression=codec)
        assert outline_of(body).is_packed
        with pytest.raises(wc.PublicationError, match="compressed"):
            prepared(body)
    words = pa.table({"city": pa.array(["Split"] * 50).dictionary_encode()})
    assert outline_of(stream(words, compression="zstd")).is_packed
    assert outline_of(stream(words)) == StreamOutline(50, False)


def test_rows_are_counted_before_they_are_read() -> None:
    assert outline_of(stream(pa.table({"no2": [1.0] * 100}))).rows == 100
    with pytest.raises(wc.PublicationError, match=r"limits.publications_max"):
        prepared(pa.table({"no2": [1.0] * 101}))


def test_a_column_that_would_grow_is_refused() -> None:
    long = pa.DictionaryArray.from_arrays(pa.array([0] * 90, pa.int8()), ["x" * (1 << 20)])
    with pytest.raises(wc.PublicationError, match="city has more than"):
        prepared(pa.table({"city": long}))
    with pytest.raises(wc.PublicationError, match="not taken"):
        prepared(pa.table({"city": pa.array(["x"], pa.string_view())}))
    short = pa.array(["Split", "Zagreb", "Split"]).dictionary_encode()
    assert prepared(pa.table({"city": short})).rows.tolist() == [0, 1, 2]


@pytest.mark.parametrize("cut", [0, 3, 8, 100, 250, -10])
def test_what_is_no_stream_is_refused(cut: int) -> None:
    body = stream(pa.table({"no2": [1.0, 2.0]}))
    with pytest.raises(wc.PublicationError, match="no Arrow stream"):
        prepared(body[:cut])


def test_flipped_bits_never_do_worse_than_a_refusal() -> None:
    body = stream(pa.table({"no2": [1.0, 2.0], "city": ["a", "b"]}))
    for place in range(len(body)):
        broken = bytearray(body)
        broken[place] ^= 0xFF
        with suppress(wc.WherecastError):
            prepared(bytes(broken))


def test_columns_that_a_closed_schema_lacks_are_refused() -> None:
    with pytest.raises(wc.SchemaError, match=r"unknown attribute no3; did you mean no2\?"):
        prepared(pa.table({"no3": [1.0]}))
    with pytest.raises(wc.SchemaError, match="column id is int64"):
        prepared(pa.table({"attributes": pa.array([{"no2": 1.0}]), "id": [5]}))
