"""How long to wait before a process that ended is started again."""

_FIRST_S = 0.5
_MOST_S = 30.0
_STEADY_S = 60.0  # one that lived so long was well


class Backoff:
    """Doubles with each short life, and begins anew after a long one."""

    def __init__(self) -> None:
        self._next_s = _FIRST_S

    def after(self, lived_s: float) -> float:
        """The seconds to wait after a life of some seconds."""
        if lived_s >= _STEADY_S:
            self._next_s = _FIRST_S
        wait_s, self._next_s = self._next_s, min(2 * self._next_s, _MOST_S)
        return wait_s
