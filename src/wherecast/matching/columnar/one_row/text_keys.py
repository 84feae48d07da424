"""The keys of single strings among the strings of an index."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

_KNOWN_MAX = 1 << 16  # strings whose keys are remembered


class StringBytes(Sequence[bytes]):
    """The bytes of strings, which order as the strings do, without an object each."""

    def __init__(self, strings: pa.Array) -> None:
        _, offsets, data = strings.buffers()
        self._data = memoryview(b"" if data is None else data)
        self._ends = np.frombuffer(offsets, np.int64)[strings.offset :] if len(strings) else ()
        self._count = len(strings)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, place: Any) -> Any:
        if place >= self._count:
            raise IndexError(place)
        return bytes(self._data[self._ends[place] : self._ends[place + 1]])


class TextKeys(dict[str, int]):
    """The keys of strings: twice the number of smaller strings of an index, plus one if known.

    Keys are remembered, up to a limit. A string with a lone surrogate has none: it raises
    UnicodeEncodeError.

    Concurrency: any number of threads may use it; a key may be computed twice.
    """

    def __init__(self, strings: pa.Array) -> None:
        super().__init__()
        self._bytes = StringBytes(strings)

    def __missing__(self, text: str) -> int:
        wanted, known = text.encode(), self._bytes
        below = bisect_left(known, wanted)
        key = 2 * below + (below < len(known) and known[below] == wanted)
        if len(self) >= _KNOWN_MAX:
            self.clear()
        self[text] = key
        return key
