"""What the publishers and subscribers of one broker share.

Concurrency: any number of threads.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock

import numpy as np

from wherecast.client.pump import Pump, now_us
from wherecast.gateway.courier import Courier
from wherecast.gateway.follower import Follower
from wherecast.gateway.intake import prepare
from wherecast.gateway.received import Received, Shelf
from wherecast.gateway.registrar import DEFAULT_STREAM, Registrar
from wherecast.model import (
    ConfigError,
    Problem,
    Publication,
    PublicationError,
    Schema,
    StoreError,
)
from wherecast.model.values import describe
from wherecast.pipeline.live.mend import mend
from wherecast.pipeline.live.poison import culprits
from wherecast.store.contracts import DamagedSegment, Store
from wherecast.store.publication_ids import generated_id
from wherecast.store.records import Publications, Receipt

_ANY = Schema((), open=True)


@dataclass(frozen=True, slots=True)
class Published:
    """What became of publications.

    Attributes:
        accepted: how many are in the log; they are durable where the broker is.
        duplicates: how many were accepted before, by their ids.
        errors: the places of the others in the call, each with its problems.
    """

    accepted: int
    duplicates: int
    errors: tuple[tuple[int, PublicationError], ...] = ()


class Desk:
    """A store with everything that works on it in this process.

    Args:
        store: opened by its owner.
        schema: of the default stream, or None for one that is there or open.
        data: the directory of the store, if it has one.
        runs_pipeline: whether this process matches; otherwise another one does.

    Attributes:
        store: what is kept.
        registrar: changes streams, subscribers and subscriptions.
        courier: has the queues.
    """

    def __init__(
        self,
        store: Store,
        schema: Schema | None,
        data: Path | None = None,
        runs_pipeline: bool = True,
    ) -> None:
        self.store = store
        self.registrar = Registrar(store)
        if schema is not None or DEFAULT_STREAM not in store.registry.streams():
            self.registrar.define(DEFAULT_STREAM, _ANY if schema is None else schema, now_us())
        self.courier = Courier(store, self._mend)
        self._runner = _runner(store, self.courier, data, runs_pipeline)
        identity = store.log.identity
        self._shelf = Shelf(
            store.log,
            store.registry.streams,
            lambda partition, offset: generated_id(identity, partition, offset),
        )
        self._lock = Lock()
        self._is_running = self._is_closed = False

    def check(self) -> None:
        """Begins to match and deliver where that was not done.

        Raises:
            ConfigError: the broker is closed.
            WherecastError: matching has ended, since it failed or another broker took over.
        """
        with self._lock:
            if self._is_closed:
                raise ConfigError("the broker is closed")
            if not self._is_running:
                self._is_running = True
                self._runner.start()
        self._runner.check()

    def raise_failure(self) -> None:
        """Raises what ended matching or delivery, if something did."""
        self._runner.check()

    def publish(self, given: Sequence[Publication], stream: str) -> Published:
        """Accepts publications, but for those that are refused.

        Raises:
            StoreError: they could not be stored; none is.
        """
        self.check()
        prepared = prepare(given, stream, self.registrar.schema(stream))
        problems: dict[int, list[Problem]] = {}
        for bad in prepared.rejected:
            problems.setdefault(bad.row, []).append(Problem(bad.code, bad.message, bad.attribute))
        accepted = duplicates = 0
        if len(prepared.rows):
            receipt = self._append(prepared.good)
            self._runner.wake()
            accepted = int((receipt.offsets >= 0).sum())
            duplicates = int(receipt.duplicates.sum())
            for row in prepared.rows[receipt.conflicts].tolist():
                text = f"id {given[row].id} came before with another body"
                problems[row] = [Problem("conflict", text)]
        errors = tuple((row, PublicationError(found)) for row, found in sorted(problems.items()))
        return Published(accepted, duplicates, errors)

    def _append(self, good: Publications) -> Receipt:
        try:
            return self.store.log.append(good, now_us())
        except StoreError:
            if self.is_closed:  # meanwhile
                raise ConfigError("the broker is closed") from None
            raise

    @property
    def is_closed(self) -> bool:
        """Whether the broker is closed."""
        return self._is_closed

    def received(self, sequences: Sequence[int]) -> list[Received | None]:
        """The publications of ascending sequences; None for one that is damaged."""
        partitions, offsets = self.courier.locate(np.array(sequences, np.int64))
        each = {
            partition: iter(self._shelf.get(partition, offsets[partitions == partition].tolist()))
            for partition in np.unique(partitions).tolist()
        }
        return [next(each[partition]) for partition in partitions.tolist()]

    def queued(self, name: str) -> int:
        """How many stored notifications of a subscriber are not acknowledged."""
        cursor = self.store.cursors.read(name)
        if cursor is None:  # forgotten
            return 0
        while True:
            try:
                count = self.store.mailboxes.count(name, cursor.through)
            except DamagedSegment as damage:
                self._mend(damage.first, damage.end)
                continue
            # What was acknowledged may not be stored yet.
            return max(0, count - len(cursor.beyond))

    def close(self) -> None:
        """Ends everything; those that wait are let go."""
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
        self.courier.close()
        self._runner.stop()
        self.store.close()

    def _mend(self, first: int, end: int) -> None:
        mend(self.store, first, end, now_us())


def _runner(
    store: Store, courier: Courier, data: Path | None, runs_pipeline: bool
) -> Pump | Follower:
    """What brings batches to the queues."""
    if not runs_pipeline:
        return Follower(store, courier)
    return Pump(store, courier, None if data is None else partial(culprits, data))


def open_store(data: str | Path | None) -> Store:
    """The store of a directory, or one in memory; what it needs is imported only then."""
    if data is not None and not isinstance(data, str | Path):
        raise ConfigError(f"data is a directory, not {describe(data)}")
    if data is None:
        from wherecast.store.memory.store import MemoryStore

        return MemoryStore()
    from wherecast.store.embedded.store import EmbeddedStore

    return EmbeddedStore(data)
