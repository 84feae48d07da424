"""Publications on their way in: read with the schema of their stream, made ready for the log."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.types as kinds

from wherecast.arrays.vectors import array_of, filled
from wherecast.broker.intake.digests import row_digests
from wherecast.columns import Decoded, Rejection, decode_rows
from wherecast.columns.comparable import held
from wherecast.columns.log_encoding import encode_batch
from wherecast.model import DEFAULT_LIMITS, Limits, Publication, Schema
from wherecast.model.times import time_micros
from wherecast.model.values import describe, is_text
from wherecast.store.records import HEADERS, PAYLOAD, Publications

ID_CHARACTERS_MAX = 256
FIRST_US, LAST_US = (
    time_micros(moment.replace(tzinfo=UTC)) for moment in (datetime.min, datetime.max)
)

Rows = npt.NDArray[np.int64]
HeadersOf = Callable[[Rows], tuple[pa.RecordBatch, pa.Array]]
"""Gives the batch of `HEADERS` and the payloads of some rows of a call."""


@dataclass(frozen=True, slots=True, eq=False)
class PreparedPublications:
    """Publications of one call, the good ones apart from the bad ones.

    Attributes:
        good: the publications that can be appended.
        batch: the attributes of the good ones.
        rows: the rows of the good ones in the call; int64, shape (n,).
        rejected: every problem of every bad one, sorted by row.
    """

    good: Publications
    batch: pa.RecordBatch
    rows: Rows
    rejected: tuple[Rejection, ...]


def prepare(
    given: Sequence[Publication],
    stream: str,
    schema: Schema,
    limits: Limits = DEFAULT_LIMITS,
    publisher: str = "",
) -> PreparedPublications:
    """Publications as a log takes them, and why some are refused.

    Args:
        given: the publications.
        stream: where they are published.
        schema: of the stream.
        limits: of what each may be.
        publisher: who publishes them, whatever name they carry; empty: no name.
    """
    decoded = decode_rows([one.attributes for one in given], schema, limits)
    refused = [
        Rejection(row, code, text, key=key)
        for row, one in enumerate(given)
        for key, code, text in _problems(one, limits)
    ]

    def headers_of(rows: Rows) -> tuple[pa.RecordBatch, pa.Array]:
        good = [given[row] for row in rows.tolist()]
        ids, moments = [one.id for one in good], [one.published_at for one in good]
        headers = headers_batch(
            pa.array(ids, pa.string()),
            pa.array(moments, HEADERS.field("published_at").type),
            publishers_of(publisher, len(good)),
        )
        return headers, pa.array([one.payload for one in good], PAYLOAD)

    return complete(decoded, refused, headers_of, stream, schema)


def complete(
    decoded: Decoded,
    refused: Iterable[Rejection],
    headers_of: HeadersOf,
    stream: str,
    schema: Schema,
) -> PreparedPublications:
    """Decoded publications with their headers and payloads, as a log takes them.

    Args:
        decoded: the attributes.
        refused: problems beside the attributes.
        headers_of: gives the headers and payloads of the good rows.
        stream: the stream of the publications.
        schema: the schema of the stream.
    """
    batch, rows = decoded.batch, decoded.rows
    more = [*refused, *_unrepresentable_times(batch, rows)]
    if more:
        kept = ~np.isin(rows, [rejection.row for rejection in more])
        batch, rows = batch.filter(array_of(kept)), rows[kept]
    headers, payloads = headers_of(rows)
    digests = row_digests(batch, payloads, stream)
    publications = Publications(stream, encode_batch(batch, schema), headers, payloads, digests)
    rejected = sorted((*decoded.rejected, *more), key=lambda rejection: rejection.row)
    return PreparedPublications(publications, batch, rows, tuple(rejected))


def headers_batch(ids: pa.Array, moments: pa.Array, publishers: pa.Array | None) -> pa.RecordBatch:
    """The batch of `HEADERS` of what publishers give; None: no publisher has a name."""
    given = {"id": ids, "published_at": moments}
    if publishers is not None:
        given["publisher"] = publishers
    columns = [
        given[one.name] if one.name in given else pa.nulls(len(ids), one.type) for one in HEADERS
    ]
    return pa.RecordBatch.from_arrays(columns, schema=HEADERS)


def publishers_of(name: str, count: int) -> pa.Array | None:
    """A publisher's name for each of so many publications; None without a name."""
    return pa.repeat(pa.scalar(name, pa.string()), count) if name else None


def id_problem(id: object) -> str | None:
    """The reason why a publication cannot have an id; None if it can."""
    if isinstance(id, str) and 0 < len(id) <= ID_CHARACTERS_MAX and is_text(id):
        return None
    return f"id is a string of 1 to {ID_CHARACTERS_MAX} characters, not {describe(id)}"


def payload_problem(payload: bytes, limits: Limits) -> str | None:
    """The reason why a payload is refused; None if it is accepted."""
    most = limits.payload_bytes_max
    if len(payload) <= most:
        return None
    return f"payload has {len(payload)} bytes, the limit is {most}"


def _problems(one: Publication, limits: Limits) -> Iterator[tuple[str, str, str]]:
    """The problems of a publication beside its attributes: pointer, code and sentence of each."""
    if one.valid_for is not None:
        yield "valid_for", "not_supported", "valid_for is not supported yet; leave it out"
    if one.payload is not None:
        given: object = one.payload
        if not isinstance(given, bytes):
            yield "payload", "wrong_type", f"payload is bytes, not {describe(given)}"
        elif (problem := payload_problem(given, limits)) is not None:
            yield "payload", "too_large", problem
    if one.published_at is not None:
        moment: object = one.published_at
        if not isinstance(moment, datetime):
            yield "published_at", "bad_time", f"published_at is a datetime, not {describe(moment)}"
        elif not FIRST_US <= time_micros(moment) <= LAST_US:
            text = "published_at is not of the years 1 to 9999, in UTC"
            yield "published_at", "bad_time", text
    if one.id is not None and (problem := id_problem(one.id)) is not None:
        yield "id", "wrong_type", problem


def _unrepresentable_times(batch: pa.RecordBatch, rows: Rows) -> Iterator[Rejection]:
    """Rows with a time that filters can compare but receivers cannot represent."""
    for field, column in zip(batch.schema, batch.columns, strict=True):
        if kinds.is_timestamp(field.type) or kinds.is_date(field.type):
            moments = filled(held(column), 0)
            outside = (moments < FIRST_US) | (moments > LAST_US)
            for row in rows[outside].tolist():
                text = f"attribute {field.name}: the time is not of the years 1 to 9999, in UTC"
                yield Rejection(row, "out_of_range", text, field.name)
