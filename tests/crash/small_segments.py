"""Makes even small segments files, and has old files deleted soon, in the process that imports it.

So a short run meets every crash point.
"""

from functools import partial

from wherecast.store.embedded import segment_rows

ROW_BYTES_MAX = 2_000

setattr(  # noqa: B010  # a class is replaced by what makes it
    segment_rows,
    "SegmentSettings",
    partial(segment_rows.SegmentSettings, row_bytes_max=ROW_BYTES_MAX, dropped_kept_s=1),
)
