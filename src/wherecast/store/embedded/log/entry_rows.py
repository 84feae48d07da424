"""Entries as rows of `log.db`, and back; every field is under a checksum.

What the pipeline reads (`crc`), what the check of ids reads (`ids`) and the envelopes have a
checksum each, so that none of them needs the others to be read.
"""

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.arrays.vectors import array_of
from wherecast.store.ids.publication_ids import Hashes
from wherecast.store.records import ENVELOPES, Entry, Publications

Row = tuple[int, int, int, int, str, bytes, bytes | None, bytes, bytes | None]
"""first, count, at, crc, stream, ids, rows, attributes, envelopes."""

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


def entry_row(
    first: int, at: int, publications: Publications, hashes: Hashes, rows: npt.NDArray[np.int32]
) -> Row:
    """The row of publications.

    Args:
        first: offset of the first new publication.
        at: time of acceptance.
        publications: as given to the append.
        hashes: of the ids that publishers gave; 0 where the log gives the id.
        rows: which publications are new; int32, at least one.
    """
    head = (first, len(rows), at)
    envelopes = publications.envelopes
    picked = None
    if len(rows) < envelopes.num_rows:
        envelopes, hashes = envelopes.take(array_of(rows)), hashes[rows]
        picked = rows.astype("<i4").tobytes()
    digests = publications.digests[rows]
    ids = digests.tobytes() + (hashes.tobytes() if hashes.any() else b"")
    is_bare = all(column.null_count == len(rows) for column in envelopes.columns)
    crc = _crc(head, publications.stream.encode(), picked, publications.attributes)
    return (
        *head,
        crc,
        publications.stream,
        sealed(head, ids),
        picked,
        publications.attributes,
        None if is_bare else sealed(head, bytes(envelopes.serialize())),
    )


def entry_of(row: Sequence[Any], envelopes: bool) -> Entry:
    """The entry of a row as it was read; text may come as bytes.

    Args:
        row: first, count, at, crc, stream, rows and attributes, then envelopes if asked for.
        envelopes: whether envelopes are asked for.

    Raises:
        Damage: the row is not as it was written.
    """
    first, count, at, crc, stream, rows, attributes = row[:7]
    try:
        head = (first, count, at)
        if crc != _crc(head, stream, rows, attributes):
            raise Damage("its checksum is wrong")
    except (struct.error, TypeError) as error:
        raise Damage("its fields cannot be read") from error
    picked = None if rows is None else np.frombuffer(rows, "<i4")
    found = envelopes_of(head, row[7]) if envelopes else None
    name = stream.decode()
    return Entry(0, first, count, name, at, attributes, picked, found)


def envelopes_of(head: Sequence[int], data: bytes | None) -> pa.RecordBatch:
    """The envelopes of a row.

    Raises:
        Damage: they are not as they were written.
    """
    if data is None:
        nulls = [pa.nulls(head[1], field.type) for field in ENVELOPES]
        return pa.RecordBatch.from_arrays(nulls, schema=ENVELOPES)
    return pa.ipc.read_record_batch(pa.py_buffer(unsealed(head, data)), ENVELOPES)


def ids_of(head: Sequence[int], data: bytes) -> StoredIds:
    """The digests and hashes of a row.

    Raises:
        Damage: they are not as they were written.
    """
    numbers = np.frombuffer(unsealed(head, data), "<u8")
    count = head[1]
    hashes = numbers[count:] if len(numbers) > count else np.zeros(count, np.uint64)
    return StoredIds(numbers[:count], hashes)


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


def _packed(head: Sequence[int]) -> bytes:
    return struct.pack(f"<{len(head)}q", *head)


def _crc(head: Sequence[int], stream: bytes, rows: bytes | None, attributes: bytes) -> int:
    crc = zlib.crc32(_packed(head))
    for part in (stream, rows, attributes):
        size = -1 if part is None else len(part)
        crc = zlib.crc32(part or b"", zlib.crc32(struct.pack("<q", size), crc))
    return crc
