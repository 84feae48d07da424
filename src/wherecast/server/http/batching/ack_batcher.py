"""Acknowledgements of all subscribers, stored together.

Each is one small change of the disk, and a transaction costs what hundreds of them do. So those
that come within a moment share one; where somebody waits for one, it is stored at once, with those
that are there.

Concurrency: of one event loop.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from wherecast.broker.dispatch.acknowledgement import Acknowledgement
from wherecast.broker.dispatch.courier import Courier
from wherecast.model import WherecastError
from wherecast.server.http.batching.batcher import Batcher
from wherecast.server.http.stage_timings import Timings
from wherecast.server.http.transport.thread_pools import ThreadPools

_REST_S = 0.02
_MOST = 100_000

Problems = list[WherecastError | None]


@dataclass(frozen=True, slots=True)
class _WaitingAck:
    """What a subscriber acknowledged, in order."""

    name: str
    each: Sequence[Acknowledgement]


class AckBatcher:
    """Where acknowledgements come together.

    Args:
        courier: has the queues.
        pools: where they are stored.
        timings: told what that took.
    """

    def __init__(self, courier: Courier, pools: ThreadPools, timings: Timings) -> None:
        self._courier = courier
        self._timings = timings
        self._batcher: Batcher[_WaitingAck, Problems] = Batcher(
            pools, self._apply, lambda _, __: _REST_S, _MOST
        )

    async def apply(self, name: str, given: Sequence[Acknowledgement], hurries: bool) -> Problems:
        """Acknowledges what a subscriber had; that is on disk when this returns.

        Args:
            name: of the subscriber.
            given: what it acknowledged; one that is refused costs no other.
            hurries: whether somebody waits for it.

        Returns:
            For each why it was refused, if it was.

        Raises:
            StoreError: they could not be stored.
        """
        return await self._batcher.submit(_WaitingAck(name, given), hurries) if given else []

    async def finish(self) -> None:
        """Returns when nothing waits any more."""
        await self._batcher.finish()

    def _apply(self, given: Sequence[_WaitingAck]) -> Sequence[Problems | Exception]:
        """Acknowledges what each gave at once; where that is refused, one by one."""
        with self._timings.timed("acknowledge"):
            joined = [(one.name, Acknowledgement.joined(one.each)) for one in given]
            refused = self._courier.acknowledge(joined)
            again = [one for one, why in zip(given, refused, strict=True) if why is not None]
            each = [(one.name, wanted) for one in again for wanted in one.each]
            problems = iter(self._courier.acknowledge(each) if each else ())
            return [
                [None if why is None else next(problems) for _ in one.each]
                for one, why in zip(given, refused, strict=True)
            ]
