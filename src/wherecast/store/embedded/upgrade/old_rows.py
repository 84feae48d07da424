"""Rows of layout 1 as values. The layout never changes again, so all of its decoding stands here.

Nothing here comes from modules that write the layout of today: they may change.

    log.db      entries with envelopes (id, published_at, payload), ids, changes, bounds
    cursors.db  cursors, whose sequences are offsets
    batches.db  batches, segments and dead letters, whose sequences are offsets
"""

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Field = int | str | bytes

KINDS = ("stream", "subscriber", "forget", "subscribe", "unsubscribe")  # by their codes
ENVELOPES = pa.schema(
    [
        ("id", pa.string()),
        ("published_at", pa.timestamp("us", tz="UTC")),
        ("payload", pa.binary()),
    ]
)
SEGMENT = pa.schema(
    [
        ("subscriber", pa.string()),
        ("subscription_ids", pa.list_(pa.string())),
        ("offsets", pa.list_(pa.int64())),
        ("matched", pa.list_(pa.list_(pa.int32()))),
    ]
)
_TEXTS = ("stream", "subscriber", "id", "text")
_CHANGES = pa.schema([("kind", pa.int8()), *((name, pa.string()) for name in _TEXTS)])
_COMPACTED = b"WCc1"  # Arrow's messages begin otherwise
_HEAD = struct.Struct("<4sqq")  # the mark, end of the compaction or -1, number of times
_CRC = struct.Struct("<I")
_ARROW_ERRORS = (pa.ArrowException, OSError, EOFError, ValueError)


class OldDamage(Exception):
    """A row is not as it was written."""


@dataclass(frozen=True, slots=True, eq=False)
class OldIds:
    """The stored digests and hashed ids of publications.

    Attributes:
        digests: of the bodies; uint64, shape (n,).
        hashes: of the ids alone, 0 where the log gave the id; uint64, shape (n,).
    """

    digests: Words
    hashes: Words


@dataclass(frozen=True, slots=True, eq=False)
class OldEntry:
    """Publications of one stream at successive offsets.

    Attributes:
        first: offset of the first publication.
        count: number of publications.
        at: time of acceptance, by the clock of that moment.
        stream: name of the stream.
        attributes: as given to the append.
        rows: which rows of `attributes` were appended; None: all rows.
        envelopes: a batch of `ENVELOPES`.
        ids: None if they are damaged.
    """

    first: int
    count: int
    at: int
    stream: str
    attributes: bytes
    rows: npt.NDArray[np.int32] | None
    envelopes: pa.RecordBatch
    ids: OldIds | None


@dataclass(frozen=True, slots=True)
class OldTrimmed:
    """The ids of publications that were trimmed.

    Attributes:
        first: offset of the first publication.
        count: number of publications.
        at: time of acceptance.
        ids: digests and hashes, as bytes.
    """

    first: int
    count: int
    at: int
    ids: bytes


@dataclass(frozen=True, slots=True, eq=False)
class OldChanges:
    """Changes of the registry, perhaps a part of a compaction.

    Attributes:
        version: of the first change.
        count: number of versions covered.
        at: time of acceptance.
        acts_from: first offset on which the changes act.
        kinds: of each change.
        texts: stream, subscriber, id and text of the changes; string arrays.
        times: of each change; None: `at` for all.
        compacted_to: end of the compaction; None: the changes are as they were accepted.
    """

    version: int
    count: int
    at: int
    acts_from: int
    kinds: list[str]
    texts: list[pa.Array]
    times: Ints | None
    compacted_to: int | None


@dataclass(frozen=True, slots=True)
class OldBounds:
    """Where the log begins and ends.

    Attributes:
        start: first offset that was not trimmed.
        end: offset of the next publication.
        version: version of the next change.
    """

    start: int
    end: int
    version: int


def checksum(*fields: Field) -> int:
    """The checksum of a row of `batches.db` or `cursors.db`."""
    crc = 0
    for field in fields:
        if isinstance(field, int):
            crc = zlib.crc32(struct.pack("<q", field), crc)
        else:
            data = field.encode() if isinstance(field, str) else field
            crc = zlib.crc32(data, zlib.crc32(struct.pack("<q", len(data)), crc))
    return crc


def old_bounds(row: Sequence[int] | None) -> OldBounds | None:
    """The bounds of a row with start, end, version, bytes and checksum; None if damaged."""
    if row is None or row[4] != zlib.crc32(struct.pack("<qqqq", *row[:4])):
        return None
    return OldBounds(*row[:3])


