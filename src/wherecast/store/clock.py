"""The clock of those who write to a store, and what their stages take."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter, time_ns


def now_us() -> int:
    """The time, in microseconds since 1970."""
    return time_ns() // 1000


@contextmanager
def timed(took: Callable[[str, float], None], stage: str) -> Iterator[None]:
    """Tells what is done meanwhile as a stage and its seconds, although something fails."""
    started = perf_counter()
    try:
        yield
    finally:
        took(stage, perf_counter() - started)
