"""Where the contract tests of logs open their stores, and what they append."""

import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from wherecast.model import Schema
from wherecast.store.clock import boot_us
from wherecast.store.contracts import Log, Registry
from wherecast.store.embedded.directory import Directory
from wherecast.store.embedded.log.log import EmbeddedLog
from wherecast.store.ids.recent_ids import IdWindow
from wherecast.store.memory.log import MemoryLog
from wherecast.store.records import CHANGES, HEADERS, Entry, Publications, Withdrawals

SCHEMA = Schema.from_dict({"no2": "float"})


class LogWithRegistry(Log, Protocol):
    registry: Registry


@dataclass
class Place:
    """A log that is open, and how to open it again where it outlives its process."""

    log: LogWithRegistry
    close: Callable[[], None] = lambda: None
    reopen: Callable[[], "Place"] | None = None


Clock = Callable[[], int]
"""A clock that nobody sets, in microseconds."""


def memory_place(
    partitions: int,
    window: IdWindow | None = None,
    monotonic: Clock = boot_us,
    is_sparse: bool = False,
) -> Place:
    return Place(MemoryLog(partitions, window, monotonic=monotonic, is_sparse=is_sparse))


def embedded_place(
    path: Path, window: IdWindow | None = None, vfs: str = "", monotonic: Clock = boot_us
) -> Place:
    directory = Directory(path, vfs=vfs)
    log = EmbeddedLog(directory, window, monotonic)

    def close() -> None:
        log.close()
        directory.close()

    def reopen() -> Place:
        close()
        return embedded_place(path, window, vfs, monotonic)

    return Place(log, close, reopen)


PLACES: dict[str, Callable[..., Place]] = {
    "memory-1": lambda path, window, clock=boot_us: memory_place(1, window, clock),
    "memory-3": lambda path, window, clock=boot_us: memory_place(3, window, clock),
    "memory-sparse": lambda path, window, clock=boot_us: memory_place(2, window, clock, True),
    "embedded": lambda path, window, clock=boot_us: embedded_place(path, window, monotonic=clock),
}


@dataclass(frozen=True)
class Body:
    """What a test appends: a number as the attributes, an id, a payload, a publisher."""

    number: int
    id: str | None = None
    payload: bytes | None = None
    publisher: str | None = None


def headers_of(**columns: Sequence[Any]) -> pa.RecordBatch:
    """A batch of `HEADERS`; columns that are left out are null."""
    count = len(next(iter(columns.values())))
    arrays = [pa.array(columns.get(one.name, [None] * count), one.type) for one in HEADERS]
    return pa.RecordBatch.from_arrays(arrays, schema=HEADERS)


def publications(
    bodies: Sequence[Body], stream: str = "default", **columns: Sequence[Any]
) -> Publications:
    """Publications as a broker hands them in; the log does not look into the attributes."""
    headers = headers_of(
        id=[body.id for body in bodies],
        publisher=[body.publisher for body in bodies],
        **columns,
    )
    attributes = json.dumps([body.number for body in bodies]).encode()
    payloads = pa.array([body.payload for body in bodies], pa.binary())
    digests = [zlib.crc32(repr((body.number, body.payload)).encode()) for body in bodies]
    return Publications(stream, attributes, headers, payloads, np.array(digests, np.uint64))


def withdrawals(*ids: str, stream: str = "default", publisher: str | None = None) -> Withdrawals:
    """Withdrawals of publications of one publisher."""
    return Withdrawals(stream, headers_of(id=ids, publisher=[publisher] * len(ids)))


def bodies_in(log: Log, partition: int, start: int = 0, end: int = 2**62) -> Iterator[Body]:
    """The publications of a partition, in order; no entry is damaged."""
    return (body for _, body in placed_bodies_in(log, partition, start, end))


def placed_bodies_in(
    log: Log, partition: int, start: int = 0, end: int = 2**62
) -> Iterator[tuple[int, Body]]:
    """The same, each with its offset."""
    reached = 0
    for entry in log.read(partition, start, end, headers=True, payloads=True):
        assert entry.damage is None
        assert reached <= entry.first
        reached = entry.end
        if entry.kind == "publication":
            yield from enumerate(bodies_of(entry), entry.first)


def bodies_of(entry: Entry) -> list[Body]:
    """The publications of an entry."""
    numbers = json.loads(entry.attributes)
    if entry.rows is not None:
        numbers = [numbers[row] for row in entry.rows]
    assert entry.headers is not None
    assert entry.payloads is not None
    rows, payloads = entry.headers.to_pylist(), entry.payloads.to_pylist()
    assert len(rows) == len(payloads) == len(numbers) == entry.count
    return [
        Body(number, row["id"], payload, row["publisher"])
        for number, row, payload in zip(numbers, rows, payloads, strict=True)
    ]


def changes(*rows: tuple[str, ...]) -> pa.RecordBatch:
    """Changes: kind, stream, subscriber, id, text and options of each; the last may be left out."""
    filled = [row + ("",) * (6 - len(row)) for row in rows]
    columns = [list(column) for column in zip(*filled, strict=True)]
    kinds = pa.array(columns[0], pa.string()).dictionary_encode()
    first = pa.DictionaryArray.from_arrays(kinds.indices.cast(pa.int16()), kinds.dictionary)
    rest = [pa.array(column, pa.string()) for column in columns[1:]]
    return pa.RecordBatch.from_arrays([first, *rest], schema=CHANGES)
