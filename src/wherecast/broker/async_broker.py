"""The broker for asyncio: the same as `Broker`, with methods that are awaited.

What reads or writes the store runs in a thread; waiting for notifications takes none.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from wherecast.broker.broker import Broker
from wherecast.broker.intake.publish_outcome import PublishOutcome
from wherecast.broker.loop_event import LoopEvent
from wherecast.broker.publisher import Publisher
from wherecast.broker.registrar.registrar import DEFAULT_STREAM
from wherecast.broker.subscriber import Notification, Subscriber, check_take
from wherecast.model import ConfigError, FilterError, Publication, Schema, Subscription
from wherecast.model.values import describe
from wherecast.pipeline.live.subscriptions.live_subscriptions import DEFAULT_INDEX
from wherecast.store.records import DeadLetter


@dataclass(frozen=True, slots=True)
class AsyncNotification:
    """A publication that matched, for a subscriber; the attributes of `Notification`."""

    publication: Publication
    subscription_ids: tuple[str, ...]
    stream: str
    cursor: str
    redelivered: bool
    _given: Notification = field(repr=False, compare=False)

    async def ack(self) -> None:
        """Acknowledges this notification: it is not delivered again."""
        await asyncio.to_thread(self._given.ack)


class AsyncPublisher:
    """Publishes under a name."""

    def __init__(self, publisher: Publisher) -> None:
        self.name = publisher.name
        self._publisher = publisher

    async def publish(
        self,
        attributes: Mapping[str, Any] | Publication,
        payload: bytes | None = None,
        id: str | None = None,
        stream: str = DEFAULT_STREAM,
    ) -> PublishOutcome:
        """Accepts one publication, as `Publisher.publish` does."""
        return await asyncio.to_thread(self._publisher.publish, attributes, payload, id, stream)

    async def publish_all(
        self,
        publications: Iterable[Publication | Mapping[str, Any]],
        stream: str = DEFAULT_STREAM,
    ) -> PublishOutcome:
        """Accepts many publications, as `Publisher.publish_all` does."""
        return await asyncio.to_thread(self._publisher.publish_all, publications, stream)


class AsyncSubscriber:
    """A registered subscriber: its subscriptions and its queue."""

    def __init__(self, subscriber: Subscriber) -> None:
        self.name = subscriber.name
        self._subscriber = subscriber

    async def subscribe(
        self, filter: str, id: str | None = None, stream: str = DEFAULT_STREAM
    ) -> Subscription:
        """Adds a subscription, as `Subscriber.subscribe` does."""
        return await asyncio.to_thread(self._subscriber.subscribe, filter, id, stream)

    async def subscribe_all(
        self, filters: Mapping[str, str] | Iterable[tuple[str, str]], stream: str = DEFAULT_STREAM
    ) -> list[tuple[str, FilterError]]:
        """Adds or replaces many subscriptions, as `Subscriber.subscribe_all` does."""
        return await asyncio.to_thread(self._subscriber.subscribe_all, filters, stream)

    async def unsubscribe(self, id: str) -> bool:
        """Ends a subscription; its queued notifications stay. False where there is none."""
        return await asyncio.to_thread(self._subscriber.unsubscribe, id)

    async def take(self, most: int = 1, timeout: float = 0.0) -> list[AsyncNotification]:
        """The oldest notifications that are not acknowledged; waits for the first one."""
        check_take(most, timeout)
        end = asyncio.get_running_loop().time() + timeout
        news = LoopEvent()
        with self._subscriber.listening(news.set):
            while True:
                news.clear()
                found = await asyncio.to_thread(self._subscriber.take, most)
                left = end - asyncio.get_running_loop().time()
                if found or left <= 0:
                    return [_awaited(one) for one in found]
                await news.wait(left)

    async def __aiter__(self) -> AsyncIterator[AsyncNotification]:
        """Notifications as they come, each once, until the broker is closed.

        No more than a thousand are ahead of their acknowledgement. What is not acknowledged when
        the iteration ends is delivered again.
        """
        news = LoopEvent()
        feed = self._subscriber.feed()
        with self._subscriber.listening(news.set):
            await asyncio.to_thread(feed.__enter__)
            try:
                while True:
                    news.clear()
                    found = await asyncio.to_thread(feed.read, 0.0)
                    if found is None:
                        return
                    for one in found:
                        yield _awaited(one)
                    if not found:
                        await news.wait()
            finally:
                feed.__exit__()

    async def ack(self, notification: AsyncNotification) -> None:
        """Acknowledges a notification: it is not delivered again."""
        await asyncio.to_thread(self._subscriber.ack, _given(notification))

    async def ack_through(self, notification: AsyncNotification) -> None:
        """Acknowledges a notification and all that came before it."""
        await asyncio.to_thread(self._subscriber.ack_through, _given(notification))

    async def subscriptions(self) -> list[Subscription]:
        """The subscriptions of this subscriber, sorted by id."""
        return await asyncio.to_thread(self._subscriber.subscriptions)

    async def queued(self) -> int:
        """Number of notifications that are not acknowledged."""
        return await asyncio.to_thread(lambda: self._subscriber.queued)

    async def lost(self) -> int:
        """Number of notifications that were removed before they were acknowledged."""
        return await asyncio.to_thread(lambda: self._subscriber.lost)


class AsyncBroker:
    """A broker in this process, for asyncio; see `Broker`."""

    def __init__(
        self,
        schema: Schema | None = None,
        data: str | Path | None = None,
        index: str = DEFAULT_INDEX.kind,
    ) -> None:
        self._broker = Broker(schema, data, index)

    async def __aenter__(self) -> "AsyncBroker":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def define(
        self, stream: str, schema: Schema, keep: str | timedelta | None = None
    ) -> None:
        """Makes a stream; nothing changes where the stream exists with the same schema."""
        await asyncio.to_thread(self._broker.define, stream, schema, keep)

    async def publisher(self, name: str) -> AsyncPublisher:
        """A publisher of that name."""
        return AsyncPublisher(await asyncio.to_thread(self._broker.publisher, name))

    async def subscriber(self, name: str) -> AsyncSubscriber:
        """The subscriber of that name; a new one is registered."""
        return AsyncSubscriber(await asyncio.to_thread(self._broker.subscriber, name))

    async def forget(self, name: str) -> bool:
        """Ends a subscriber with its subscriptions and its queue; False where it is unknown."""
        return await asyncio.to_thread(self._broker.forget, name)

    async def dead_letters(self) -> list[DeadLetter]:
        """The publications that were accepted but could not be matched, with the reasons."""
        return await asyncio.to_thread(lambda: list(self._broker.dead_letters()))

    async def close(self) -> None:
        """Ends the broker. A durable one keeps what was published and not acknowledged."""
        await asyncio.to_thread(self._broker.close)


def _given(notification: object) -> Notification:
    if not isinstance(notification, AsyncNotification):
        raise ConfigError(f"a notification is acknowledged, not {describe(notification)}")
    return notification._given


def _awaited(given: Notification) -> AsyncNotification:
    return AsyncNotification(
        given.publication,
        given.subscription_ids,
        given.stream,
        given.cursor,
        given.redelivered,
        given,
    )
