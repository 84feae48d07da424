"""Packed trees: boxes of cells, 64 to a block, as flat arrays that the kernels search."""

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from wherecast.matching.columnar.cells import Quantisers

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class PackedTrees:
    """The trees of all groups of entries as flat arrays; `layout` says what they mean.

    Attributes:
        quantisers: how the values of each slot become cells.
        headers: int64 [groups, 24].
        directory: int32 [slots + 2], into `groups`: for each slot the groups that need it most,
            then those that need none.
        groups, seconds: int32 [groups], the groups in the order of `directory`, and for each
            group a second slot that it needs, or the first again.
        blocks: uint16, 64-byte aligned.
        numbers, sources: int32 [positions], the filter and the conjunction of each entry.
        rest_ends: int32, for each position of a group with residual sides, where its residual
            sides begin and end in `rests`.
        rests: uint16, the residual sides as triples of slot, low cell and high cell.
        outcomes: uint64 [leaf blocks, 2], a bit for each entry that is EXTRA, and for each that
            is ONCE; empty where no group is MIXED.
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
    outcomes: npt.NDArray[np.uint64]

    @property
    def nbytes(self) -> int:
        """The bytes of the trees, without those of the quantisers."""
        arrays = [getattr(self, field.name) for field in fields(self)[1:]]
        return sum(array.nbytes for array in arrays)
