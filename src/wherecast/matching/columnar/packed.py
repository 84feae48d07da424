"""The forest: trees of packed boxes as flat arrays, which the kernels match."""

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from wherecast.matching.columnar.cells import Quantisers

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class PackedTrees:
    """Groups of entries as flat arrays; see `layout`.

    Attributes:
        quantisers: of the slots.
        headers: int64 [groups, 24].
        directory: int32 [slots + 2], into `groups`: for each slot the groups that need it most,
            then those that need none.
        groups, seconds: int32 [groups], groups, and for each another slot that it needs, or the
            same.
        blocks: uint16, 64-byte aligned.
        numbers, sources: int32 [positions], the filter and the conjunction of each entry.
        rest_ends: int32, for the positions of groups that have rests, where theirs begin and end.
        rests: uint16, triples.
    """

    quantisers: Quantisers
    headers: Ints
    directory: npt.NDArray[np.int32]
    groups: npt.NDArray[np.int32]
    seconds: npt.NDArray[np.int32]
    blocks: npt.NDArray[np.uint16]
    numbers: npt.NDArray[np.int32]
    sources: npt.NDArray[np.int32]
    rest_ends: npt.NDArray[np.int32]
    rests: npt.NDArray[np.uint16]

    @property
    def nbytes(self) -> int:
        """The bytes of the trees, without those of the quantisers."""
        arrays = [getattr(self, field.name) for field in fields(self)[1:]]
        return sum(array.nbytes for array in arrays)
