"""Entries of what is appended, the same in every log."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.arrays.vectors import array_of
from wherecast.store.header_bytes import no_headers
from wherecast.store.records import PAYLOAD, Entry, Publications, Receipt, Withdrawals

Rows = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class EntryPlace:
    """Where and when records are appended.

    Attributes:
        partition: of the records.
        first: offset of the first record.
        at: time of acceptance, by the log's time.
        source: name of the link by which they came; empty: none.
    """

    partition: int
    first: int
    at: int
    source: str = ""


def new_headers(publications: Publications, rows: Rows) -> pa.RecordBatch:
    """The headers of the publications that are new."""
    headers = publications.headers
    return headers if len(rows) == headers.num_rows else headers.take(array_of(rows))


def publications_entry(
    place: EntryPlace, publications: Publications, rows: Rows, headers: pa.RecordBatch
) -> Entry:
    """The entry of new publications.

    Args:
        place: where they are appended.
        publications: as given to the append.
        rows: which publications are new; int32, at least one.
        headers: of the new ones, with their counters.
    """
    is_whole = len(rows) == publications.headers.num_rows
    payloads = publications.payloads
    return Entry(
        place.partition,
        place.first,
        len(rows),
        publications.stream,
        place.at,
        publications.attributes,
        None if is_whole else rows,
        headers,
        payloads if is_whole else payloads.take(array_of(rows)),
        source=place.source,
        encoding=publications.encoding,
    )


def withdrawals_entry(place: EntryPlace, withdrawals: Withdrawals) -> Entry:
    """The entry of withdrawals."""
    headers = withdrawals.headers
    assert not headers.column("id").null_count, "a withdrawal names no publication"
    return Entry(
        place.partition,
        place.first,
        headers.num_rows,
        withdrawals.stream,
        place.at,
        b"",
        headers=headers,
        payloads=pa.nulls(headers.num_rows, PAYLOAD),
        kind="withdrawal",
        source=place.source,
    )


def tick_entry(place: EntryPlace) -> Entry:
    """The entry of a tick."""
    payloads = pa.nulls(1, PAYLOAD)
    headers = no_headers(1)
    return Entry(
        place.partition,
        place.first,
        1,
        "",
        place.at,
        b"",
        headers=headers,
        payloads=payloads,
        kind="tick",
    )


def receipt_of(entry: Entry) -> Receipt:
    """The receipt for an entry of which every record was appended."""
    offsets = np.arange(entry.first, entry.end)
    taken = np.zeros(entry.count, np.bool_)
    partitions = np.full(entry.count, entry.partition, np.int32)
    return Receipt(partitions, offsets, taken, taken, entry.accepted_at)
