"""Publications on their way in: read with the schema of their stream, made ready for the log."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.types as kinds

from wherecast.columns import Rejection, decode_rows
from wherecast.columns.encoded import encode_batch
from wherecast.columns.held import held
from wherecast.gateway.digests import row_digests
from wherecast.language.vectors import array_of, filled
from wherecast.model import DEFAULT_LIMITS, Limits, Publication, Schema
from wherecast.model.times import time_micros
from wherecast.model.values import describe, is_text
from wherecast.store.records import ENVELOPES, Publications

_ID_CHARACTERS_MAX = 256
_FIRST_US, _LAST_US = (
    time_micros(moment.replace(tzinfo=UTC)) for moment in (datetime.min, datetime.max)
)


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """Publications of one call, told apart.

    Attributes:
        good: those that can be appended.
        rows: where each of them stood in the call; int64, shape (n,).
        rejected: every problem of every other one, sorted by row.
    """

    good: Publications
    rows: npt.NDArray[np.int64]
    rejected: tuple[Rejection, ...]


def prepare(
    given: Sequence[Publication], stream: str, schema: Schema, limits: Limits = DEFAULT_LIMITS
) -> Prepared:
    """Publications as a log takes them, and why some are refused."""
    decoded = decode_rows([one.attributes for one in given], schema, limits)
    refused = [
        Rejection(row, code, text)
        for row, one in enumerate(given)
        for code, text in _problems(one, limits)
    ]
    batch, rows = decoded.batch, decoded.rows
    refused.extend(_untold_times(batch, rows))
    if refused:
        kept = ~np.isin(rows, [rejection.row for rejection in refused])
        batch, rows = batch.filter(array_of(kept)), rows[kept]
    good = [given[row] for row in rows.tolist()]
    rejected = sorted((*decoded.rejected, *refused), key=lambda rejection: rejection.row)
    envelopes = _envelopes(good)
    digests = row_digests(batch, envelopes.column("payload"), stream)
    publications = Publications(stream, encode_batch(batch, schema), envelopes, digests)
    return Prepared(publications, rows, tuple(rejected))


def _problems(one: Publication, limits: Limits) -> Iterator[tuple[str, str]]:
    """What is wrong with a publication beside its attributes."""
    if one.valid_for is not None:
        yield "not_supported", "valid_for is not supported yet; leave it out"
    if one.payload is not None:
        given: object = one.payload
        if not isinstance(given, bytes):
            yield "wrong_type", f"payload is bytes, not {describe(given)}"
        elif len(one.payload) > limits.payload_bytes_max:
            most = limits.payload_bytes_max
            yield "too_large", f"payload has {len(one.payload)} bytes, the limit is {most}"
    if one.published_at is not None:
        moment: object = one.published_at
        if not isinstance(moment, datetime):
            yield "bad_time", f"published_at is a datetime, not {describe(moment)}"
        elif not _FIRST_US <= time_micros(moment) <= _LAST_US:
            yield "bad_time", "published_at is not of the years 1 to 9999, in UTC"
    if one.id is not None and not _is_id(one.id):
        most = _ID_CHARACTERS_MAX
        yield "wrong_type", f"id is a string of 1 to {most} characters, not {describe(one.id)}"


def _untold_times(batch: pa.RecordBatch, rows: npt.NDArray[np.int64]) -> Iterator[Rejection]:
    """Rows with a time that could be compared, but not be given to a receiver."""
    for field, column in zip(batch.schema, batch.columns, strict=True):
        if kinds.is_timestamp(field.type) or kinds.is_date(field.type):
            moments = filled(held(column), 0)
            outside = (moments < _FIRST_US) | (moments > _LAST_US)
            for row in rows[outside].tolist():
                text = f"attribute {field.name}: the time is not of the years 1 to 9999, in UTC"
                yield Rejection(row, "out_of_range", text, field.name)


def _is_id(id: object) -> bool:
    return isinstance(id, str) and 0 < len(id) <= _ID_CHARACTERS_MAX and is_text(id)


def _envelopes(good: Sequence[Publication]) -> pa.RecordBatch:
    columns: list[list[object]] = [
        [one.id for one in good],
        [one.published_at for one in good],
        [one.payload for one in good],
    ]
    arrays = [pa.array(column, ENVELOPES[place].type) for place, column in enumerate(columns)]
    return pa.RecordBatch.from_arrays(arrays, schema=ENVELOPES)
