"""Which name each version has: versions are global and far apart, names are small numbers.

A table of slots leads from a version to its place. A slot stands for one version where versions are
close together, and for a power of two of them where few versions of a long history are held. So a
lookup costs about the same, however long the history is.
"""

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Int32s = npt.NDArray[np.int32]
_SLOTS_PER_VERSION = 4


class VersionTable:
    """Versions of subscriptions with their names; immutable.

    Args:
        versions: distinct, ascending; int64, shape (n,).
        names: the number of the name of each version; int32, shape (n,).
    """

    def __init__(self, versions: Ints, names: Int32s) -> None:
        self.versions = versions
        self.names = names
        count = len(versions)
        self._first = int(versions[0]) if count else 0
        self._span = int(versions[-1]) - self._first + 1 if count else 0
        slots_max = _SLOTS_PER_VERSION * count
        self._shift = max(0, (max(0, self._span - 1) // max(1, slots_max)).bit_length())
        if not self._shift:  # a slot holds the name itself
            self._slots = np.full(self._span, -1, np.int32)
            self._slots[versions - self._first] = names
            self._steps = 0
            return
        edges = np.arange((self._span >> self._shift) + 2) << self._shift
        self._slots = np.searchsorted(versions, edges + self._first).astype(np.int32)
        self._steps = int(np.diff(self._slots).max()).bit_length()

    def __len__(self) -> int:
        return len(self.versions)

    def names_of(self, versions: Ints) -> Int32s:
        """The names of versions, -1 for a version that is not in the table; int32, same shape."""
        if not len(self.versions):
            return np.full(len(versions), -1, np.int32)
        if not self._shift:
            return self._direct(versions)
        inside = (versions >= self._first) & (versions < self._first + self._span)
        wanted = np.where(inside, versions, self._first)
        slots = (wanted - self._first) >> self._shift
        low, high = self._slots[slots], self._slots[slots + 1]
        for _ in range(self._steps):
            middle = (low + high) >> 1
            below = self.versions[np.minimum(middle, len(self) - 1)] < wanted
            below &= low < high
            low, high = np.where(below, middle + 1, low), np.where(below, high, middle)
        places = np.minimum(low, len(self) - 1)
        known = inside & (self.versions[places] == versions)
        return np.where(known, self.names[places], np.int32(-1))

    def name_of(self, version: int) -> int:
        """The name of a version, -1 for one that is not in the table."""
        place = version - self._first
        if not 0 <= place < self._span:
            return -1
        if not self._shift:
            return int(self._slots[place])
        return int(self.names_of(np.array([version], np.int64))[0])

    def _direct(self, versions: Ints) -> Int32s:
        places = versions - self._first
        if len(places) and places.view(np.uint64).max() >= self._span:  # also where it is negative
            inside = (places >= 0) & (places < self._span)
            return np.where(inside, self._slots[np.where(inside, places, 0)], np.int32(-1))
        return self._slots[places]
