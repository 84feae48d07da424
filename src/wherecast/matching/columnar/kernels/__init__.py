"""The compiled kernels; importing this package imports numba.

`columnar.column_scan` is the obvious twin of all of them together: it gives the same matches from
whole columns, and the kernels are compared with it. `columnar.layout` says what the arrays mean.
"""

from wherecast.matching.columnar.kernels.cell_kernels import encode
from wherecast.matching.columnar.kernels.matching import gather, match_groups, match_rows, scan
from wherecast.matching.columnar.kernels.order import fill_leaves, fill_level, order_of

__all__ = [
    "encode", "fill_leaves", "fill_level", "gather", "match_groups", "match_rows", "order_of",
    "scan",
]  # fmt: skip
