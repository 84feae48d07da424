"""The compiled kernels; importing this package imports numba.

`columnar.column_scan` is the obvious twin of all of them together: it gives the same matches from
whole columns, and the kernels are compared with it. `columnar.layout` says what the arrays mean.
"""

from wherecast.matching.columnar.kernels.cell_kernels import encode
from wherecast.matching.columnar.kernels.matching import match_groups, match_rows, scan
from wherecast.matching.columnar.kernels.order import fill_leaves, fill_level, order_of
from wherecast.matching.columnar.kernels.program_kernels import decide, resume
from wherecast.matching.columnar.kernels.result_rows import add_matches, gather, once
from wherecast.matching.columnar.kernels.row_kernels import match_row, resume_row

__all__ = [
    "add_matches", "decide", "encode", "fill_leaves", "fill_level", "gather", "match_groups",
    "match_row", "match_rows", "once", "order_of", "resume", "resume_row", "scan",
]  # fmt: skip
