"""Digests of publications, by which a second one with the same id is compared.

A digest does not depend on which other rows came with it, nor on attributes that are missing: it is
the sum of what each attribute that is there contributes. They are stored: they must not change.
"""

from hashlib import blake2b

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from wherecast.columns.held import held
from wherecast.columns.schema import is_open_field
from wherecast.language.vectors import array_of, filled
from wherecast.store.publication_ids import hash_ids

Digests = npt.NDArray[np.uint64]

_LONG = 256  # bytes
_ODD = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xBF58476D1CE4E5B9)


def row_digests(batch: pa.RecordBatch, payloads: pa.Array, stream: str) -> Digests:
    """The digest of each row of a batch with its payload and stream; uint64, shape (n,)."""
    total = _contribution(".payload", payloads)
    total += hash_ids(pa.array([stream], pa.string()))[0]
    for field, column in zip(batch.schema, batch.columns, strict=True):
        parts = column.flatten() if is_open_field(field) else [held(column)]
        for part in parts:
            total += _contribution(field.name, part)
    return total


def _contribution(name: str, values: pa.Array) -> Digests:
    """What a column adds to the digests of rows; 0 where a value is missing."""
    salt = hash_ids(pa.array([name], pa.string()))[0]
    mixed: Digests = (_numbers(values) + salt) * _ODD
    mixed = (mixed ^ (mixed >> np.uint64(31))) * _MIX
    mixed ^= mixed >> np.uint64(29)
    if values.null_count:
        mixed[filled(pc.is_null(values).cast(pa.uint8()), 0).astype(np.bool_)] = 0
    return mixed


def _numbers(values: pa.Array) -> Digests:
    """A number for each value, the same for equal values; any for a missing one."""
    kind = values.type
    if kinds.is_boolean(kind):
        return filled(values.cast(pa.uint8()), 0).astype(np.uint64)
    if kinds.is_floating(kind):
        return (filled(values, 0).astype(np.float64) + 0.0).view(np.uint64)  # -0.0 equals 0
    if kinds.is_integer(kind):
        return filled(values.cast(pa.int64()), 0).astype(np.int64).view(np.uint64)
    return _hashes(values.cast(pa.binary()))


def _hashes(values: pa.Array) -> Digests:
    """A hash of each text; of long ones one by one, which takes no memory beside them."""
    is_long = filled(pc.greater(pc.binary_length(values), _LONG).cast(pa.uint8()), 0) == 1
    if not is_long.any():
        return hash_ids(values)
    hashes = hash_ids(pc.if_else(array_of(is_long), pa.scalar(None, pa.binary()), values))
    for row in np.flatnonzero(is_long).tolist():
        digest = blake2b(values[row].as_buffer(), digest_size=8).digest()
        hashes[row] = int.from_bytes(digest, "little")
    return hashes
