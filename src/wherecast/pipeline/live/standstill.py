"""Notices that a query stands still: publications wait, and nothing is committed.

Spark has no time limit for tasks. A worker that hangs would hold a query forever, and so would the
process that plans, or Java.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread

from wherecast.model import StoreError
from wherecast.store.contracts import Store
from wherecast.store.position import Position

_LOOK_S = 0.25


class Standstill:
    """Whether commits stand still, judged by looks at the store.

    Args:
        patience_s: how long publications may wait without any commit.
        now_s: the time of the start.
    """

    def __init__(self, patience_s: float, now_s: float) -> None:
        self._patience_s = patience_s
        self._since_s = now_s
        self._reached = Position()

    def look(self, reached: Position, end: Position, now_s: float) -> bool:
        """Whether commits have stood still for too long; the time then begins anew.

        Args:
            reached: everything before it is committed.
            end: of the log.
            now_s: the time, by a clock that nobody sets.
        """
        if reached != self._reached or reached.reaches(end):
            self._reached, self._since_s = reached, now_s
        if now_s - self._since_s < self._patience_s:
            return False
        self._since_s = now_s
        return True


@contextmanager
def watched(store: Store, patience_s: float, give_up: Callable[[], None]) -> Iterator[Event]:
    """Watches the commits of a store beside the body; gives an event that says they stand still.

    Args:
        store: where batches are committed.
        patience_s: how long publications may wait without any commit.
        give_up: called where the body goes on without any commit for as long again.
    """
    ended, stands = Event(), Event()

    def watch() -> None:
        standstill = Standstill(patience_s, time.monotonic())
        while not ended.wait(_LOOK_S):
            with suppress(StoreError):
                reached, end = store.batches.progress().position, store.log.ends()
                if standstill.look(reached, end, time.monotonic()):
                    if stands.is_set():
                        give_up()
                        return
                    stands.set()

    watching = Thread(target=watch, name="wherecast-standstill", daemon=True)
    watching.start()
    try:
        yield stands
    finally:
        ended.set()
        watching.join()
