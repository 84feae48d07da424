"""What the publishers and subscribers of one broker share.

Concurrency: any number of threads.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from wherecast.broker.commit_source import CommitSource
from wherecast.broker.core_limits import DEFAULT_CORE_LIMITS, CoreLimits, Retention
from wherecast.broker.dispatch.courier import Courier
from wherecast.broker.dispatch.publication_cache import PublicationCache, Received
from wherecast.broker.inline_source import InlineSource
from wherecast.broker.intake.intake import PreparedPublications, prepare
from wherecast.broker.intake.published import Published, published
from wherecast.broker.registrar.registrar import DEFAULT_STREAM, Registrar
from wherecast.broker.runner import Runner
from wherecast.broker.tending import Tending
from wherecast.model import ConfigError, Publication, Schema, StoreError
from wherecast.pipeline.live.mend_segments import mend
from wherecast.pipeline.live.poison import culprits
from wherecast.store.clock import now_us
from wherecast.store.contracts import DamagedSegment, Store
from wherecast.store.ids.publication_ids import generated_id
from wherecast.store.records import Publications, Receipt

_ANY = Schema((), open=True)


class BrokerCore:
    """A store with everything that works on it in this process.

    Args:
        store: opened by its owner.
        schema: of the default stream, or None for one that is there or open.
        data: the directory of the store, if it has one.
        runs_pipeline: whether this process matches; otherwise another one does.
        limits: what subscribers may have.

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
        limits: CoreLimits = DEFAULT_CORE_LIMITS,
    ) -> None:
        self.store = store
        self.registrar = Registrar(store, limits.subscriptions_max)
        if schema is not None or DEFAULT_STREAM not in store.registry.streams():
            self.registrar.define(DEFAULT_STREAM, _ANY if schema is None else schema, now_us())
        self.courier = Courier(store, self._mend, limits.queues)
        self._runner = self._made_runner(data, runs_pipeline, limits.retention)
        identity = store.log.identity
        self._shelf = PublicationCache(
            store.log,
            store.registry.streams,
            lambda partition, offset: generated_id(identity, partition, offset),
        )
        self._lock = Lock()
        self._naming = Lock()  # a subscriber is registered and forgotten in one step
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

    def register(self, name: str) -> bool:
        """Registers a subscriber and opens its queue; False where it was registered already."""
        self.check()
        with self._naming:
            is_new = self.registrar.register(name, now_us())
            self.courier.open(name)
            return is_new

    def forget(self, name: str) -> bool:
        """Ends a subscriber with its subscriptions and its queue; False where it is unknown."""
        self.check()
        with self._naming:
            known = self.registrar.forget(name, now_us())
            if known:
                self.courier.forget(name)
            return known

    def open_queue(self, name: str) -> bool:
        """Opens the queue of a subscriber; False where nobody of this name is registered."""
        self.check()
        if self.courier.is_open(name):
            return True
        with self._naming:  # or it could be forgotten in between
            known = self.store.registry.has_subscriber(name)
            if known:
                self.courier.open(name)
            return known

    @property
    def problem(self) -> StoreError | None:
        """Why matching or delivery does not get on, where that may heal by itself."""
        return self._runner.problem

    @property
    def figures(self) -> Mapping[str, Any]:
        """What matching has done, where this process matches."""
        figures = self._runner.figures
        return {} if figures is None else figures.to_dict()

    @property
    def queued_in_all(self) -> int | None:
        """Notifications in all queues, when limits were looked at last; None before that."""
        return self._runner.queued

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
        return published(prepared, self.accept(prepared))

    def accept(self, prepared: PreparedPublications) -> Receipt | None:
        """Appends publications that were prepared, and has them matched; None if none is good.

        Raises:
            StoreError: they could not be stored; none is.
        """
        self.check()
        if not len(prepared.rows):
            return None
        at = now_us()
        receipt = self._append(prepared.good, at)
        self._shelf.put(prepared.good, prepared.batch, receipt, at)
        self._runner.wake()
        return receipt

    def _append(self, good: Publications, at: int) -> Receipt:
        try:
            return self.store.log.append(good, at)
        except StoreError:
            if self.is_closed:  # meanwhile
                raise ConfigError("the broker is closed") from None
            raise

    @property
    def is_closed(self) -> bool:
        """Whether the broker is closed."""
        return self._is_closed

    def received(self, sequences: Sequence[int]) -> list[Received | None]:
        """The publications of ascending sequences; None for one that is damaged or gone."""
        try:
            partitions, offsets = self.courier.locate(np.array(sequences, np.int64))
        except StoreError:
            start = self.store.mailboxes.starts_at()
            gone = sum(sequence < start for sequence in sequences)  # trimmed meanwhile
            if not gone:
                raise
            return [None] * gone + self.received(sequences[gone:])
        each = {
            partition: iter(self._shelf.get(partition, offsets[partitions == partition].tolist()))
            for partition in np.unique(partitions).tolist()
        }
        return [next(each[partition]) for partition in partitions.tolist()]

    def at_hand(self, sequences: Sequence[int]) -> list[Received] | None:
        """The same where all were published a moment ago, and nothing is to be read; else None."""
        try:
            partitions, offsets = self.courier.locate(np.array(sequences, np.int64))
        except StoreError:
            return None
        if len(set(partitions.tolist())) > 1:
            return None
        return self._shelf.at_hand(int(partitions[0]), offsets.tolist())

    def published(self, offsets: Sequence[int]) -> list[Received | None]:
        """The publications at ascending offsets of the first partition; None for a damaged one."""
        return self._shelf.get(0, offsets)

    def queued(self, name: str) -> int:
        """How many stored notifications of a subscriber are not acknowledged."""
        cursor = self.store.cursors.read(name)
        if cursor is None:  # forgotten
            return 0
        while True:
            try:
                count = self.store.mailboxes.counts({name: cursor.through})[name]
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

    def _made_runner(self, data: Path | None, runs_pipeline: bool, retention: Retention) -> Runner:
        """What brings notifications to the queues, and tends the store."""
        source: InlineSource | CommitSource = CommitSource(self.store.batches, self.courier)
        matcher = None
        if runs_pipeline:
            find_poison = None if data is None else partial(culprits, data)
            source = matcher = InlineSource(self.store, self.courier, now_us, find_poison)
        tending = Tending(self.store, self.courier, retention, now_us, matcher)
        return Runner(source, tending, self.courier.close)
