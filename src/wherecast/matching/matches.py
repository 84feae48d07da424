"""What matching gives: compressed sparse rows of filter numbers, and the ids they stand for."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Id = str | int


@dataclass(frozen=True, slots=True, eq=False)
class Matches:
    """The filters that each publication of a batch satisfies.

    Attributes:
        offsets: int64, one more than publications; row i is `indices[offsets[i]:offsets[i + 1]]`.
        indices: int32, positions in `ids`, within a row in no order.
        ids: the ids of the filters, sorted.
    """

    offsets: npt.NDArray[np.int64]
    indices: npt.NDArray[np.int32]
    ids: Sequence[Id]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """The number of matches of each publication, int64."""
        return np.diff(self.offsets)

    def to_pylist(self) -> list[list[Id]]:
        """The ids per publication, sorted."""
        found = [self.ids[number] for number in self._sorted().tolist()]
        ends = self.offsets.tolist()
        return [found[start:end] for start, end in pairwise(ends)]

    def _sorted(self) -> npt.NDArray[np.int32]:
        """The indices, ascending within each row."""
        rows = np.repeat(np.arange(len(self)), self.counts)
        return self.indices[np.lexsort((self.indices, rows))]

    def to_arrow(self) -> pa.ListArray:
        """The ids per publication as an Arrow list array, sorted."""
        ids = pa.array(self.ids) if len(self.ids) else pa.array([], pa.string())
        values = ids.take(pa.array(self._sorted()))
        offsets = pa.array(self.offsets.astype(np.int64))
        return pa.LargeListArray.from_arrays(offsets, values)
