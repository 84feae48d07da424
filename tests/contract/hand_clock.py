"""A clock that a test moves."""


class HandClock:
    """Stands where it was set, in microseconds."""

    def __init__(self, now: int = 0) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now
