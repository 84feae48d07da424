"""Arrays that results were cut from, for use again when nobody holds a part of them."""

import sys
from threading import Lock

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int32]


class SpareArrays:
    """Arrays that results were cut from, for use again when nobody holds a part of them.

    Fresh memory costs a fault for each page, which is more than writing the matches to it.
    """

    _KEPT = 4
    _BYTES_MAX = 1 << 28
    _MODEL = (np.empty(0, np.int32),)
    _FREE = sys.getrefcount(_MODEL[0])  # of an array that only one list or tuple holds

    def __init__(self) -> None:
        self._arrays: list[Numbers] = []
        self._lock = Lock()

    def take(self, size: int) -> Numbers:
        """An uninitialised int32 array of at least that size: the largest free one, or a new."""
        with self._lock:
            for place in range(len(self._arrays)):
                if len(self._arrays[place]) < size:
                    break
                if sys.getrefcount(self._arrays[place]) <= self._FREE:
                    return self._arrays.pop(place)
        return np.empty(size, np.int32)

    def give(self, array: Numbers) -> None:
        """Keeps an array for later; parts of it may still be held."""
        if array.nbytes > self._BYTES_MAX:
            return
        with self._lock:
            self._arrays.append(array)
            self._arrays.sort(key=len, reverse=True)
            del self._arrays[self._KEPT :]
