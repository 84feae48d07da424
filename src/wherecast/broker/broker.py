"""A broker in this process: publish, match and deliver without a server, Spark or Java.

Concurrency: any number of threads may use a broker, its publishers and its subscribers.
"""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from wherecast.broker.broker_core import BrokerCore, CoreEnvironment
from wherecast.broker.publisher import Publisher
from wherecast.broker.subscriber import Subscriber
from wherecast.model import Schema
from wherecast.pipeline.live.subscriptions.live_subscriptions import DEFAULT_INDEX
from wherecast.pipeline.live.subscriptions.share_index import IndexFactory
from wherecast.store.open_store import MEMORY, directory_of, open_store
from wherecast.store.records import DeadLetter


class Broker:
    """Publishers and subscribers of this process, matched as they publish.

    Args:
        schema: the schema of the stream `default`; without one any attribute is accepted.
        data: a directory, which makes the broker durable; without one everything is in memory.
        index: the kind of index that matches, as `wherecast.Index` names it. The notifications
            do not depend on it.

    Raises:
        ConfigError: the directory cannot be used, its stream has another schema, or the kind of
            index is unknown.
        StoreError: the directory is damaged, or another broker uses it.
    """

    def __init__(
        self,
        schema: Schema | None = None,
        data: str | Path | None = None,
        index: str = DEFAULT_INDEX.kind,
    ) -> None:
        environment = CoreEnvironment(index=IndexFactory(index))
        uri = MEMORY if data is None else data
        store = open_store(uri)
        try:
            self._core = BrokerCore(store, schema, directory_of(uri), environment=environment)
        except BaseException:
            store.close()
            raise

    def __enter__(self) -> "Broker":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def define(self, stream: str, schema: Schema, keep: str | timedelta | None = None) -> None:
        """Makes a stream, or changes how long its log is kept; the same again changes nothing.

        Args:
            stream: its name, which does not begin with `@`.
            schema: of its publications.
            keep: the log holds publications for at least so long, such as `1h`, also where no queue
                needs them; `0s`: no longer than queues need. None leaves an existing stream as it
                is.

        Raises:
            ConfigError: the stream exists with another schema, or `keep` is no duration.
        """
        self._core.check()
        self._core.registrar.define(stream, schema, self._core.clock(), keep)

    def publisher(self, name: str) -> Publisher:
        """A publisher of that name."""
        self._core.check()
        return Publisher(name, self._core)

    def subscriber(self, name: str) -> Subscriber:
        """The subscriber of that name; a new one is registered."""
        self._core.register(name)
        return Subscriber(name, self._core)

    def forget(self, name: str) -> bool:
        """Ends a subscriber with its subscriptions and its queue; False where it is unknown."""
        return self._core.forget(name)

    def dead_letters(self) -> Iterator[DeadLetter]:
        """The publications that were accepted but could not be matched, with the reasons."""
        after = -1
        batches = self._core.store.batches
        while page := batches.dead_letters(after):
            yield from (letter for _, letter in page)
            after = page[-1][0]

    def close(self) -> None:
        """Ends the broker. A durable one keeps what was published and not acknowledged."""
        self._core.close()
