"""Requests of publishers, on their way to the door.

A small request of plain publications is read on the event loop and handed to the door as it is;
the door writes all that waits together. Everything else is prepared as columns by a thread, which
waits at the door.

Concurrency: one event loop.
"""

from time import perf_counter
from typing import Any

from wherecast.broker.broker_core import BrokerCore
from wherecast.broker.door.door_calls import PendingRow, RowReceipt
from wherecast.broker.intake.arrow_bodies import prepare_arrow
from wherecast.broker.intake.intake import publishers_of
from wherecast.broker.intake.json_bodies import prepare_objects, read_objects
from wherecast.broker.intake.publish_outcome import PublishOutcome, outcome_of, singles_outcome
from wherecast.broker.intake.single_publication import SingleIntake, SinglePublication
from wherecast.model import Limits, Schema
from wherecast.server.http.door.loop_door import LoopDoor
from wherecast.server.http.messages.error_messages import Refused
from wherecast.server.http.messages.openapi import ARROW, JSON
from wherecast.server.http.routes.lookups import stream_schema
from wherecast.server.http.stage_timings import Timings
from wherecast.server.http.transport.thread_pools import ThreadPools

_SMALL_BYTES = 16 << 10
_SINGLES_MAX = 64  # of one request


class Publishing:
    """Appends the publications of requests.

    Args:
        core: accepts the publications.
        door: the door of the core, for this event loop.
        pools: the threads that prepare columns and wait at the door.
        timings: counts the seconds of the stages.
        rows_max: the largest number of publications in one request.
        limits: of each publication.

    Attributes:
        requests: number of requests.
    """

    def __init__(
        self,
        core: BrokerCore,
        door: LoopDoor,
        pools: ThreadPools,
        timings: Timings,
        rows_max: int,
        limits: Limits,
    ) -> None:
        self.requests = 0
        self._core = core
        self._door = door
        self._pools = pools
        self._timings = timings
        self._rows_max = rows_max
        self._limits = limits
        self._intakes: dict[str, SingleIntake] = {}

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
        self.requests += 1
        schema = stream_schema(self._core, stream)
        if kind == ARROW or len(body) > _SMALL_BYTES:
            return await self._pools.write(self._publish_body, stream, kind, body, publisher)
        with self._timings.timed("prepare"):
            objects = read_objects(body, kind == JSON, self._rows_max, self._limits)
            singles = self._singles(objects, stream, schema, publisher)
        if singles is None:
            return await self._pools.write(self._publish_objects, stream, objects, publisher)
        return singles_outcome(singles, await self._append(singles))

    async def publish_object(self, stream: str, given: Any, publisher: str = "") -> PublishOutcome:
        """What became of one publication, given as the object of a JSON reader.

        Raises:
            Refused: the stream is unknown.
            StoreError: the publication could not be stored.
        """
        self.requests += 1
        singles = self._singles([given], stream, stream_schema(self._core, stream), publisher)
        if singles is None:
            return await self._pools.write(self._publish_objects, stream, [given], publisher)
        return singles_outcome(singles, await self._append(singles))

    def _singles(
        self, objects: list[Any], stream: str, schema: Schema, publisher: str
    ) -> list[SinglePublication] | None:
        """The publications of a request, if there are few and all are plain."""
        if not 0 < len(objects) <= _SINGLES_MAX:
            return None
        intake = self._intakes.get(stream)
        if intake is None or intake.schema is not schema:
            intake = self._intakes[stream] = SingleIntake(stream, schema, self._limits)
        found: list[SinglePublication] = []
        for given in objects:
            one = intake.read_object(given, publisher)
            if one is None:
                return None
            found.append(one)
        return found

    async def _append(self, singles: list[SinglePublication]) -> list[RowReceipt]:
        self._core.check()
        started, now = perf_counter(), self._core.clock()
        waiting = [self._door.submit(PendingRow(one, now)) for one in singles]
        receipts = [await one for one in waiting]
        self._timings.add("append", perf_counter() - started)
        return receipts

    def _publish_body(self, stream: str, kind: str, body: bytes, publisher: str) -> PublishOutcome:
        """The outcome of a large request, or of one in Arrow; waits at the door."""
        if kind != ARROW:
            objects = read_objects(body, kind == JSON, self._rows_max, self._limits)
            return self._publish_objects(stream, objects, publisher)
        started, schema = perf_counter(), stream_schema(self._core, stream)
        limits = self._rows_max, self._limits
        prepared = prepare_arrow(body, stream, schema, *limits, publisher)
        self._timings.add("prepare", perf_counter() - started)
        with self._timings.timed("append"):
            return outcome_of(prepared, self._core.accept(prepared))

    def _publish_objects(self, stream: str, objects: list[Any], publisher: str) -> PublishOutcome:
        """The outcome for objects that go as columns; waits at the door."""
        started, schema = perf_counter(), stream_schema(self._core, stream)
        publishers = publishers_of(publisher, len(objects))
        prepared = prepare_objects(objects, stream, schema, self._limits, publishers)
        self._timings.add("prepare", perf_counter() - started)
        with self._timings.timed("append"):
            return outcome_of(prepared, self._core.accept(prepared))
