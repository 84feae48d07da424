"""Arrow arrays as numpy arrays and back, without pyarrow's own conversions.

pyarrow's conversions import pandas where it is installed, which takes a third of the time from the
start of a process to its first matches. Only types that are rare here are left to pyarrow.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc


def values_of(array: pa.Array) -> npt.NDArray[Any]:
    """The values of an Arrow array without nulls; numbers are not copied."""
    assert not array.null_count
    kind = array.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return np.from_dlpack(array)
    if pa.types.is_boolean(kind):
        if not len(array):
            return np.zeros(0, np.bool_)
        first = array.offset // 8
        data = np.frombuffer(array.buffers()[1], np.uint8)[first : first + len(array) // 8 + 2]
        bits = np.unpackbits(data, bitorder="little")
        return bits[array.offset % 8 :][: len(array)].view(np.bool_)
    return np.asarray(array.to_numpy(zero_copy_only=False))


def filled(array: pa.Array, value: int) -> npt.NDArray[Any]:
    """The numbers of an Arrow array, with `value` in place of each null."""
    if not array.null_count:
        return values_of(array)
    bare = [None, array.buffers()[1]]
    numbers = pa.Array.from_buffers(array.type, len(array), bare, offset=array.offset)
    return np.where(values_of(array.is_valid()), values_of(numbers), value)


def array_of(values: npt.NDArray[Any]) -> pa.Array:
    """The Arrow array of bools, ints or floats; NaN stays a value."""
    if values.dtype == np.bool_:
        data = np.packbits(values, bitorder="little")
    else:
        data = np.ascontiguousarray(values)
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(data)])


def has_one_value(array: pa.Array) -> bool:
    """Whether all values of an Arrow array are equal, without nulls; not of an empty one."""
    if array.null_count or not len(array):
        return False
    return len(array) == 1 or bool(pc.all(pc.equal(array, array[0])).as_py())


def texts_of(texts: Sequence[str]) -> pa.Array:
    """The texts as an Arrow array of type large_string.

    Raises:
        TypeError: an element is not a string.
        UnicodeEncodeError: a string has a lone surrogate.
    """
    joined = "".join(texts)
    data = joined.encode()
    is_ascii = len(data) == len(joined)
    lengths = [len(text) if is_ascii else len(text.encode()) for text in texts]
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.array(lengths, np.int64), out=offsets[1:])
    return pa.LargeStringArray.from_buffers(len(texts), pa.py_buffer(offsets), pa.py_buffer(data))
