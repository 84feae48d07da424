"""Marks of attempts: whether an earlier process ended before its first commit.

A process marks the sequence at which it begins to match, and removes the mark with its first
commit. A process that finds a mark at its own first sequence knows that an earlier process ended
there, perhaps because of a publication, and looks for poison.
"""

from contextlib import suppress

from wherecast.model import ConfigError
from wherecast.store.blobs.blobs import Blobs

_MARKS = "attempts"


class Attempts:
    """Marks of one store."""

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs

    def begin(self, sequence: int) -> bool:
        """Marks the sequence where a process begins; whether an earlier process left that mark."""
        name = f"{_MARKS}/{sequence:016x}"
        marks: list[str] = []
        with suppress(ConfigError):  # without a mark it only takes one start more
            marks = self._blobs.names(_MARKS)
            for other in marks:
                if other != name:
                    self._blobs.delete(other)
            self._blobs.create(name, b"")
        return name in marks

    def passed(self) -> None:
        """Removes the mark: the first batch is committed."""
        with suppress(ConfigError):
            for name in self._blobs.names(_MARKS):
                self._blobs.delete(name)
