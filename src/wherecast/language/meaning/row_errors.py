"""Errors of a row: what Spark would fail on, which is unknown here, counted by reason.

A formula that has no value although an operation of it had all its operands counts once each time
it is computed, with the reason of the first such operation. A formula that has a value in spite of
that, as `coalesce(a / b, 0)` has, does not count. A pattern that cannot be read, and a regular
expression that would cost too much, count each time they are tried.

Concurrency: `counting` is of one thread. Any number of threads may add to the same counts.
"""

from contextlib import ContextDecorator
from contextvars import ContextVar
from threading import Lock
from typing import Final

DIVISION_BY_ZERO: Final = "division_by_zero"
OVERFLOW: Final = "overflow"
ARRAY_INDEX: Final = "array_index"
PATTERN: Final = "pattern"
REGEX_LIMIT: Final = "regex_limit"
REASONS: Final = (DIVISION_BY_ZERO, OVERFLOW, ARRAY_INDEX, PATTERN, REGEX_LIMIT)
"""All reasons, in the order in which they are shown."""


class RowErrors:
    """Numbers of errors by reason."""

    def __init__(self) -> None:
        self._counts = dict.fromkeys(REASONS, 0)
        self._lock = Lock()

    def add(self, reason: str, count: int) -> None:
        """Counts some more errors of one of the `REASONS`."""
        with self._lock:
            self._counts[reason] += count

    def counts(self) -> dict[str, int]:
        """The number of errors of each reason."""
        with self._lock:
            return dict(self._counts)


_counted: ContextVar[RowErrors | None] = ContextVar("row_errors", default=None)


class _Counting(ContextDecorator):
    """A context in which errors are added to some counts; it is entered for each publication."""

    __slots__ = ("_errors", "_token")

    def __init__(self, errors: RowErrors | None) -> None:
        self._errors = errors

    def _recreate_cm(self) -> "_Counting":
        return _Counting(self._errors)  # each call of what it decorates has its own

    def __enter__(self) -> None:
        self._token = _counted.set(self._errors)

    def __exit__(self, *_: object) -> None:
        _counted.reset(self._token)


def counting(errors: RowErrors | None) -> _Counting:
    """A context in which the errors of this thread are added to some counts; None counts none."""
    return _Counting(errors)


def is_counting() -> bool:
    """Whether errors of this thread are counted."""
    return _counted.get() is not None


def count_errors(reason: str, count: int = 1) -> None:
    """Counts errors where this thread counts them."""
    errors = _counted.get()
    if errors is not None and count:
        errors.add(reason, count)
