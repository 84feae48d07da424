"""The clocks of those who write to a store, and what their stages take."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic_ns, perf_counter, time_ns


def now_us() -> int:
    """The time, in microseconds since 1970."""
    return time_ns() // 1000


def boot_us() -> int:
    """Microseconds since some moment, by a clock that nobody sets and that a suspension moves."""
    boot: int | None = getattr(time, "CLOCK_BOOTTIME", None)  # Linux has it
    return (monotonic_ns() if boot is None else time.clock_gettime_ns(boot)) // 1000


@contextmanager
def timed(took: Callable[[str, float], None], stage: str) -> Iterator[None]:
    """Tells what is done meanwhile as a stage and its seconds, although something fails."""
    started = perf_counter()
    try:
        yield
    finally:
        took(stage, perf_counter() - started)
