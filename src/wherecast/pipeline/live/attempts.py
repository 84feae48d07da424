"""What an earlier process was matching when it ended: a reason to look for poison.

A mark stands for the place at which a process begins to match; it goes with the first commit. So a
process that finds the mark of an earlier one at its own first place follows one that came no
further.
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
        """Marks where a process begins; whether an earlier one began there and ended."""
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
