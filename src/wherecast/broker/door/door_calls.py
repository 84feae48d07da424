"""Calls at the door: what is handed in, and who waits for the result."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Any

from wherecast.broker.intake.single_publication import SinglePublication
from wherecast.store.store_items import StoreItem


@dataclass(frozen=True, slots=True)
class PendingRow:
    """A publication that waits to be appended, together with others of its stream."""

    publication: SinglePublication
    at: int


@dataclass(frozen=True, slots=True)
class PendingSave:
    """A call that waits until the cursors that have changed by now are stored."""


@dataclass(frozen=True, slots=True)
class RowReceipt:
    """The outcome of one publication.

    Attributes:
        offset: of the publication; -1 if it was not appended.
        is_duplicate: whether its id is taken by a publication with the same body.
        is_conflict: whether its id is taken by one with another body.
    """

    offset: int
    is_duplicate: bool = False
    is_conflict: bool = False


DoorItem = StoreItem | PendingRow | PendingSave
Done = Callable[["DoorCall"], None]


class DoorCall:
    """An item at the door and, once it is done, what became of it.

    Attributes:
        item: what was handed in.
        done: called on the leader's thread once the item is done; None where a thread waits.
        turn: held while a thread waits; whoever releases it has the thread look again.
        leads: whether the waiting thread was made the leader.
        is_done: whether the item is stored, or has failed.
        result: of the item.
        error: why the item failed.
    """

    __slots__ = ("done", "error", "is_done", "item", "leads", "result", "turn")

    def __init__(self, item: DoorItem, done: Done | None = None) -> None:
        self.item = item
        self.done = done
        self.turn: Lock | None = None
        self.leads = False
        self.is_done = False
        self.result: Any = None
        self.error: BaseException | None = None


class DoorQueue:
    """Calls that wait, fair between their keys: each key in turn gives one call.

    The calls of one key stay in order.
    """

    def __init__(self) -> None:
        self._by_key: dict[str, deque[DoorCall]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def put(self, key: str, call: DoorCall) -> None:
        """Adds a call."""
        self._by_key.setdefault(key, deque()).append(call)
        self._count += 1

    def take(self, most: int) -> list[DoorCall]:
        """Removes and gives the next calls, at most so many."""
        if len(self._by_key) == 1:
            return self._take_from_one(most)
        found: list[DoorCall] = []
        while self._by_key and len(found) < most:
            key = next(iter(self._by_key))
            calls = self._by_key.pop(key)
            found.append(calls.popleft())
            if calls:
                self._by_key[key] = calls  # behind the other keys
        self._count -= len(found)
        return found

    def _take_from_one(self, most: int) -> list[DoorCall]:
        (key, calls), *_ = self._by_key.items()
        found = [calls.popleft() for _ in range(min(most, len(calls)))]
        if not calls:
            del self._by_key[key]
        self._count -= len(found)
        return found

    def remove(self, call: DoorCall) -> bool:
        """Removes a call; False where it does not wait any more."""
        for key, calls in self._by_key.items():
            if call in calls:
                calls.remove(call)
                self._count -= 1
                if not calls:
                    del self._by_key[key]
                return True
        return False

    def first_waiting(self) -> DoorCall | None:
        """The first call for which a thread waits."""
        for calls in self._by_key.values():
            for call in calls:
                if call.turn is not None:
                    return call
        return None
