"""Limits of the segments of a store."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SegmentSettings:
    """Limits of the segments of a store.

    Attributes:
        row_bytes_max: a segment of this size is a file, a smaller one is a row.
        opened_max: how many segments are kept open.
        dropped_kept_s: for how long the file of a segment that was merged or trimmed stays, so that
            a reader that knows of it can open it.
    """

    row_bytes_max: int = 64 << 10
    opened_max: int = 256
    dropped_kept_s: float = 60


DEFAULT_SEGMENTS = SegmentSettings()
