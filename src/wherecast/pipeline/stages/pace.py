"""How many publications are matched at once, so that their matches fit into memory."""

from collections.abc import Iterator

import pyarrow as pa

_MATCHES_MAX = 8_000_000  # expected of one step
_FIRST = 64  # rows, when nothing is known yet


class Pace:
    """What is known of the matches per publication of some filters.

    Concurrency: threads may share one; it only guides, so a lost note does no harm.
    """

    def __init__(self) -> None:
        self._per_row: float | None = None

    @property
    def rows(self) -> int:
        """How many rows the next step may have."""
        if self._per_row is None:
            return _FIRST
        return max(1, int(_MATCHES_MAX / max(self._per_row, 1e-3)))

    def note(self, rows: int, matches: int) -> None:
        """Learns from a step: at once where there were more, slowly where there were fewer."""
        if not rows:
            return
        found = matches / rows
        known = self._per_row or 0.0
        self._per_row = found if found >= known else 0.9 * known + 0.1 * found


def paced(batch: pa.RecordBatch, pace: Pace) -> Iterator[pa.RecordBatch]:
    """The rows of a batch in steps; at least one, so that an empty batch has a result too."""
    start = 0
    while True:
        rows = batch.slice(start, pace.rows)
        yield rows
        start += rows.num_rows
        if start >= batch.num_rows:
            return
