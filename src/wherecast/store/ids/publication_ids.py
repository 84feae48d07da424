"""Ids of publications: the ids that a log generates, and hashes of the ids that publishers give.

A publication without an id gets one from its place in the log, so nothing is stored for it:
`<identity of the log>-<partition>-<offset>`.
"""

import re
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.arrays.vectors import has_one_value, values_of

Hashes = npt.NDArray[np.uint64]

_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_MIX_ONE = tuple(int(mix) for mix in _MIX)
_SHIFTS = (30, 27)
_FEW = 16  # rows
_WORD = (1 << 64) - 1
_PLACE = re.compile(r"(0|[1-9][0-9]{0,17})-(0|[1-9][0-9]{0,17})")


def generated_id(identity: str, partition: int, offset: int) -> str:
    """The id of a publication that came without one.

    Args:
        identity: of the log.
        partition: where the publication is.
        offset: of the publication.
    """
    return f"{identity}-{partition}-{offset}"


def parse_generated(id: str, identity: str) -> tuple[int, int] | None:
    """The partition and the offset in an id that this log gives; None for any other id."""
    start = f"{identity}-"
    found = _PLACE.fullmatch(id, len(start)) if id.startswith(start) else None
    return (int(found[1]), int(found[2])) if found else None


def hash_keys(stream: str, publishers: pa.Array, ids: pa.Array) -> Hashes:
    """A hash of each publication's stream, publisher and id; 0 where it has no id.

    Args:
        stream: of all publications.
        publishers: string, with nulls, which mean the empty name.
        ids: string, with nulls.

    Shapes:
        The result: uint64, (n,).
    """
    count = len(ids)
    if ids.null_count == count:
        return np.zeros(count, np.uint64)
    if count <= _FEW:
        keys = zip(publishers.to_pylist(), ids.to_pylist(), strict=True)
        each = (0 if id is None else _hash_key(stream, name or "", id) for name, id in keys)
        return np.fromiter(each, np.uint64, count)
    hashes = hash_ids(ids)
    is_given = hashes != 0
    if publishers.null_count == count:
        hashes = _mixed(hashes + np.uint64(_hash_name("")))
    elif has_one_value(publishers):  # as in most calls
        hashes = _mixed(hashes + np.uint64(_hash_name(publishers[0].as_py())))
    else:
        encoded = publishers.fill_null("").dictionary_encode()
        hashes = _mixed(hashes + hash_ids(encoded.dictionary)[values_of(encoded.indices)])
    hashes = _mixed(hashes + np.uint64(_hash_name(stream)))
    hashes[hashes == 0] = 1
    hashes[~is_given] = 0
    return hashes


def _hash_key(stream: str, publisher: str, id: str) -> int:
    """The hash of one key, as `hash_keys` gives it; numpy costs by the call."""
    hash = _mixed_one(hash_id(id.encode()) + _hash_name(publisher))
    return _mixed_one(hash + _hash_name(stream)) or 1


@lru_cache(10_000)
def _hash_name(name: str) -> int:
    return hash_id(name.encode("utf-8", "surrogatepass"))


def hash_ids(ids: pa.Array) -> Hashes:
    """A hash of each id, the same in every process; 0 where there is none.

    A sum of bytes times powers of an odd number, mixed; whoever finds two equal ones compares the
    ids.

    Args:
        ids: string, with nulls.

    Shapes:
        The result: uint64, (n,).
    """
    count = len(ids)
    if ids.null_count == count:
        return np.zeros(count, np.uint64)
    _, bounds, data = ids.buffers()
    ends = np.frombuffer(bounds, np.int32)[ids.offset : ids.offset + count + 1].astype(np.int64)
    content = np.frombuffer(data or b"", np.uint8)[ends[0] : ends[-1]]
    lengths, ends = np.diff(ends), ends - ends[0]
    powers = np.cumprod(np.full(max(int(lengths.max()), 1), _FACTOR))
    within = np.arange(len(content)) - np.repeat(ends[:-1], lengths)
    terms = (content.astype(np.uint64) + np.uint64(1)) * powers[within]
    sums = np.append(np.uint64(0), np.cumsum(terms))
    hashes = _mixed(sums[ends[1:]] - sums[ends[:-1]])
    hashes[hashes == 0] = 1
    if ids.null_count:
        hashes[values_of(ids.is_null())] = 0
    return hashes


def hash_id(id: bytes) -> int:
    """The hash of one id, as `hash_ids` gives it."""
    factor, hash, power = int(_FACTOR), 0, 1
    for byte in id:
        power = power * factor & _WORD
        hash += (byte + 1) * power
    return _mixed_one(hash) or 1


def _mixed_one(hash: int) -> int:
    """As `_mixed` does."""
    for shift, mix in zip(_SHIFTS, _MIX_ONE, strict=True):
        hash &= _WORD
        hash = (hash ^ hash >> shift) * mix
    hash &= _WORD
    return hash ^ hash >> 31


def _mixed(hashes: Hashes) -> Hashes:
    """Spreads what differs over all bits."""
    for shift, factor in zip(_SHIFTS, _MIX, strict=True):
        hashes = (hashes ^ (hashes >> np.uint64(shift))) * factor
    return hashes ^ (hashes >> np.uint64(31))
