"""Stamps for matches that run at the same time.

Concurrency: a match borrows stamps and gives them back; no two matches have the same ones.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from wherecast.matching.columnar.layout import Stamps

_KEPT = 16  # stamps that wait for the next match


class StampPool:
    """Stamps of so many filters, as many as matches need at the same time."""

    def __init__(self, filters: int) -> None:
        self._filters = filters
        self._free: list[Stamps] = []

    @contextmanager
    def borrow(self) -> Iterator[Stamps]:
        """Stamps that nobody else has meanwhile."""
        try:
            stamps = self._free.pop()
        except IndexError:
            stamps = Stamps(np.zeros(self._filters, np.uint8), np.zeros(1, np.int64))
        try:
            yield stamps
        finally:
            if len(self._free) < _KEPT:
                self._free.append(stamps)
