"""The clock of those who write to a store."""

from time import time_ns


def now_us() -> int:
    """The time, in microseconds since 1970."""
    return time_ns() // 1000
