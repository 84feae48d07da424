"""The names of subscriptions by number: a sorted table, and the names that came after it.

A name in the table has the number of its row. A name that came later has the next free number, and
a place of its own in the order of all names. Few names come between two tables, so what the process
holds for each of them does not count.

Concurrency: one thread at a time.
"""

from bisect import insort
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.arrays.vectors import array_of
from wherecast.pipeline.live.subscriptions.name_table import NameTable

Ints = npt.NDArray[np.int64]
Int32s = npt.NDArray[np.int32]
_ONE_BY_ONE_MAX = 64  # new names that are sorted in one by one
_FOUND_MAX = 4_096  # names of the table whose numbers are kept at hand


class Names:
    """Distinct pairs of subscriber and id.

    Args:
        table: the sorted names.

    Attributes:
        table: the sorted names.
    """

    def __init__(self, table: NameTable) -> None:
        self.table = table
        self._subscribers: list[str] = []  # of the names after the table, and so on
        self._ids: list[str] = []
        self._owners: list[int] = []
        self._points: list[int] = []  # number of names of the table before each
        self._new: dict[str, dict[str, int]] = {}  # subscriber → id → number
        self._new_owners: dict[str, int] = {}
        self._sorted: list[tuple[str, str, int]] = []
        self._ranks: tuple[Ints, Ints] | None = None
        self._last: tuple[str, int, bool] | None = None  # the subscriber that was found last
        self._find_cache: dict[tuple[str, str], int] = {}  # of the table; a change asks twice
        self._marks = np.zeros(0, np.int32)

    def __len__(self) -> int:
        return len(self.table) + len(self._ids)

    @property
    def new_count(self) -> int:
        """Number of names that came after the table."""
        return len(self._ids)

    def find(self, subscriber: str, id: str) -> int | None:
        """The number of a name; None where it is unknown."""
        number = self._new.get(subscriber, {}).get(id)
        if number is not None:
            return number
        number = self._find_cache.get((subscriber, id))
        if number is not None:
            return number
        owner, is_there = self._find_subscriber(subscriber)
        if not is_there:
            return None
        number, is_there = self.table.find_id(owner, id)
        if not is_there:
            return None
        if len(self._find_cache) >= _FOUND_MAX:
            self._find_cache.clear()
        self._find_cache[subscriber, id] = number
        return number

    def enter(self, subscriber: str, id: str) -> int:
        """The number of a name, which becomes known where it is not."""
        number = self.find(subscriber, id)
        if number is not None:
            return number
        number, (owner, is_there) = len(self), self._find_subscriber(subscriber)
        if is_there:
            point = self.table.find_id(owner, id)[0]
        else:
            point = int(self.table.firsts[owner])
            next_owner = len(self.table.subscribers) + len(self._new_owners)
            owner = self._new_owners.setdefault(subscriber, next_owner)
        self._subscribers.append(subscriber)
        self._ids.append(id)
        self._owners.append(owner)
        self._points.append(point)
        self._new.setdefault(subscriber, {})[id] = number
        self._ranks = None
        return number

    def of(self, subscriber: str) -> list[int]:
        """The numbers of all names of a subscriber."""
        owner, is_there = self._find_subscriber(subscriber)
        own = list(range(*self.table.range_of(owner))) if is_there else []
        return own + list(self._new.get(subscriber, {}).values())

    def ranks(self, numbers: Ints | Int32s) -> Ints:
        """The place of each name in the order of all names; int64, same shape."""
        if not self._ids:
            return numbers.astype(np.int64)
        points, ranks = self._order()
        found = numbers.astype(np.int64)
        is_new = found >= len(self.table)
        found[is_new] = ranks[found[is_new] - len(self.table)]
        old = ~is_new
        found[old] += np.searchsorted(points, found[old], side="right")
        return found

    def owners(self, numbers: Ints | Int32s) -> Int32s:
        """A number for the subscriber of each name; int32, same shape."""
        if not self._ids:
            return self.table.owners[numbers]
        is_new = numbers >= len(self.table)
        found = np.empty(len(numbers), np.int32)
        found[~is_new] = self.table.owners[numbers[~is_new]]
        places = (numbers[is_new] - len(self.table)).tolist()
        found[is_new] = [self._owners[place] for place in places]
        return found

    def subscribers_of(self, numbers: Ints | Int32s) -> pa.Array:
        """The subscriber of each name; large_string."""
        table = self.table
        is_new = numbers >= len(table)
        if not is_new.any():
            return table.subscribers.take(array_of(table.owners[numbers]))
        old = table.subscribers.take(array_of(table.owners[numbers[~is_new]]))
        return self._woven(old, self._subscribers, numbers, is_new)

    def ids_of(self, numbers: Ints | Int32s) -> pa.Array:
        """The id of each name; large_string."""
        is_new = numbers >= len(self.table)
        if not is_new.any():
            return self.table.ids.take(array_of(numbers))
        old = self.table.ids.take(array_of(numbers[~is_new]))
        return self._woven(old, self._ids, numbers, is_new)

    def name(self, number: int) -> tuple[str, str]:
        """The subscriber and the id of a name."""
        place = number - len(self.table)
        if place >= 0:
            return self._subscribers[place], self._ids[place]
        return self.table.name(number)

    def marks(self) -> Int32s:
        """A zero for each name, to be used and left as zeros; int32, shape (n,)."""
        if len(self._marks) < len(self):
            self._marks = np.zeros(len(self) + len(self) // 16, np.int32)
        return self._marks

    def merged(self, kept: npt.NDArray[np.bool_]) -> tuple["Names", Int32s]:
        """The kept names in one new table, and the new number of each name, -1 without one.

        Args:
            kept: of each name whether it is kept; bool, shape (n,).
        """
        ranks = self.ranks(np.arange(len(self)))
        order = np.empty(len(self), np.int64)
        order[ranks] = np.arange(len(self))
        order = order[kept[order]]
        renumbered = np.full(len(self), -1, np.int32)
        renumbered[order] = np.arange(len(order), dtype=np.int32)
        table = NameTable.of(self.subscribers_of(order), self.ids_of(order))
        return Names(table), renumbered

    def _woven(
        self, old: pa.Array, texts: list[str], numbers: Ints | Int32s, is_new: npt.NDArray[np.bool_]
    ) -> pa.Array:
        """Texts of the table and of new names, in the order of the numbers."""
        places = (numbers[is_new] - len(self.table)).tolist()
        new = pa.array([texts[place] for place in places], pa.large_string())
        back = np.empty(len(numbers), np.int64)
        back[~is_new] = np.arange(len(old))
        back[is_new] = len(old) + np.arange(len(new))
        return pa.concat_arrays([old, new]).take(array_of(back))

    def _find_subscriber(self, subscriber: str) -> tuple[int, bool]:
        """The place of a subscriber in the table; a caller often asks for the same one again."""
        if self._last is None or self._last[0] != subscriber:
            self._last = subscriber, *self.table.find_subscriber(subscriber)
        return self._last[1], self._last[2]

    def _order(self) -> tuple[Ints, Ints]:
        """The points of new names, ascending, and the place of each new name among all names."""
        if self._ranks is None:
            entries = self._entries_after(len(self._sorted))
            if len(self._ids) - len(self._sorted) <= _ONE_BY_ONE_MAX:
                for entry in entries:
                    insort(self._sorted, entry)
            else:
                self._sorted.extend(entries)
                self._sorted.sort()
            order = np.array([place for _, _, place in self._sorted], np.int64)
            points = np.array(self._points, np.int64)
            ranks = np.empty(len(order), np.int64)
            ranks[order] = np.arange(len(order))
            self._ranks = points[order], points + ranks
        return self._ranks

    def _entries_after(self, start: int) -> Iterable[tuple[str, str, int]]:
        return [
            (self._subscribers[place], self._ids[place], place)
            for place in range(start, len(self._ids))
        ]