def old_entry(row: Sequence[Any]) -> OldEntry:
    """The entry of a row.

    Args:
        row: first, count, at, crc, then stream, ids, rows, attributes and envelopes as bytes.

    Raises:
        OldDamage: the row is not as it was written; damaged ids alone are no reason.
    """
    first, count, at, crc, stream, ids, rows, attributes, envelopes = row
    head = (first, count, at)
    expected = zlib.crc32(struct.pack("<qqq", *head))
    for part in (stream, rows, attributes):
        size = -1 if part is None else len(part)
        expected = zlib.crc32(part or b"", zlib.crc32(struct.pack("<q", size), expected))
    if crc != expected:
        raise OldDamage("its checksum is wrong")
    try:
        found: OldIds | None = _ids(count, _unsealed(head, ids))
    except OldDamage:
        found = None
    picked = None if rows is None else np.frombuffer(rows, "<i4")
    opened = _envelopes(head, envelopes)
    return OldEntry(first, count, at, stream.decode(), attributes, picked, opened, found)


def old_trimmed(row: Sequence[Any]) -> OldTrimmed:
    """The ids of a row with first, count, at and ids.

    Raises:
        OldDamage: the row is not as it was written.
    """
    first, count, at, ids = row
    return OldTrimmed(first, count, at, _unsealed((first, count, at), ids))


def old_changes(row: Sequence[Any]) -> OldChanges:
    """The changes of a row with version, count, at, acts_from and batch.

    Raises:
        OldDamage: the row is not as it was written.
    """
    version, count, at, acts_from, data = row
    content, times, to = _unsealed(row[:4], data), None, -1
    try:
        if content.startswith(_COMPACTED):
            _, to, size = _HEAD.unpack_from(content)
            times = np.frombuffer(content, "<i8", size, _HEAD.size)
            content = content[_HEAD.size + times.nbytes :]
        batch = pa.ipc.read_record_batch(pa.py_buffer(content), _CHANGES)
        kinds = [KINDS[code] for code in batch.column("kind").to_pylist()]
    except (*_ARROW_ERRORS, struct.error, IndexError) as error:
        raise OldDamage(str(error)) from error
    compacted_to, texts = None if to == -1 else to, batch.columns[1:]
    return OldChanges(version, count, at, acts_from, kinds, texts, times, compacted_to)


def old_segment(row: Sequence[Any], file: pa.Buffer | None) -> pa.RecordBatch:
    """The notifications of a segment: a batch of `SEGMENT`.

    Args:
        row: first, end, digest and data.
        file: the content of its file, if the segment is a file.

    Raises:
        OldDamage: the notifications are not as they were written.
    """
    first, end, digest, content = row
    data = pa.py_buffer(content) if file is None else file
    key = struct.pack("<qq", first, end)
    if blake2b(data, digest_size=16, key=key).digest() != digest:
        raise OldDamage("the digest is wrong")
    if file is not None:
        return pa.ipc.open_file(data).get_batch(0)
    if not data.size:
        return pa.RecordBatch.from_pylist([], SEGMENT)
    return pa.ipc.read_record_batch(data, SEGMENT)


def segment_file(first: int, end: int, digest: bytes) -> str:
    """The name of a segment's file."""
    return f"{first:019d}-{end:019d}-{digest.hex()}.arrow"


def _envelopes(head: Sequence[int], data: bytes | None) -> pa.RecordBatch:
    if data is None:
        nulls = [pa.nulls(head[1], field.type) for field in ENVELOPES]
        return pa.RecordBatch.from_arrays(nulls, schema=ENVELOPES)
    try:
        return pa.ipc.read_record_batch(pa.py_buffer(_unsealed(head, data)), ENVELOPES)
    except _ARROW_ERRORS as error:
        raise OldDamage(str(error)) from error


def _ids(count: int, data: bytes) -> OldIds:
    numbers = np.frombuffer(data, "<u8")
    hashes = numbers[count:] if len(numbers) > count else np.zeros(count, np.uint64)
    return OldIds(numbers[:count], hashes)


def _unsealed(head: Sequence[int], data: bytes) -> bytes:
    """Bytes without the checksum after them, which holds for one row alone."""
    content = data[:-4]
    crc = zlib.crc32(content, zlib.crc32(struct.pack(f"<{len(head)}q", *head)))
    if data[-4:] != _CRC.pack(crc):
        raise OldDamage("its checksum is wrong")
    return content
