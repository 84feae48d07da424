"""Limits under which even small segments are files, and old files are deleted soon.

So a short run meets every crash point.
"""

from wherecast.store.embedded.batches.segment_rows import SegmentSettings

SMALL = SegmentSettings(row_bytes_max=2_000, dropped_kept_s=1)
