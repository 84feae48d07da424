"""Acknowledgements of all subscribers, stored together.

An acknowledgement is a small change on disk; a transaction costs as much as hundreds of them. So
acknowledgements that arrive within a moment share a transaction. One that a client waits for is
stored at once, together with those that wait already.

Concurrency: one event loop.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from wherecast.broker.broker_core import BrokerCore
from wherecast.broker.dispatch.acknowledgement import Acknowledgement
from wherecast.model import WherecastError
from wherecast.server.http.batching.batcher import Batcher
from wherecast.server.http.stage_timings import Timings
from wherecast.server.http.transport.thread_pools import ThreadPools

_REST_S = 0.02
_MOST = 100_000

Problems = list[WherecastError | None]


@dataclass(frozen=True, slots=True)
class _WaitingAck:
    """Acknowledgements of a subscriber that wait, in order."""

    name: str
    each: Sequence[Acknowledgement]


class AckBatcher:
    """Stores acknowledgements, those of several subscribers together.

    Args:
        core: has the queues, and stores their cursors.
        pools: the threads that write.
        timings: counts the seconds of the stage.
    """

    def __init__(self, core: BrokerCore, pools: ThreadPools, timings: Timings) -> None:
        self._core = core
        self._timings = timings
        self._batcher: Batcher[_WaitingAck, Problems] = Batcher(
            pools, self._apply, lambda _, __: _REST_S, _MOST
        )

    async def apply(self, name: str, given: Sequence[Acknowledgement], hurries: bool) -> Problems:
        """Stores acknowledgements of a subscriber; they are on disk when this returns.

        Args:
            name: of the subscriber.
            given: the acknowledgements; a refused one does not affect the others.
            hurries: whether a client waits for them.

        Returns:
            For each acknowledgement the reason of its refusal, or None.

        Raises:
            StoreError: the acknowledgements could not be stored.
        """
        return await self._batcher.submit(_WaitingAck(name, given), hurries) if given else []

    async def finish(self) -> None:
        """Returns when no acknowledgement waits any more."""
        await self._batcher.finish()

    def _apply(self, given: Sequence[_WaitingAck]) -> Sequence[Problems | Exception]:
        """Stores the acknowledgements of each subscriber joined; where refused, one by one."""
        with self._timings.timed("acknowledge"):
            joined = [(one.name, Acknowledgement.joined(one.each)) for one in given]
            refused = self._core.acknowledge(joined)
            again = [one for one, why in zip(given, refused, strict=True) if why is not None]
            each = [(one.name, wanted) for one in again for wanted in one.each]
            problems = iter(self._core.acknowledge(each) if each else ())
            return [
                [None if why is None else next(problems) for _ in one.each]
                for one, why in zip(given, refused, strict=True)
            ]
