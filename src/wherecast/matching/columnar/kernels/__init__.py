"""The compiled kernels; importing this package imports numba."""

from wherecast.matching.columnar.kernels.compiled import (
    cells_of,
    fill_leaves,
    fill_level,
    match_rows,
    order_of,
)

__all__ = ["cells_of", "fill_leaves", "fill_level", "match_rows", "order_of"]
