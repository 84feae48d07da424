"""A cache that is bounded by bytes, not by entries: a few long texts count as much as many short.

Concurrency: any number of threads may call `get`. A hit takes no lock. Two threads that miss the
same key both make its value, and one of the two values stays.
"""

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class ByteCache(Generic[K, V]):
    """Values by key, in two generations of which each has half of the bytes.

    A new value enters the young generation. When that is full it becomes the old one, and the old
    one is dropped; a value that is asked for in between moves to the young generation again.
    """

    def __init__(self, bytes_max: int, size_of: Callable[[K, V], int]) -> None:
        """Makes an empty cache.

        Args:
            bytes_max: the most that keys and values may take together.
            size_of: the bytes of a key with its value; called once for each stored pair.
        """
        self._half = bytes_max // 2
        self._size_of = size_of
        self._young: dict[K, V] = {}
        self._old: dict[K, V] = {}
        self._young_bytes = 0
        self._old_bytes = 0
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._young) + len(self._old)

    @property
    def nbytes(self) -> int:
        """The bytes of all keys and values, as `size_of` measures them."""
        return self._young_bytes + self._old_bytes

    def find(self, key: K) -> V | None:
        """The value of a key, or None where the cache has none."""
        found = self._young.get(key)
        return self._old.get(key) if found is None else found

    def get(self, key: K, make: Callable[[K], V]) -> V:
        """The value of a key, made where the cache has none; None is no value.

        A value that is larger than half of the cache is returned and not stored.
        """
        found = self._young.get(key)
        if found is not None:
            return found
        found = self._old.get(key)
        if found is None:
            found = make(key)
        self._store(key, found)
        return found

    def clear(self) -> None:
        """Drops everything."""
        with self._lock:
            self._young, self._old = {}, {}
            self._young_bytes = self._old_bytes = 0

    def _store(self, key: K, value: V) -> None:
        size = self._size_of(key, value)
        if size > self._half:
            return
        with self._lock:
            if key in self._young:
                return
            if self._old.pop(key, None) is not None:
                self._old_bytes -= size
            if self._young_bytes + size > self._half:
                self._old, self._old_bytes = self._young, self._young_bytes
                self._young, self._young_bytes = {}, 0
            self._young[key] = value
            self._young_bytes += size
