"""Small requests of publishers, prepared and appended together.

A batch of one publication costs nearly as much as a batch of many. So requests that arrive while
others are written wait, and are then written together; each gets the answer that it would get
alone. Large requests and Arrow streams are written by themselves.

Concurrency: one event loop.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import pyarrow as pa

from wherecast.broker.broker_core import BrokerCore
from wherecast.broker.intake.arrow_bodies import prepare_arrow
from wherecast.broker.intake.intake import PreparedPublications, publishers_of
from wherecast.broker.intake.json_bodies import prepare_objects, read_objects
from wherecast.broker.intake.publish_outcome import PublishOutcome, outcome_of
from wherecast.model import Limits, WherecastError
from wherecast.server.http.batching.batcher import Batcher
from wherecast.server.http.messages.error_messages import Refused
from wherecast.server.http.messages.openapi import ARROW, JSON
from wherecast.server.http.routes.lookups import stream_schema
from wherecast.server.http.stage_timings import Timings
from wherecast.server.http.transport.thread_pools import ThreadPools
from wherecast.store.records import Receipt

_SMALL_BYTES = 16 << 10
_REQUESTS_MAX = 500  # requests
_REST_MAX_S = 0.01

Outcome = PublishOutcome | Exception


@dataclass(frozen=True, slots=True, eq=False)
class _WaitingPublish:
    """A request that waits."""

    stream: str
    kind: str
    body: bytes
    publisher: str


class PublishBatcher:
    """Appends the publications of requests, those of small requests together.

    Args:
        core: accepts the publications.
        pools: the threads that prepare and append.
        timings: counts the seconds of both stages.
        rows_max: the largest number of publications in one request.
        limits: of each publication.
    """

    def __init__(
        self, core: BrokerCore, pools: ThreadPools, timings: Timings, rows_max: int, limits: Limits
    ) -> None:
        self._core = core
        self._pools = pools
        self._timings = timings
        self._rows_max = rows_max
        self._limits = limits
        self._alone = 0
        self._batcher: Batcher[_WaitingPublish, PublishOutcome] = Batcher(
            pools, self._publish_all, _rest_s, _REQUESTS_MAX
        )

    @property
    def batches(self) -> int:
        """Number of writes to the log."""
        return self._alone + self._batcher.times

    @property
    def requests(self) -> int:
        """Number of requests in all writes."""
        return self._alone + self._batcher.items

    async def publish(
        self, stream: str, kind: str, body: bytes, publisher: str = ""
    ) -> PublishOutcome:
        """What became of the publications of a request, once they are on disk.

        Args:
            stream: where they are published.
            kind: the content type.
            body: the publications.
            publisher: who publishes them; empty: no name.

        Raises:
            Refused: the stream is unknown, or the body is empty.
            PublicationError: the body as a whole cannot be read.
            StoreError: the publications could not be stored; none is.
        """
        if not body or body.isspace():
            raise Refused(400, "malformed", "the body is empty; it needs a publication")
        if kind == ARROW or len(body) > _SMALL_BYTES:
            self._alone += 1
            return await self._pools.write(self._publish_alone, stream, kind, body, publisher)
        return await self._batcher.submit(_WaitingPublish(stream, kind, body, publisher))

    def _publish_all(self, given: Sequence[_WaitingPublish]) -> list[Outcome]:
        """What became of each request, in order."""
        places: dict[str, list[int]] = {}
        for place, one in enumerate(given):
            places.setdefault(one.stream, []).append(place)
        outcomes: dict[int, Outcome] = {}
        for stream, own in places.items():
            requests = [given[place] for place in own]
            outcomes |= zip(own, self._publish_joined(stream, requests), strict=True)
        return [outcomes[place] for place in range(len(given))]

    def _publish_joined(self, stream: str, given: Sequence[_WaitingPublish]) -> list[Outcome]:
        """What became of each request to one stream."""
        started = perf_counter()
        try:
            schema = stream_schema(self._core, stream)
        except (Refused, WherecastError) as error:
            return [error] * len(given)
        outcomes: list[Outcome | tuple[int, int]] = []
        objects: list[Any] = []
        names: list[str | None] = []
        for one in given:
            start = len(objects)
            try:
                objects += self._objects(one.kind, one.body)
                names += [one.publisher or None] * (len(objects) - start)
                outcomes.append((start, len(objects)))
            except (Refused, WherecastError) as error:
                outcomes.append(error)
        try:
            publishers = pa.array(names, pa.string()) if any(names) else None
            prepared = prepare_objects(objects, stream, schema, self._limits, publishers)
            receipt = self._accepted(prepared, started)
        except WherecastError as error:
            return [error if isinstance(one, tuple) else one for one in outcomes]
        return [
            outcome_of(prepared, receipt, *one) if isinstance(one, tuple) else one
            for one in outcomes
        ]

    def _publish_alone(self, stream: str, kind: str, body: bytes, publisher: str) -> PublishOutcome:
        started = perf_counter()
        schema = stream_schema(self._core, stream)
        if kind == ARROW:
            prepared = prepare_arrow(body, stream, schema, self._rows_max, self._limits, publisher)
        else:
            objects = self._objects(kind, body)
            publishers = publishers_of(publisher, len(objects))
            prepared = prepare_objects(objects, stream, schema, self._limits, publishers)
        return outcome_of(prepared, self._accepted(prepared, started))

    def _accepted(self, prepared: PreparedPublications, started: float) -> Receipt | None:
        self._timings.add("prepare", perf_counter() - started)
        with self._timings.timed("append"):
            return self._core.accept(prepared)

    def _objects(self, kind: str, body: bytes) -> list[Any]:
        return read_objects(body, kind == JSON, self._rows_max, self._limits)


def _rest_s(requests: int, seconds: float) -> float:
    """The pause after a batch: a part of its time where several requests came, else none."""
    return min(seconds / 4, _REST_MAX_S) if requests > 1 else 0.0
