"""Columns of constants as filter texts write them."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

# Between these magnitudes Arrow and Python print a float with the same digits.
_PLAIN_MIN, _PLAIN_MAX = 1e-4, 1e9


def float_texts(values: NDArray[np.float64]) -> pa.StringArray:
    """Each value as its `repr`: the shortest text that reads back as the same float.

    Arrow prints a million floats several times faster than a loop over `repr`. But Arrow omits the
    `.0` of whole numbers, which would make them integers, and switches to exponents elsewhere.
    """
    sizes = np.abs(values)
    texts = pa.array(values).cast(pa.string())
    whole = pa.array((np.floor(values) == values) & (sizes < _PLAIN_MAX))
    texts = pc.if_else(whole, pc.binary_join_element_wise(texts, ".0", ""), texts)
    odd = (sizes >= _PLAIN_MAX) | ((sizes < _PLAIN_MIN) & (sizes > 0))
    if odd.any():
        reprs = pa.array([repr(value) for value in values[odd].tolist()], pa.string())
        texts = pc.replace_with_mask(texts, pa.array(odd), reprs)
    return texts


def time_texts(times: NDArray[np.datetime64]) -> pa.StringArray:
    """Each time, in UTC, as a timestamp literal to the second."""
    moments = pa.array(np.datetime_as_string(times, unit="s"), pa.string())
    return join("TIMESTAMP '", pc.replace_substring(moments, "T", " "), "'")


def join(*pieces: str | pa.StringArray) -> pa.StringArray:
    """The concatenated pieces of each row; a piece that is one string is in every row."""
    return pc.binary_join_element_wise(*pieces, "")
