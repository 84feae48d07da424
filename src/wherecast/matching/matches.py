"""The matches of a batch: compressed sparse rows of filter numbers, and the ids of the filters."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Id = str | int


class IdColumn(Protocol):
    """Ids by number."""

    def some(self, numbers: npt.NDArray[np.int32]) -> list[Id]:
        """The ids of some numbers."""

    def some_ints(self, numbers: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
        """The ids of some numbers, where ids are ints."""


class RowMatches:
    """The filters that one publication satisfies, as numbers of the columns of ids of an index.

    Attributes:
        parts: for each column the numbers, int32, in no order.
    """

    __slots__ = ("parts",)

    def __init__(self, parts: Sequence[tuple[IdColumn, npt.NDArray[np.int32]]]) -> None:
        self.parts = parts

    def to_list(self) -> list[Id]:
        """The ids, in no order."""
        if len(self.parts) == 1:
            ids, numbers = self.parts[0]
            return ids.some(numbers)
        return [id for ids, numbers in self.parts for id in ids.some(numbers)]

    def to_array(self) -> npt.NDArray[np.int64]:
        """The ids, which must be ints, in no order."""
        found = [ids.some_ints(numbers) for ids, numbers in self.parts]
        if len(found) == 1:
            return found[0]
        return np.concatenate([np.zeros(0, np.int64), *found])


@dataclass(frozen=True, slots=True, eq=False)
class Matches:
    """The filters that each publication of a batch satisfies.

    Attributes:
        offsets: int64, one more than publications; row i is `indices[offsets[i]:offsets[i + 1]]`.
        indices: int32, positions in `ids`; within a row in no order.
        ids: the ids of the filters of the index, in no order.
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
        ids = self.ids if len(self.indices) < len(self.ids) else list(self.ids)
        found = [ids[number] for number in self.indices.tolist()]
        return [sorted(found[start:end]) for start, end in pairwise(self.offsets.tolist())]

    def to_arrow(self) -> pa.ListArray:
        """The ids per publication as an Arrow list array."""
        given = getattr(self.ids, "array", None)
        ids = pa.array(list(self.ids)) if given is None else given
        if not len(self.ids):
            ids = pa.array([], pa.string())
        if pa.types.is_large_string(ids.type):
            ids = ids.cast(pa.string())
        values = ids.take(pa.array(self.indices))
        offsets = pa.array(self.offsets.astype(np.int64))
        return pa.LargeListArray.from_arrays(offsets, values)
