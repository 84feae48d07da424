"""Batches of changes as bytes for a log.

    mark, flags, length of the names | names of the kinds, as JSON | codes and texts, as Arrow

The names of the kinds that a batch has stand in it once; a row has only a code. So no list of kinds
is part of the format. The column of options is left out where no change has any.
"""

import json
import struct

import numpy as np
import pyarrow as pa

from wherecast.arrays.vectors import array_of, values_of
from wherecast.store.changes.change_batches import has_options
from wherecast.store.records import CHANGES

_HEAD = struct.Struct("<BBI")  # the mark, flags, bytes of the names
_MARK = 0xC2
_HAS_OPTIONS = 1
_SMALL_MAX = 128  # kinds whose codes take one byte


def pack_changes(changes: pa.RecordBatch) -> bytes:
    """The bytes of a batch of `CHANGES`."""
    kinds, flags = changes.column("kind"), _HAS_OPTIONS if has_options(changes) else 0
    used, codes = np.unique(values_of(kinds.indices), return_inverse=True)
    names = [kinds.dictionary[code].as_py() for code in used.tolist()]
    stored = _stored(len(names), flags)
    small = codes.astype(stored.field("kind").type.to_pandas_dtype())
    columns = [array_of(small), *changes.columns[1 : len(stored)]]
    batch = pa.RecordBatch.from_arrays(columns, schema=stored)
    text = json.dumps(names, ensure_ascii=False).encode()
    return _HEAD.pack(_MARK, flags, len(text)) + text + bytes(batch.serialize())


def unpack_changes(data: bytes) -> pa.RecordBatch:
    """The batch of what `pack_changes` wrote.

    Raises:
        ValueError: these are other bytes.
    """
    try:
        mark, flags, size = _HEAD.unpack_from(data)
        if mark != _MARK:
            raise ValueError("they begin otherwise")
        names = json.loads(data[_HEAD.size : _HEAD.size + size])
        message = pa.py_buffer(data).slice(_HEAD.size + size)
        stored = pa.ipc.read_record_batch(message, _stored(len(names), flags))
        codes = stored.column("kind").cast(pa.int16())
        kinds = pa.DictionaryArray.from_arrays(codes, pa.array(names, pa.string()))
    except (struct.error, ValueError, TypeError, pa.ArrowException, OSError, EOFError) as error:
        raise ValueError(f"no changes: {error}") from error
    columns = [kinds, *stored.columns[1:]]
    if not flags & _HAS_OPTIONS:
        columns.append(pa.array([""]).take(array_of(np.zeros(len(kinds), np.int8))))
    return pa.RecordBatch.from_arrays(columns, schema=CHANGES)


def _stored(kinds: int, flags: int) -> pa.Schema:
    """The schema of the message, for so many kinds."""
    code = pa.int8() if kinds <= _SMALL_MAX else pa.int16()
    texts = list(CHANGES)[1 : None if flags & _HAS_OPTIONS else -1]
    return pa.schema([("kind", code), *texts])
