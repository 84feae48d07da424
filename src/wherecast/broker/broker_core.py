"""The heart of a broker: one process that accepts, keeps and delivers over one store.

Its parts, in the order in which a publication meets them:

    intake      checks publications and makes them ready for the log
    door        writes them to the log, with all else that waits; what came one by one is matched
                there and then
    store       the log, the registry, the batches and the cursors
    runner      commits what was matched and matches what is left; or follows the process that
                matches; tends the store
    courier     the queues of subscribers
    cache       recent publications, for those who receive them

Beside that path, the registrar changes streams, subscribers and subscriptions.

Life: the constructor defines the default stream and starts no thread. The first `check` starts the
runner, and every operation begins with one. `close` ends the runner and closes the store.

Concurrency: any number of threads.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from wherecast.broker.commit_source import CommitSource
from wherecast.broker.core_limits import DEFAULT_CORE_LIMITS, CoreLimits, Retention
from wherecast.broker.dispatch.acknowledgement import Acknowledgement
from wherecast.broker.dispatch.courier import Courier
from wherecast.broker.dispatch.publication_cache import LoggedPublication, PublicationCache
from wherecast.broker.door.door import Door
from wherecast.broker.door.door_calls import DoorItem, PendingRow
from wherecast.broker.door.door_group import WrittenGroup
from wherecast.broker.inline_source import InlineSource
from wherecast.broker.intake.intake import PreparedPublications, prepare
from wherecast.broker.intake.publish_outcome import PublishOutcome, outcome_of, singles_outcome
from wherecast.broker.intake.single_publication import SingleIntake
from wherecast.broker.registrar.registrar import DEFAULT_STREAM, Registrar
from wherecast.broker.runner import Runner
from wherecast.broker.tending import Tending
from wherecast.model import ConfigError, Publication, Schema, StoreError, WherecastError
from wherecast.pipeline.live.pipeline_figures import PipelineFigures
from wherecast.pipeline.live.repair.mend_segments import mend
from wherecast.pipeline.live.repair.poison import culprits
from wherecast.pipeline.live.subscriptions.live_subscriptions import DEFAULT_INDEX
from wherecast.pipeline.live.subscriptions.share_index import IndexFactory
from wherecast.store.clock import now_us
from wherecast.store.contracts import DamagedSegment, Store
from wherecast.store.ids.publication_ids import generated_id
from wherecast.store.records import Receipt
from wherecast.store.store_items import PendingPublications

_ANY = Schema((), open=True)


@dataclass(frozen=True, slots=True)
class CoreEnvironment:
    """What a broker takes from its surroundings; a simulator gives its own.

    The identity of the log is an option of the store.

    Attributes:
        clock: gives the time in microseconds since 1970, UTC.
        index: makes the index of the subscriptions, where this process matches.
    """

    clock: Callable[[], int] = now_us
    index: IndexFactory = DEFAULT_INDEX


DEFAULT_ENVIRONMENT = CoreEnvironment()


def environment_with(index: str) -> CoreEnvironment:
    """The usual surroundings, with indexes of a kind.

    Raises:
        ConfigError: the kind is unknown.
    """
    return CoreEnvironment(index=IndexFactory(index))


class BrokerCore:
    """A store with everything that works on it in this process.

    Args:
        store: opened by the caller; `close` closes it.
        schema: the schema of the default stream; None keeps the stored one, or else is open.
        data: the directory of the store, if it has one: there publications are looked for that
            end the process which matches them.
        runs_pipeline: whether this process matches; otherwise another one does.
        limits: what each subscriber may take.
        environment: the clock and the index factory.

    Attributes:
        store: what is kept.
        registrar: changes streams, subscribers and subscriptions.
        courier: has the queues.
        door: writes to the log.
        clock: gives the time in microseconds.
    """

    def __init__(
        self,
        store: Store,
        schema: Schema | None,
        data: Path | None = None,
        runs_pipeline: bool = True,
        limits: CoreLimits = DEFAULT_CORE_LIMITS,
        environment: CoreEnvironment = DEFAULT_ENVIRONMENT,
    ) -> None:
        self.store = store
        self.clock = environment.clock
        self._cache = PublicationCache(
            store.log, store.registry.streams, partial(generated_id, store.log.identity)
        )
        self.courier = Courier(store, self._mend, limits.queues, self._hurry)
        self._matcher = self._matcher_of(data, environment.index) if runs_pipeline else None
        self.door = Door(store, self.courier.cursors, self._follow)
        self.registrar = Registrar(store, self.door, limits.subscriptions_max)
        if schema is not None or DEFAULT_STREAM not in store.registry.streams():
            self.registrar.define(DEFAULT_STREAM, _ANY if schema is None else schema, self.clock())
        self._runner = self._runner_of(self._matcher, limits.retention)
        self._intakes: dict[str, SingleIntake] = {}  # by stream
        self._lock = Lock()
        self._registering = Lock()  # a subscriber and its queue change in one step
        self._is_running = self._is_closed = False

    def _matcher_of(self, data: Path | None, index: IndexFactory) -> InlineSource:
        find_poison = None if data is None else partial(culprits, data, index=index)
        return InlineSource(self.store, self.courier, self.clock, find_poison, index)

    def _runner_of(self, matcher: InlineSource | None, retention: Retention) -> Runner:
        """The threads that bring notifications to the queues and tend the store."""
        source = CommitSource(self.store.batches, self.courier) if matcher is None else matcher
        tending = Tending(
            self.store, self.courier, retention, self.door.save_cursors, self.clock, matcher
        )
        return Runner(source, tending, self.courier.close)

    # Life.

    def check(self) -> None:
        """Starts to match and deliver, if that has not begun, and raises what ended it.

        Raises:
            ConfigError: the broker is closed.
            WherecastError: matching or delivery failed, or another broker took over.
        """
        with self._lock:
            if self._is_closed:
                raise ConfigError("the broker is closed")
            if not self._is_running:
                self._is_running = True
                self._runner.start()
        self._runner.check()

    def raise_failure(self) -> None:
        """Raises what ended matching or delivery, if something did; also after `close`."""
        self._runner.check()

    def close(self) -> None:
        """Lets all go that wait, ends the runner and closes the store."""
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
        self.courier.close()
        self.door.stop_serving()
        self._runner.stop()
        self.store.close()

    @property
    def is_closed(self) -> bool:
        """Whether the broker is closed."""
        return self._is_closed

    @property
    def problem(self) -> StoreError | None:
        """Why matching or delivery does not get on, where that may heal by itself."""
        return self._runner.problem

    @property
    def figures(self) -> Mapping[str, Any]:
        """What matching has done; where other processes match, as the store has it of them."""
        figures = self._runner.figures
        if figures is None:
            figures = PipelineFigures.of_parts(self.store.figures.read())
        return figures.to_dict()

    # Subscribers.

    def register(self, name: str) -> bool:
        """Registers a subscriber and opens its queue; False where it was registered already."""
        self.check()
        with self._registering:
            is_new = self.registrar.register(name, self.clock())
            self.courier.open(name)
            return is_new

    def forget(self, name: str) -> bool:
        """Ends a subscriber with its subscriptions and its queue; False where it is unknown."""
        self.check()
        with self._registering:
            is_known = self.registrar.forget(name, self.clock())
            if is_known:
                self.courier.forget(name)
                self.door.save_cursors()
            return is_known

    def open_queue(self, name: str) -> bool:
        """Opens the queue of a subscriber; False where nobody of this name is registered."""
        self.check()
        if self.courier.is_open(name):
            return True
        with self._registering:
            is_known = self.store.registry.has_subscriber(name)
            if is_known:
                self.courier.open(name)
            return is_known

    def queued(self, name: str) -> int:
        """Number of stored notifications of a subscriber that are not acknowledged."""
        cursor = self.store.cursors.read(name)
        if cursor is None:  # forgotten
            return 0
        while True:
            try:
                count = self.store.mailboxes.counts({name: cursor.through})[name]
            except DamagedSegment as damage:
                self._mend(damage.first, damage.end)
                continue
            # An acknowledged notification may not be stored yet.
            return max(0, count - len(cursor.beyond))

    @property
    def queued_in_all(self) -> int | None:
        """Notifications in all queues when limits were enforced last; None before that."""
        return self._runner.queued

    def acknowledge(
        self, given: Sequence[tuple[str, Acknowledgement]]
    ) -> list[WherecastError | None]:
        """Acknowledges for several subscribers; their cursors are stored when this returns.

        Returns:
            For each acknowledgement the error for which it was refused, or None.

        Raises:
            StoreError: the cursors could not be stored.
        """
        problems = self.courier.acknowledge(given)
        if not all(problems):
            self.door.save_cursors()
        return problems

    def ack(self, name: str, wanted: Acknowledgement) -> None:
        """Acknowledges for one subscriber; its cursor is stored when this returns.

        Raises:
            AcknowledgementError: the acknowledgement is refused.
            ConfigError: the subscriber is not registered.
            StoreError: the cursor could not be stored.
        """
        for problem in self.acknowledge([(name, wanted)]):
            if problem is not None:
                raise problem

    def lose(self, name: str, sequences: Sequence[int]) -> None:
        """Takes notifications off a queue that cannot be delivered, and counts them as lost."""
        self.courier.lose(name, sequences)
        self.door.save_cursors()

    # Publications on their way in.

    def publish_one(self, given: Publication, stream: str, publisher: str = "") -> PublishOutcome:
        """Accepts one publication, unless it is refused; see `publish`."""
        self.check()
        single = self.single_intake(stream).read(given, publisher)
        if single is None:
            return self.publish([given], stream, publisher)
        return singles_outcome([single], [self._stored(PendingRow(single, self.clock()))])

    def single_intake(self, stream: str) -> SingleIntake:
        """Reads the publications of a stream one by one.

        Raises:
            ConfigError: there is no such stream.
        """
        schema = self.registrar.schema(stream)
        intake = self._intakes.get(stream)
        if intake is None or intake.schema is not schema:
            intake = self._intakes[stream] = SingleIntake(stream, schema)
        return intake

    def publish(
        self, given: Sequence[Publication], stream: str, publisher: str = ""
    ) -> PublishOutcome:
        """Accepts publications, but for those that are refused.

        Args:
            given: the publications.
            stream: where they are published.
            publisher: who publishes them; empty: no name.

        Raises:
            StoreError: they could not be stored; none is.
        """
        self.check()
        prepared = prepare(given, stream, self.registrar.schema(stream), publisher=publisher)
        return outcome_of(prepared, self.accept(prepared))

    def accept(self, prepared: PreparedPublications) -> Receipt | None:
        """Appends publications that were prepared, and has them matched; None if none is good.

        Raises:
            StoreError: they could not be stored; none is.
        """
        self.check()
        if not len(prepared.rows):
            return None
        receipt: Receipt = self._stored(PendingPublications(prepared.good, self.clock()))
        self._cache.put(prepared.good, prepared.batch, receipt)
        return receipt

    def _follow(self, written: WrittenGroup) -> None:
        """What follows the append of records, on the thread of the door's leader."""
        if written.rows:
            self._cache.put_rows(written.rows)
        if self._matcher is not None:
            self._matcher.follow(written)

    def _hurry(self) -> None:
        self._runner.hurry()

    def _stored(self, item: DoorItem) -> Any:
        """The result of an item that passed the door."""
        try:
            return self.door.write(item)
        except StoreError:
            if self.is_closed:  # meanwhile
                raise ConfigError("the broker is closed") from None
            raise

    # Publications on their way out.

    def publications(self, sequences: Sequence[int]) -> list[LoggedPublication | None]:
        """The publications of ascending sequences; None for one that is damaged or gone."""
        try:
            partitions, offsets = self.courier.locate(np.array(sequences, np.int64))
        except StoreError:
            start = self.store.mailboxes.starts_at()
            gone = sum(sequence < start for sequence in sequences)  # trimmed meanwhile
            if not gone:
                raise
            return [None] * gone + self.publications(sequences[gone:])
        each = {
            partition: iter(self._cache.get(partition, offsets[partitions == partition].tolist()))
            for partition in np.unique(partitions).tolist()
        }
        return [next(each[partition]) for partition in partitions.tolist()]

    def cached_publications(self, sequences: Sequence[int]) -> list[LoggedPublication] | None:
        """The publications of ascending sequences where all are in the cache, else None.

        Nothing is read, so that an event loop may call this.
        """
        try:
            partitions, offsets = self.courier.locate(np.array(sequences, np.int64))
        except StoreError:
            return None
        if len(set(partitions.tolist())) > 1:
            return None
        return self._cache.cached(int(partitions[0]), offsets.tolist())

    def publications_at(self, offsets: Sequence[int]) -> list[LoggedPublication | None]:
        """The publications at ascending offsets of the first partition; None for a damaged one."""
        return self._cache.get(0, offsets)

    def _mend(self, first: int, end: int) -> None:
        """Makes the notifications of a range of sequences again."""
        mend(self.store, first, end, self.clock())
