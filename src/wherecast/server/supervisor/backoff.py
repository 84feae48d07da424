"""How long to wait before a process that ended is started again."""

_FIRST_S = 0.5
_STEADY_S = 60.0  # a process that lived so long was well


class Backoff:
    """A wait that doubles with each short life of a process, and begins anew after a long one.

    Args:
        most_s: the longest wait.
    """

    def __init__(self, most_s: float) -> None:
        self._most_s = most_s
        self._next_s = min(_FIRST_S, most_s)

    def after(self, lived_s: float) -> float:
        """The seconds to wait after a process lived for some seconds."""
        if lived_s >= _STEADY_S:
            self._next_s = min(_FIRST_S, self._most_s)
        wait_s, self._next_s = self._next_s, min(2 * self._next_s, self._most_s)
        return wait_s
