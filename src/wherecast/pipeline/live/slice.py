"""A slice: one task that stays, and plans, matches and commits again and again.

Starting a job costs Spark far more than matching a few publications. So a task that runs while
publications come one by one waits for them itself. The log wakes it. It ends after a time, for a
backlog that several tasks are to share, when its query is stopped, and when the process that
started its worker is gone.

Concurrency: one thread.
"""

import os
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from wherecast.model import StoreError
from wherecast.pipeline.live.log_matching import LogMatching
from wherecast.pipeline.live.pipeline_figures import PipelineFigures
from wherecast.store.contracts import Log
from wherecast.store.position import Position
from wherecast.store.records import Batch

_LOOK_S = 1.0  # how often an idle slice looks whether it is to end
_TELL_S = 1.0  # how often the store gets figures


class NotStoredError(StoreError):
    """A batch was matched but could not be stored, as on a full disk: it is tried again."""


@dataclass(frozen=True, slots=True)
class SliceOptions:
    """When a slice ends, and what it leaves out.

    Attributes:
        length_s: how long it stays.
        backlog: number of waiting publications beyond which it ends; None where no other task
            would share them.
        stop_file: the slice ends when there is a file of this name.
        poison: the offsets of publications that end the process.
    """

    length_s: float
    backlog: int | None
    stop_file: Path
    poison: Collection[int] = ()


def run_slice(
    matching: LogMatching,
    log: Log,
    options: SliceOptions,
    tell: Callable[[PipelineFigures], None],
) -> None:
    """Matches and commits what is published, until the slice ends.

    Args:
        matching: plans, matches and commits.
        log: wakes the slice.
        options: when the slice ends.
        tell: called with new figures, about once a second.

    Raises:
        ConflictError: another pipeline has taken over.
        NotStoredError: a batch could not be written.
        StoreError: the log cannot be read.
    """
    parent = os.getppid()

    def is_over() -> bool:
        # A worker whose parent died belongs to no query any more.
        return os.path.exists(options.stop_file) or os.getppid() != parent

    try:
        _stay(matching, log, options, is_over, tell)
    finally:
        _hand_over(matching, tell)


def _stay(
    matching: LogMatching,
    log: Log,
    options: SliceOptions,
    is_over: Callable[[], bool],
    tell: Callable[[PipelineFigures], None],
) -> None:
    end = time.monotonic() + options.length_s
    tell_at = time.monotonic() + _TELL_S
    while not is_over() and time.monotonic() < end:
        if matching.figures.batches and time.monotonic() >= tell_at:
            tell_at = time.monotonic() + _TELL_S
            _hand_over(matching, tell)
        wanted = matching.plan()
        if wanted is None:
            left = min(_LOOK_S, max(0.0, end - time.monotonic()))
            log.wait(partial(_has_more, matching.progress.position, is_over), left)
        elif options.backlog is None or waiting(log, matching.progress.position) <= options.backlog:
            _commit(matching, matching.match(wanted, options.poison))
        else:
            return


def waiting(log: Log, reached: Position) -> int:
    """Number of records after a position."""
    return sum(log.count(part, reached[part], end) for part, end in log.ends().items())


def _has_more(reached: Position, is_over: Callable[[], bool], ends: Position) -> bool:
    return not reached.reaches(ends) or is_over()


def _commit(matching: LogMatching, batch: Batch) -> None:
    try:
        matching.commit(batch)
    except StoreError as error:
        raise NotStoredError(str(error)) from error


def _hand_over(matching: LogMatching, tell: Callable[[PipelineFigures], None]) -> None:
    """Tells the figures, and begins new ones."""
    figures, matching.figures = matching.figures, PipelineFigures()
    if figures.batches:
        tell(figures)
