"""Entries as rows of `log.db`, and back; every field is under a checksum.

What the pipeline reads (`crc`), what the check of ids reads (`ids`), the headers and the payloads
have a checksum each, so that none of them needs the others to be read. `crc` also covers the sizes
of the other three, so that a lost one is noticed.
"""

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.store.header_bytes import (
    pack_headers,
    pack_payloads,
    unpack_headers,
    unpack_payloads,
)
from wherecast.store.ids.publication_ids import Hashes
from wherecast.store.records import ENCODINGS, RECORD_KINDS, Entry

COLUMNS = (
    "first, count, at, kind, encoding, schema_version, source, crc, stream, ids, rows, attributes,"
    " headers, payloads"
)
INSERT_ENTRY = (
    f"INSERT INTO entries ({COLUMNS}) VALUES ({', '.join('?' * len(COLUMNS.split(',')))})"
)


@dataclass(frozen=True, slots=True)
class EntryRow:
    """A row of the table of entries.

    Attributes:
        values: of `COLUMNS`; `kind` and `encoding` are places in `RECORD_KINDS` and `ENCODINGS`.
        checksums: over the whole row.
        bytes: number of bytes in the columns that `SIZE` of `log_tables` counts.
    """

    values: tuple[int | str | bytes | None, ...]
    checksums: tuple[int, ...]
    bytes: int


_CRC = struct.Struct("<I")


class Damage(Exception):
    """Bytes are not as they were written."""


@dataclass(frozen=True, slots=True, eq=False)
class StoredIds:
    """The digests of an entry's publications, and the hashes of ids that publishers gave.

    Attributes:
        digests: uint64, shape (n,).
        hashes: 0 where the log gave the id; uint64, shape (n,).
    """

    digests: npt.NDArray[np.uint64]
    hashes: Hashes


def entry_row(entry: Entry, ids: StoredIds | None = None) -> EntryRow:
    """The row of an entry.

    Args:
        entry: with headers and payloads.
        ids: of publications; None for other records.
    """
    assert entry.headers is not None
    assert entry.payloads is not None
    head = (entry.first, entry.count, entry.accepted_at)
    codes = (
        RECORD_KINDS.index(entry.kind),
        ENCODINGS.index(entry.encoding),
        entry.schema_version,
    )
    rows = None if entry.rows is None else entry.rows.astype("<i4").tobytes()
    parts = (
        b"" if ids is None else _ids_bytes(ids),
        pack_headers(entry.headers),
        pack_payloads(entry.payloads),
    )
    stored = [None if part is None else sealed(head, part) for part in parts]
    sizes = tuple(-1 if part is None else len(part) for part in stored)
    texts = entry.source.encode(), entry.stream.encode()
    crc = _crc((*head, *codes, *sizes), (*texts, rows, entry.attributes))
    names = entry.source, crc, entry.stream
    blobs = (stored[0], rows, entry.attributes, *stored[1:])
    size = sum(len(blob) for blob in blobs if blob is not None)
    checksums = (crc, *(seal_of(part) for part in stored))
    return EntryRow((*head, *codes, *names, *blobs), checksums, size)


READ_COLUMNS = """first, count, at, kind, encoding, schema_version, CAST(source AS BLOB), crc,
    CAST(stream AS BLOB), CAST(rows AS BLOB), CAST(attributes AS BLOB), ifnull(length(ids), -1),
    ifnull(length(headers), -1), ifnull(length(payloads), -1)"""
"""What `entry_of` takes. As bytes, since a damaged text could not be read at all; the length of a
column is known without reading it."""


def entry_of(row: Sequence[Any], headers: bool, payloads: bool) -> Entry:
    """The entry of a row as it was read.

    Args:
        row: the values of `READ_COLUMNS`, then of `headers` and of `payloads` as bytes.
        headers: whether headers are asked for.
        payloads: whether payloads are asked for.

    Raises:
        Damage: the row is not as it was written, or of a kind that this version does not know.
    """
    *numbers, source, crc, stream, rows, attributes = row[:11]
    (first, count, at), sizes = numbers[:3], row[11:14]
    head = (first, count, at)
    try:
        if crc != _crc((*numbers, *sizes), (source, stream, rows, attributes)):
            raise Damage("its checksum is wrong")
    except (struct.error, TypeError) as error:
        raise Damage("its fields cannot be read") from error
    kind, encoding, schema_version = numbers[3:]
    if not 0 <= kind < len(RECORD_KINDS) or not 0 <= encoding < len(ENCODINGS):
        raise Damage(f"its kind {kind} or its encoding {encoding} is of a later version")
    return Entry(
        0,
        first,
        count,
        stream.decode(),
        at,
        attributes,
        None if rows is None else np.frombuffer(rows, "<i4"),
        headers_of(head, row[14]) if headers else None,
        payloads_of(head, row[15]) if payloads else None,
        kind=RECORD_KINDS[kind],
        source=source.decode(),
        encoding=ENCODINGS[encoding],
        schema_version=schema_version,
    )


def headers_of(head: Sequence[int], data: bytes | None) -> pa.RecordBatch:
    """The headers of a row.

    Raises:
        Damage: they are not as they were written.
    """
    return unpack_headers(None if data is None else unsealed(head, data), head[1])


def payloads_of(head: Sequence[int], data: bytes | None) -> pa.Array:
    """The payloads of a row.

    Raises:
        Damage: they are not as they were written.
    """
    return unpack_payloads(None if data is None else unsealed(head, data), head[1])


def ids_of(head: Sequence[int], data: bytes) -> StoredIds:
    """The digests and hashes of a row; none of a row without publications.

    Raises:
        Damage: they are not as they were written.
    """
    numbers = np.frombuffer(unsealed(head, data), "<u8")
    count = head[1] if len(numbers) else 0
    hashes = numbers[count:] if len(numbers) > count else np.zeros(count, np.uint64)
    return StoredIds(numbers[:count], hashes)


def _ids_bytes(ids: StoredIds) -> bytes:
    return ids.digests.tobytes() + (ids.hashes.tobytes() if ids.hashes.any() else b"")


def sealed(head: Sequence[int], data: bytes) -> bytes:
    """Bytes with a checksum after them that holds for one row alone."""
    return data + _CRC.pack(zlib.crc32(data, zlib.crc32(_packed(head))))


def unsealed(head: Sequence[int], data: bytes) -> bytes:
    """The bytes that were sealed.

    Raises:
        Damage: they are others, or of another row.
    """
    try:
        if sealed(head, data[:-4]) == data:
            return data[:-4]
    except (struct.error, TypeError) as error:
        raise Damage("its fields cannot be read") from error
    raise Damage("its checksum is wrong")


def seal_of(data: bytes | None) -> int:
    """The checksum at the end of sealed bytes; -1 where there are none."""
    return -1 if data is None else int(_CRC.unpack(data[-4:])[0])


def _packed(head: Sequence[int]) -> bytes:
    return struct.pack(f"<{len(head)}q", *head)


def _crc(numbers: Sequence[int], parts: Sequence[bytes | None]) -> int:
    crc = zlib.crc32(_packed(numbers))
    for part in parts:
        size = -1 if part is None else len(part)
        crc = zlib.crc32(part or b"", zlib.crc32(struct.pack("<q", size), crc))
    return crc
