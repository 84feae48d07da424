"""Publications on their way in: read with the schema of their stream, made ready for the log."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.columns import Rejection, decode_rows
from wherecast.columns.encoded import encode_batch
from wherecast.gateway.digests import row_digests
from wherecast.language.vectors import array_of
from wherecast.model import DEFAULT_LIMITS, Limits, Publication, Schema
from wherecast.model.values import describe, is_text
from wherecast.store.records import ENVELOPES, Publications

_ID_CHARACTERS_MAX = 256


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
    if refused:
        kept = ~np.isin(rows, [rejection.row for rejection in refused])
        batch, rows = batch.filter(array_of(kept)), rows[kept]
    good = [given[row] for row in rows.tolist()]
    rejected = sorted((*decoded.rejected, *refused), key=lambda rejection: rejection.row)
    envelopes = _envelopes(good)
    digests = row_digests(batch, envelopes.column("payload"))
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
    if one.published_at is not None and not isinstance(one.published_at, datetime):
        yield "bad_time", f"published_at is a datetime, not {describe(one.published_at)}"
    if one.id is not None and not _is_id(one.id):
        most = _ID_CHARACTERS_MAX
        yield "wrong_type", f"id is a string of 1 to {most} characters, not {describe(one.id)}"


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
