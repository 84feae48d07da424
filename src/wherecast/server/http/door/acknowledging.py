"""Acknowledgements, from the event loop to the queues; their cursors pass the door.

An acknowledgement that a client waits for is stored at once. Others ride with the next publication
or, where none comes, are stored a moment later: a small change costs as much as a large one.

Concurrency: one event loop.
"""

from collections.abc import Sequence

from wherecast.broker.broker_core import BrokerCore
from wherecast.broker.dispatch.acknowledgement import Acknowledgement
from wherecast.broker.dispatch.courier import Loads
from wherecast.model import WherecastError
from wherecast.server.http.door.loop_door import LoopDoor
from wherecast.server.http.stage_timings import Timings
from wherecast.server.http.transport.thread_pools import ThreadPools

Problems = list[WherecastError | None]


class Acknowledging:
    """Takes acknowledgements.

    Args:
        core: has the queues.
        door: the door of the core, for this event loop.
        pools: the threads that read what queues ask for then.
        timings: counts the seconds of the stage.
    """

    def __init__(
        self, core: BrokerCore, door: LoopDoor, pools: ThreadPools, timings: Timings
    ) -> None:
        self._courier = core.courier
        self._door = door
        self._pools = pools
        self._timings = timings

    async def apply(self, name: str, given: Sequence[Acknowledgement], hurries: bool) -> Problems:
        """Takes acknowledgements of a subscriber; they are on disk when this returns.

        Args:
            name: of the subscriber.
            given: the acknowledgements; a refused one does not affect the others.
            hurries: whether a client waits for them.

        Returns:
            For each acknowledgement the reason of its refusal, or None.

        Raises:
            StoreError: the acknowledgements could not be stored.
        """
        if not given:
            return []
        loads: Loads = []
        with self._timings.timed("acknowledge"):
            (refused,) = self._courier.apply([(name, Acknowledgement.joined(given))], loads)
            problems: Problems = [None] * len(given)
            if refused is not None:  # one by one, to see which
                problems = self._courier.apply([(name, one) for one in given], loads)
        if loads:
            await self._pools.read(self._courier.load, loads)
        if not all(problems):
            await self._door.save_cursors(hurries)
        return problems
