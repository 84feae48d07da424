"""Where the contract tests of logs open their stores, and what they append."""

import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import pyarrow as pa

from wherecast.model import Schema
from wherecast.store.contracts import Log, Registry
from wherecast.store.embedded.directory import Directory
from wherecast.store.embedded.log.log import EmbeddedLog
from wherecast.store.ids.recent_ids import IdWindow
from wherecast.store.memory.log import MemoryLog
from wherecast.store.records import CHANGE_KINDS, CHANGES, ENVELOPES, Publications

SCHEMA = Schema.from_dict({"no2": "float"})


class LogWithRegistry(Log, Protocol):
    registry: Registry


@dataclass
class Place:
    """A log that is open, and how to open it again where it outlives its process."""

    log: LogWithRegistry
    close: Callable[[], None] = lambda: None
    reopen: Callable[[], "Place"] | None = None


def memory_place(partitions: int, window: IdWindow | None = None) -> Place:
    return Place(MemoryLog(partitions, window))


def embedded_place(path: Path, window: IdWindow | None = None, vfs: str = "") -> Place:
    directory = Directory(path, vfs=vfs)
    log = EmbeddedLog(directory, window)

    def close() -> None:
        log.close()
        directory.close()

    def reopen() -> Place:
        close()
        return embedded_place(path, window, vfs)

    return Place(log, close, reopen)


PLACES: dict[str, Callable[[Path, IdWindow | None], Place]] = {
    "memory-1": lambda path, window: memory_place(1, window),
    "memory-3": lambda path, window: memory_place(3, window),
    "embedded": embedded_place,
}


@dataclass(frozen=True)
class Body:
    """What a test appends: a number as the attributes, an id and a payload."""

    number: int
    id: str | None = None
    payload: bytes | None = None


def publications(bodies: Sequence[Body], stream: str = "default") -> Publications:
    """Publications as a gateway hands them in; the log does not look into the attributes."""
    envelopes = pa.RecordBatch.from_arrays(
        [
            pa.array([body.id for body in bodies], pa.string()),
            pa.nulls(len(bodies), ENVELOPES.field("published_at").type),
            pa.array([body.payload for body in bodies], pa.binary()),
        ],
        schema=ENVELOPES,
    )
    attributes = json.dumps([body.number for body in bodies]).encode()
    digests = [zlib.crc32(repr((body.number, body.payload)).encode()) for body in bodies]
    return Publications(stream, attributes, envelopes, np.array(digests, np.uint64))


def bodies_in(log: Log, partition: int, start: int = 0, end: int = 2**62) -> Iterator[Body]:
    """What is in a partition, in order; no entry is damaged."""
    expected = None
    for entry in log.read(partition, start, end, envelopes=True):
        assert entry.damage is None
        assert expected in (None, entry.first)
        expected = entry.first + entry.count
        numbers = json.loads(entry.attributes)
        if entry.rows is not None:
            numbers = [numbers[row] for row in entry.rows]
        assert entry.envelopes is not None
        rows = entry.envelopes.to_pylist()
        assert len(rows) == len(numbers) == entry.count
        for number, row in zip(numbers, rows, strict=True):
            yield Body(number, row["id"], row["payload"])


def changes(*rows: tuple[str, ...]) -> pa.RecordBatch:
    """Changes; each is its kind, stream, subscriber, id and text, empty ones may be left out."""
    filled = [row + ("",) * (5 - len(row)) for row in rows]
    columns = [list(column) for column in zip(*filled, strict=True)]
    kinds = pa.array([CHANGE_KINDS.index(kind) for kind in columns[0]], pa.int8())
    first = pa.DictionaryArray.from_arrays(kinds, pa.array(CHANGE_KINDS))
    rest = [pa.array(column, pa.string()) for column in columns[1:]]
    return pa.RecordBatch.from_arrays([first, *rest], schema=CHANGES)
