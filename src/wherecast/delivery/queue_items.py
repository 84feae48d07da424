"""The notifications of a queue that are in memory and not acknowledged.

They are of two kinds: in flight over the connection, and waiting. Sending goes from the oldest to
the newest, so everything in flight is older than everything that waits.
"""

from collections import OrderedDict
from collections.abc import Iterator
from itertools import chain

Item = tuple[int, tuple[str, ...]]
"""A sequence, and the sorted ids of the subscriptions that matched."""


class QueueItems:
    """Items in ascending order; any of them can be removed.

    Cost: each method takes a constant time per item that it adds, moves, gives or removes.
    """

    # Linked maps: the first item of a plain dict is found ever more slowly while it is drained.
    __slots__ = ("_in_flight", "_waiting")

    def __init__(self) -> None:
        self._in_flight: OrderedDict[int, tuple[str, ...]] = OrderedDict()
        self._waiting: OrderedDict[int, tuple[str, ...]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._in_flight) + len(self._waiting)

    def __contains__(self, sequence: int) -> bool:
        return sequence in self._in_flight or sequence in self._waiting

    def __iter__(self) -> Iterator[Item]:
        return chain(self._in_flight.items(), self._waiting.items())

    @property
    def in_flight(self) -> int:
        """Number of items in flight."""
        return len(self._in_flight)

    def first(self) -> int | None:
        """The oldest sequence; None where there is no item."""
        return next(chain(self._in_flight, self._waiting), None)

    def add(self, sequence: int, ids: tuple[str, ...]) -> None:
        """Adds an item that is newer than all others."""
        self._waiting[sequence] = ids

    def send(self, most: int) -> list[Item]:
        """The oldest waiting items, at most so many; from now on they are in flight."""
        items = [self._waiting.popitem(last=False) for _ in range(min(most, len(self._waiting)))]
        self._in_flight.update(items)
        return items

    def take_back(self) -> None:
        """Has all items in flight wait again."""
        while self._in_flight:
            sequence, ids = self._in_flight.popitem()
            self._waiting[sequence] = ids
            self._waiting.move_to_end(sequence, last=False)

    def remove(self, sequence: int) -> bool:
        """Removes an item; False where there is none of this sequence."""
        items = self._in_flight if sequence in self._in_flight else self._waiting
        return items.pop(sequence, None) is not None

    def remove_before(self, sequence: int) -> int:
        """Removes all items older than a sequence, and gives their number."""
        count = len(self)
        for items in (self._in_flight, self._waiting):
            while items and next(iter(items)) < sequence:
                items.popitem(last=False)
        return count - len(self)
