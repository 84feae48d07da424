"""Group commit: what several threads hand in at once is committed in one step.

Concurrency. There is no thread of its own. Whoever hands in while nobody commits becomes the
leader: it commits all that waits, its own included, and goes. Who handed in meanwhile waits for its
result, and one of those takes over. Items are committed in the order in which they were handed in.
"""

import threading
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from wherecast.model.errors import StoreError

Item = TypeVar("Item")
Result = TypeVar("Result")


class _Waiting(Generic[Item, Result]):
    """An item and, once it is done, what became of it."""

    __slots__ = ("error", "is_done", "item", "result")

    def __init__(self, item: Item) -> None:
        self.item = item
        self.is_done = False
        self.result: Result | None = None
        self.error: BaseException | None = None


class GroupCommit(Generic[Item, Result]):
    """Commits items of many threads together.

    Args:
        commit: commits items, all or none, and gives a result for each. Never called by two threads
            at a time.
        items_max: how many go into one commit at most.
        tried_first: tells which items of a group that failed are tried again together, before the
            others are tried one by one. On a full disk such items may fit where others do not.

    Attributes:
        has_leader: whether a thread commits.
    """

    def __init__(
        self,
        commit: Callable[[Sequence[Item]], Sequence[Result]],
        items_max: int = 1000,
        tried_first: Callable[[Item], bool] = lambda item: False,
    ) -> None:
        self._commit = commit
        self._items_max = items_max
        self._tried_first = tried_first
        self._changed = threading.Condition()
        self._queue: list[_Waiting[Item, Result]] = []
        self.has_leader = False

    @property
    def waiting(self) -> int:
        """How many items wait for the next commit."""
        return len(self._queue)

    def submit(self, item: Item) -> Result:
        """The result of an item, once it is committed.

        An item that fails alone fails for itself: the others are then committed without it.
        """
        mine: _Waiting[Item, Result] = _Waiting(item)
        with self._changed:
            self._queue.append(mine)
            try:
                self._changed.wait_for(lambda: mine.is_done or not self.has_leader)
            except BaseException:  # interrupted: nobody waits for the result any more
                if mine in self._queue:
                    self._queue.remove(mine)
                raise
            if not mine.is_done:
                self.has_leader = True
        if not mine.is_done:
            self._lead(mine)
        if mine.error is not None:
            raise mine.error
        return mine.result  # type: ignore[return-value]  # None is a result too

    def _lead(self, mine: _Waiting[Item, Result]) -> None:
        """Commits group after group until the own item is done."""
        try:
            while not mine.is_done:
                with self._changed:
                    group = self._queue[: self._items_max]
                    del self._queue[: len(group)]
                try:
                    self._do(group)
                finally:
                    with self._changed:
                        _settle(group)
                        self._changed.notify_all()
        finally:
            with self._changed:
                self.has_leader = False
                self._changed.notify_all()

    def _do(self, group: list[_Waiting[Item, Result]]) -> None:
        try:
            results = self._commit([waiting.item for waiting in group])
        except Exception as error:  # noqa: BLE001  # whoever handed the item in gets it
            if len(group) == 1:
                group[0].error = error
                return
            first = [waiting for waiting in group if self._tried_first(waiting.item)]
            if 0 < len(first) < len(group):
                self._do(first)
                group = [waiting for waiting in group if not self._tried_first(waiting.item)]
            for waiting in group:
                self._do([waiting])
            return
        for waiting, result in zip(group, results, strict=True):
            waiting.result = result
            waiting.is_done = True


def _settle(group: Sequence[_Waiting[Item, Result]]) -> None:
    """Marks a group as done; who has no result by now, since the leader was interrupted, failed."""
    for waiting in group:
        if not waiting.is_done:
            waiting.is_done = True
            if waiting.error is None:
                waiting.error = StoreError("the commit was interrupted; it can be tried again")
