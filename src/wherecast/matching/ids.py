"""Columns of ids: strings or ints, found by hash, without a Python object each."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from wherecast.arrays.vectors import array_of, texts_of, values_of
from wherecast.matching.matches import Id

Ints = npt.NDArray[np.int64]
_SMALL = 1 << 16  # ids that a dict is made of


class Ids(Sequence[Id]):
    """Distinct ids in a fixed order, each known by its number.

    Attributes:
        array: int64 or large_string.
        is_text: whether they are strings.

    Concurrency: any number of threads may use it; what is made on first use may be made twice.
    """

    def __init__(self, array: pa.Array) -> None:
        self.array = array
        self.is_text = bool(pa.types.is_large_string(array.type))
        self._numbers: dict[Id, int] | None = None
        self._values: Ints | None = None
        self._texts: list[Id] | None = None
        self._sorted: tuple[Ints, Ints | None] | None = None

    @staticmethod
    def of(ids: Sequence[Id]) -> "Ids":
        """The column of a list of ids of one type."""
        if ids and isinstance(ids[0], str):
            return Ids(texts_of(ids))  # type: ignore[arg-type]
        return Ids(array_of(np.array(ids, np.int64)))

    @staticmethod
    def joined(parts: Sequence[tuple["Ids", npt.NDArray[np.bool_] | None]]) -> "Ids":
        """The kept ids of several columns, one after the other (None keeps all)."""
        arrays = [ids.array if k is None else ids.array.filter(array_of(k)) for ids, k in parts]
        filled = [array for array in arrays if len(array)]
        return Ids(pa.concat_arrays(filled) if filled else array_of(np.zeros(0, np.int64)))

    @property
    def id_type(self) -> type:
        """The type of the ids in Python."""
        return str if self.is_text else int

    def __len__(self) -> int:
        return len(self.array)

    def __iter__(self) -> Iterator[Id]:
        return iter(self.array.to_pylist())

    def __getitem__(self, number: Any) -> Any:
        found = self.array[number]
        return found.to_pylist() if isinstance(number, slice) else found.as_py()

    def some(self, numbers: npt.NDArray[np.int32]) -> list[Id]:
        """The ids of some numbers."""
        if not self.is_text:
            found: list[Id] = self.some_ints(numbers).tolist()
            return found
        if len(self.array) > _SMALL:
            return self.array.take(array_of(numbers)).to_pylist()  # type: ignore[no-any-return]
        if self._texts is None:
            self._texts = self.array.to_pylist()
        texts = self._texts
        return [texts[number] for number in numbers.tolist()]

    def some_ints(self, numbers: npt.NDArray[np.int32]) -> Ints:
        """The ids of some numbers, where ids are ints."""
        if self._values is None:
            self._values = values_of(self.array)
        return self._values.take(numbers)

    def order(self) -> Ints | None:
        """The numbers in the order of the ids; None where they are in that order already."""
        order: Ints = values_of(pc.array_sort_indices(self.array)).astype(np.int64)
        return None if (np.diff(order) == 1).all() else order

    def take(self, numbers: Ints) -> "Ids":
        """The ids of some numbers."""
        return Ids(self.array.take(array_of(numbers)))

    def find(self, id: Id) -> int | None:
        """The number of an id, or None."""
        if isinstance(id, str) != self.is_text or isinstance(id, bool | float):
            return None
        if len(self.array) > _SMALL:
            return self._search(id)
        if self._numbers is None:
            self._numbers = {id: number for number, id in enumerate(self.array.to_pylist())}
        return self._numbers.get(id)

    def _search(self, id: Id) -> int | None:
        """The number of an id among many, or None."""
        keys, order = self._by_key()
        key = hash(id) if isinstance(id, str) else id
        place = int(keys.searchsorted(key))
        while place < len(keys) and keys[place] == key:
            number = place if order is None else int(order[place])
            if not self.is_text or self[number] == id:
                return number
            place += 1
        return None

    def _by_key(self) -> tuple[Ints, Ints | None]:
        """The keys in their order, and the numbers of their ids; None: they have that order."""
        if self._sorted is None:
            keys = self._keys()
            if (keys[1:] >= keys[:-1]).all():  # as in a saved index, whose ids stay mapped
                self._sorted = keys, None
            else:
                order = np.argsort(keys, kind="stable")
                self._sorted = keys[order], order
        return self._sorted

    def find_all(self, others: "Ids") -> Ints:
        """For each of other ids its number in this column, or -1."""
        if not len(self) or not len(others) or self.is_text != others.is_text:
            return np.full(len(others), -1, np.int64)
        keys, order = self._by_key()
        wanted = others._keys()
        places = np.searchsorted(keys, wanted)
        numbers = np.full(len(others), -1, np.int64)
        waiting = np.arange(len(others))
        while len(waiting):  # more than once only where two ids have one hash
            inside = places[waiting] < len(keys)
            waiting = waiting[inside]
            waiting = waiting[keys[places[waiting]] == wanted[waiting]]
            found = places[waiting] if order is None else order[places[waiting]]
            same = self._equal(found, others, waiting)
            numbers[waiting[same]] = found[same]
            waiting = waiting[~same]
            places[waiting] += 1
        return numbers

    def _keys(self) -> Ints:
        """A number for each id, the same for the same id in this process."""
        if self.is_text:
            return np.array([hash(id) for id in self.array.to_pylist()], np.int64)
        return values_of(self.array)

    def _equal(self, numbers: Ints, others: "Ids", places: Ints) -> npt.NDArray[np.bool_]:
        here, there = self.array.take(array_of(numbers)), others.array.take(array_of(places))
        return values_of(pc.equal(here, there))


class JoinedIds(Sequence[Id]):
    """The ids of several columns, one after the other, without copying them."""

    def __init__(self, parts: Sequence[Ids]) -> None:
        self._parts = parts
        self._ends = np.cumsum([len(ids) for ids in parts])

    @property
    def array(self) -> pa.Array:
        """All ids in one column."""
        return Ids.joined([(ids, None) for ids in self._parts]).array

    def __len__(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    def __iter__(self) -> Iterator[Id]:
        for ids in self._parts:
            yield from ids

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return list(self)[number]
        part = int(np.searchsorted(self._ends, number, side="right"))
        return self._parts[part][number - (int(self._ends[part - 1]) if part else 0)]
