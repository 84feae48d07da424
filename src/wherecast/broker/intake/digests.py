"""Digests of publications, by which a second one with the same id is compared.

A digest does not depend on which other rows came with it, nor on attributes that are missing: it is
the sum of what each attribute that is there contributes. They are stored: they must not change.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from hashlib import blake2b
from struct import pack

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from wherecast.arrays.list_elements import flat_elements, is_list
from wherecast.arrays.ranges import counting
from wherecast.arrays.vectors import array_of, filled, values_of
from wherecast.columns.arrow_schema import is_open_field
from wherecast.columns.comparable import held
from wherecast.model.values import Value
from wherecast.store.ids.publication_ids import hash_id, hash_ids

Digests = npt.NDArray[np.uint64]

_LONG = 256  # bytes
_NAMES_MAX = 10_000  # whose hashes are kept
_FEW = 16  # rows
_WORD = (1 << 64) - 1
_ODD = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xBF58476D1CE4E5B9)
_NULL = np.uint64(0x94D049BB133111EB)  # stands for a null element


def row_digests(batch: pa.RecordBatch, payloads: pa.Array, stream: str) -> Digests:
    """The digest of each row of a batch with its payload and stream; uint64, shape (n,)."""
    total = np.full(len(payloads), _salt(stream))
    adds = _contribution if len(payloads) > _FEW else _contribution_of_few
    for name, values in _parts(batch, payloads):
        if values.null_count < len(values):
            total += adds(name, values)
    return total


def row_digest(row: Mapping[str, Value], payload: bytes | None, stream: str) -> int:
    """The digest of one row of canonical values with its payload and stream, as `row_digests`."""
    total = int(_salt(stream))
    for name, value in row.items():
        total += _mixed_number(name, value)
    if payload is not None:
        total += _mixed_number(".payload", payload)
    return total & _WORD


def _mixed_number(name: str, value: Value | bytes | list[Value | None]) -> int:
    """What a value adds to the digest of its row."""
    mixed = (_number(value) + int(_salt(name))) * int(_ODD) & _WORD
    mixed = (mixed ^ mixed >> 31) * int(_MIX) & _WORD
    return mixed ^ mixed >> 29


def _parts(batch: pa.RecordBatch, payloads: pa.Array) -> Iterator[tuple[str, pa.Array]]:
    """All that has a share in digests, by name."""
    yield ".payload", payloads
    for field, column in zip(batch.schema, batch.columns, strict=True):
        for part in column.flatten() if is_open_field(field) else [held(column)]:
            yield field.name, part


def _contribution(name: str, values: pa.Array) -> Digests:
    """What a column adds to the digests of rows; 0 where a value is missing."""
    mixed: Digests = (_numbers(values) + _salt(name)) * _ODD
    mixed = (mixed ^ (mixed >> np.uint64(31))) * _MIX
    mixed ^= mixed >> np.uint64(29)
    if values.null_count:
        mixed[filled(pc.is_null(values).cast(pa.uint8()), 0).astype(np.bool_)] = 0
    return mixed


def _contribution_of_few(name: str, values: pa.Array) -> Digests:
    """The same value by value, which is sooner for a few: numpy and Arrow cost by the call."""
    found = np.zeros(len(values), np.uint64)
    for row, value in enumerate(values.to_pylist()):
        if value is not None:
            found[row] = _mixed_number(name, value)
    return found


def _number(value: Value | bytes | list[Value | None]) -> int:
    """A number for a value, the same for equal values of its type."""
    if isinstance(value, list):
        terms = (_term(place, element) for place, element in enumerate(value))
        return (sum(terms) + len(value) * int(_MIX)) & _WORD
    if isinstance(value, float):
        return int.from_bytes(pack("<d", value + 0.0), "little")  # -0.0 equals 0
    if isinstance(value, int):
        return value & _WORD
    data = value if isinstance(value, bytes) else value.encode()
    if len(data) > _LONG:
        return int.from_bytes(blake2b(data, digest_size=8).digest(), "little")
    return hash_id(data)


def _term(place: int, element: Value | None) -> int:
    """What an element of an array adds to the number of the array."""
    number = int(_NULL) if element is None else _number(element)
    mixed = (number ^ (place + 1) * int(_MIX) & _WORD) * int(_ODD) & _WORD
    mixed = (mixed ^ mixed >> 31) * int(_MIX) & _WORD
    return mixed ^ mixed >> 29


@lru_cache(_NAMES_MAX)
def _salt(name: str) -> np.uint64:
    """The hash of a name."""
    return np.uint64(hash_id(name.encode()))


def _numbers(values: pa.Array) -> Digests:
    """A number for each value, the same for equal values; any for a missing one."""
    kind = values.type
    if is_list(kind):
        return _array_numbers(values)
    if kinds.is_boolean(kind):
        return filled(values.cast(pa.uint8()), 0).astype(np.uint64)
    if kinds.is_floating(kind):
        return (filled(values, 0).astype(np.float64) + 0.0).view(np.uint64)  # -0.0 equals 0
    if kinds.is_integer(kind):
        return filled(values.cast(pa.int64()), 0).astype(np.int64).view(np.uint64)
    return _hashes(values.cast(pa.binary()))


def _array_numbers(values: pa.Array) -> Digests:
    """A number for each array: the sum of what its elements add, by place, and of its length."""
    flat = flat_elements(values)
    numbers = _numbers(flat.values)
    if flat.values.null_count:
        numbers = np.where(values_of(flat.values.is_null()), _NULL, numbers)
    sizes = np.diff(flat.starts)
    mixed = (numbers ^ (counting(sizes) + 1).astype(np.uint64) * _MIX) * _ODD
    mixed = (mixed ^ (mixed >> np.uint64(31))) * _MIX
    mixed ^= mixed >> np.uint64(29)
    sums = np.zeros(len(mixed) + 1, np.uint64)
    np.cumsum(mixed, out=sums[1:])
    found: Digests = np.diff(sums[flat.starts]) + sizes.astype(np.uint64) * _MIX
    return found


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
