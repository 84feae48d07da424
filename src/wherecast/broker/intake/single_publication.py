"""One publication on its way in, read without Arrow where it is plain.

Most publishers send one publication at a time: a flat object of numbers and texts. To build columns
of one row would cost a hundred times what reading it does. Whatever is not plain, or has a problem,
goes the way of `intake`, which gives the same result and names what is wrong.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from wherecast.broker.intake.digests import row_digest
from wherecast.broker.intake.intake import (
    FIRST_US,
    LAST_US,
    headers_batch,
    id_problem,
    payload_problem,
    publishers_of,
)
from wherecast.columns.log_encoding import encode_rows
from wherecast.columns.plain_rows import PlainRow, PlainRows, plain_text
from wherecast.model import DEFAULT_LIMITS, Limits, Publication, Schema
from wherecast.model.times import time_micros
from wherecast.store.records import HEADERS, PAYLOAD, Publications


@dataclass(frozen=True, slots=True)
class SinglePublication:
    """A valid publication, ready for the log.

    Attributes:
        stream: where it is published.
        row: its attributes.
        text: the attributes as JSON.
        id: as the publisher gave it.
        payload: bytes that no filter looks at.
        published_us: by the publisher's clock, in microseconds since 1970, UTC.
        publisher: its name; empty: none.
        digest: of attributes and payload.
    """

    stream: str
    row: PlainRow
    text: bytes
    id: str | None
    payload: bytes | None
    published_us: int | None
    publisher: str
    digest: int


class SingleIntake:
    """Reads the publications of a stream one by one.

    Args:
        stream: its name.
        schema: of the stream.
        limits: of what each publication may be.
    """

    def __init__(self, stream: str, schema: Schema, limits: Limits = DEFAULT_LIMITS) -> None:
        self.schema = schema
        self._stream = stream
        self._limits = limits
        self._rows = PlainRows(schema, limits)

    def read(self, given: Publication, publisher: str) -> SinglePublication | None:
        """A publication ready for the log; None where it is not plain, or has a problem."""
        moment: object = given.published_at
        if given.valid_for is not None:
            return None
        if moment is not None and not isinstance(moment, datetime):
            return None
        published_us = None if moment is None else time_micros(moment)
        return self._ready(given.attributes, given.id, given.payload, published_us, publisher)

    def read_object(self, given: Any, publisher: str) -> SinglePublication | None:
        """The same for an object of a JSON reader with attributes, perhaps an id, and no more."""
        if type(given) is not dict or not given.keys() <= {"attributes", "id"}:
            return None
        return self._ready(given.get("attributes"), given.get("id"), None, None, publisher)

    def _ready(
        self,
        attributes: object,
        id: object,
        payload: object,
        published_us: int | None,
        publisher: str,
    ) -> SinglePublication | None:
        if id is not None and id_problem(id) is not None:
            return None
        if payload is not None and (
            not isinstance(payload, bytes) or payload_problem(payload, self._limits) is not None
        ):
            return None
        if published_us is not None and not FIRST_US <= published_us <= LAST_US:
            return None
        row = self._rows.read(attributes)
        text = None if row is None else plain_text(row)
        if row is None or text is None:
            return None
        digest = row_digest(row, payload, self._stream)
        given_id = id if isinstance(id, str) else None
        return SinglePublication(
            self._stream, row, text, given_id, payload, published_us, publisher, digest
        )


def joined(given: Sequence[SinglePublication]) -> Publications:
    """Publications of one stream as one entry of the log."""
    publishers = {one.publisher for one in given}
    if len(publishers) == 1 and all(one.id is None and one.published_us is None for one in given):
        headers = _named_headers(given[0].publisher, len(given))  # as in most groups
    else:
        headers = headers_batch(
            _column([one.id for one in given], pa.string()),
            _column([one.published_us for one in given], HEADERS.field("published_at").type),
            _column([one.publisher or None for one in given], pa.string()),
        )
    return Publications(
        given[0].stream,
        encode_rows([one.text for one in given]),
        headers,
        _column([one.payload for one in given], PAYLOAD),
        np.array([one.digest for one in given], np.uint64),
        encoding="rows",
    )


@lru_cache(1_024)
def _named_headers(publisher: str, count: int) -> pa.RecordBatch:
    """The headers of publications of which only the publisher is given."""
    none = _nulls(count, HEADERS.field("published_at").type)
    return headers_batch(_nulls(count, pa.string()), none, publishers_of(publisher, count))


@lru_cache(4_096)
def _nulls(count: int, kind: pa.DataType) -> pa.Array:
    return pa.nulls(count, kind)


def _column(values: list[Any], kind: pa.DataType) -> pa.Array:
    is_empty = values.count(None) == len(values)  # as most columns of headers are
    return _nulls(len(values), kind) if is_empty else pa.array(values, kind)
