"""The names of subscriptions, sorted: subscribers, and the ids of each, as columns of one table.

A name is a pair of subscriber and id. Its number is its row, so that the order of the numbers is
the order of the names. The columns may lie in a mapped file: a table of a million names takes next
to no memory of the process.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.arrays.vectors import array_of, values_of

Int32s = npt.NDArray[np.int32]


class NameTable:
    """Distinct names, sorted by subscriber and id, as UTF-8 and code points order them.

    Attributes:
        subscribers: large_string, distinct and sorted.
        firsts: number of the first name of each subscriber, and the number of names; int32.
        ids: large_string, of each name.
        owners: place of the subscriber of each name; int32.

    Concurrency: any number of threads may read.
    """

    def __init__(
        self, subscribers: pa.Array, firsts: Int32s, ids: pa.Array, owners: Int32s
    ) -> None:
        self.subscribers = subscribers
        self.firsts = firsts
        self.ids = ids
        self.owners = owners
        self._subscriber_keys = SortedTexts(subscribers)
        self._id_keys = SortedTexts(ids)

    @staticmethod
    def empty() -> "NameTable":
        """A table without names."""
        none, nobody = np.zeros(0, np.int32), pa.nulls(0, pa.large_string())
        return NameTable(nobody, np.zeros(1, np.int32), nobody, none)

    @staticmethod
    def of(subscribers: pa.Array, ids: pa.Array) -> "NameTable":
        """The table of the subscriber and the id of each name, which are sorted already."""
        if not len(ids):
            return NameTable.empty()
        coded = subscribers.dictionary_encode()  # in order of appearance, which is sorted
        owners = values_of(coded.indices)
        starts = np.flatnonzero(np.diff(owners, prepend=-1))
        firsts = np.append(starts, len(ids)).astype(np.int32)
        return NameTable(coded.dictionary, firsts, ids, owners)

    def __len__(self) -> int:
        return len(self.ids)

    def find_subscriber(self, subscriber: str) -> tuple[int, bool]:
        """The place of a subscriber, or where one of that name belongs; whether it is there."""
        return self._subscriber_keys.find(subscriber.encode(), 0, len(self.subscribers))

    def find_id(self, owner: int, id: str) -> tuple[int, bool]:
        """The number of a subscriber's name, or where it belongs; whether it is there."""
        return self._id_keys.find(id.encode(), *self.range_of(owner))

    def range_of(self, owner: int) -> tuple[int, int]:
        """The first number of a subscriber's names, and the number after the last one."""
        return int(self.firsts[owner]), int(self.firsts[owner + 1])

    def name(self, number: int) -> tuple[str, str]:
        """The subscriber and the id of a name."""
        owner = int(self.owners[number])
        return self._subscriber_keys.text(owner), self._id_keys.text(number)

    def state(self) -> tuple[pa.RecordBatch, pa.RecordBatch]:
        """The subscribers and the names as batches, of which `restored` makes the table."""
        columns = [self.subscribers, array_of(self.firsts[:-1])]
        subscribers = pa.RecordBatch.from_arrays(columns, ["subscriber", "first"])
        names = pa.RecordBatch.from_arrays([self.ids, array_of(self.owners)], ["id", "owner"])
        return subscribers, names

    @staticmethod
    def restored(subscribers: pa.RecordBatch, names: pa.RecordBatch) -> "NameTable":
        """The table of what `state` gave; the batches may be mapped."""
        firsts = np.append(values_of(subscribers.column(1)), np.int32(names.num_rows))
        ids, owners = names.column(0), values_of(names.column(1))
        return NameTable(subscribers.column(0), firsts.astype(np.int32), ids, owners)


class SortedTexts:
    """A column of texts in sorted stretches, read and searched without an object for each."""

    def __init__(self, texts: pa.Array) -> None:
        assert texts.offset == 0
        assert pa.types.is_large_string(texts.type)
        _, ends, data = texts.buffers()
        # Arrow's buffers are of signed bytes, which do not equal those of `bytes` beyond ASCII.
        self._data = memoryview(b"" if data is None else data).cast("B")
        self._ends = memoryview(ends).cast("q") if len(texts) else memoryview(b"")

    def find(self, key: bytes, low: int, high: int) -> tuple[int, bool]:
        """Where a text is or belongs between two places, and whether it is there."""
        data, ends, end = self._data, self._ends, high
        while low < high:
            middle = (low + high) // 2
            if data[ends[middle] : ends[middle + 1]].tobytes() < key:
                low = middle + 1
            else:
                high = middle
        return low, low < end and data[ends[low] : ends[low + 1]] == key

    def text(self, place: int) -> str:
        """The text at a place."""
        return str(self._data[self._ends[place] : self._ends[place + 1]], "utf-8")
