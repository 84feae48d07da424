"""Limits under which even small segments are files, and old files are deleted soon.

So a short run meets every crash point.
"""

from wherecast.store.open_store import StoreOptions
from wherecast.store.segments.segment_settings import SegmentSettings

SMALL = SegmentSettings(row_bytes_max=2_000, dropped_kept_s=1)
SMALL_OPTIONS = StoreOptions(SMALL)
