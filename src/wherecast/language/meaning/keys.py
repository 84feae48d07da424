"""Order-preserving 64-bit keys: one integer order for ints, floats, bools and timestamps.

In key space every interval is closed: the key of the next double is the next integer, so `>` is
`>=` of the key plus one, exactly. -0.0 has the key of 0, and NaN the greatest key of all, as Spark
orders them.
"""

import struct
from decimal import Decimal
from math import ceil, floor

import numpy as np
import numpy.typing as npt

from wherecast.language.meaning.expression import Constant
from wherecast.model.values import INT_MAX, INT_MIN, Type, Value

NAN_KEY = 0x7FF8_0000_0000_0000
_INFINITY_KEY = 0x7FF0_0000_0000_0000

RANGES: dict[Type, tuple[int, int]] = {
    "int": (INT_MIN, INT_MAX),
    "float": (-_INFINITY_KEY, NAN_KEY),
    "bool": (0, 1),
    "timestamp": (INT_MIN, INT_MAX),
}


def float_key(value: float) -> int:
    """The key of a double."""
    if value != value:
        return NAN_KEY
    bits: int = struct.unpack("<q", struct.pack("<d", value))[0]
    return bits if bits >= 0 else INT_MIN - bits


def float_keys(values: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """The keys of doubles.

    Shapes: any shape of float64 to the same shape of int64.
    """
    bits = np.ascontiguousarray(values, np.float64).view(np.int64)
    keys = np.where(bits >= 0, bits, np.int64(INT_MIN) - bits)
    return np.where(np.isnan(values), np.int64(NAN_KEY), keys)


def float_values(keys: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """The doubles that have those keys; the greatest key, which only NaN has, as infinity.

    Shapes: any shape of int64 to the same shape of float64.
    """
    inside = np.minimum(keys, _INFINITY_KEY)
    return np.where(inside >= 0, inside, np.int64(INT_MIN) - inside).view(np.float64)


def value_of(type_: Type, key: int) -> Value:
    """The value that has a key."""
    if type_ == "bool":
        return bool(key)
    if type_ != "float":
        return key
    if key > _INFINITY_KEY:
        return float("nan")
    bits = key if key >= 0 else INT_MIN - key
    value: float = struct.unpack("<d", struct.pack("<q", bits))[0]
    return value


def key_of(type_: Type, value: Value) -> int:
    """The key of a canonical value that is no string."""
    return float_key(float(value)) if type_ == "float" else int(value)


def bounds(type_: Type, operator: str, value: Constant) -> tuple[int, int]:
    """The closed interval of keys that `operator value` allows; empty where low > high.

    `<>` is not an interval and not taken here.

    Source: elastic BE-Tree, table 5.1, on keys instead of steps.
    """
    low, high = RANGES[type_]
    assert not isinstance(value, str)
    if type_ == "float":
        below = above = float_key(float(value))
    elif isinstance(value, Decimal):
        below, above = floor(value), ceil(value)
    else:
        below = above = int(value)
    if operator == "=":
        return (max(low, above), min(high, below))
    if operator == "<":
        return (low, min(high, above - 1))
    if operator == "<=":
        return (low, min(high, below))
    if operator == ">":
        return (max(low, below + 1), high)
    assert operator == ">="
    return (max(low, above), high)
