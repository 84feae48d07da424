"""Digests of publications, by which a second one with the same id is compared.

A digest does not depend on which other rows came with it, nor on attributes that are missing: it is
the sum of what each attribute that is there contributes. They are stored: they must not change.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from wherecast.columns.held import held
from wherecast.columns.schema import is_open_field
from wherecast.language.vectors import filled
from wherecast.store.publication_ids import hash_ids

Digests = npt.NDArray[np.uint64]

_ODD = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xBF58476D1CE4E5B9)


def row_digests(batch: pa.RecordBatch, payloads: pa.Array) -> Digests:
    """The digest of each row of a batch with its payload; uint64, shape (n,)."""
    total = _contribution("payload", payloads.cast(pa.binary()), is_payload=True)
    for field, column in zip(batch.schema, batch.columns, strict=True):
        parts = column.flatten() if is_open_field(field) else [held(column)]
        for part in parts:
            total += _contribution(field.name, part)
    return total


def _contribution(name: str, values: pa.Array, is_payload: bool = False) -> Digests:
    """What a column adds to the digests of rows; 0 where a value is missing."""
    salt = hash_ids(pa.array([f"{'.' if is_payload else ''}{name}"], pa.string()))[0]
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
    return hash_ids(values)
