"""Acknowledgements of all subscribers, stored together.

Each is one small change of the disk, and a transaction costs what hundreds of them do. So those
that come within a moment share one; where somebody waits for one, it is stored at once, with those
that are there.

Concurrency: of one event loop.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from wherecast.gateway.acknowledgement import Acknowledgement
from wherecast.gateway.courier import Courier
from wherecast.gateway.http.threads import Threads
from wherecast.gateway.http.timings import Timings
from wherecast.gateway.http.together import Together
from wherecast.model import WherecastError

_REST_S = 0.02
_MOST = 100_000

Problems = list[WherecastError | None]


@dataclass(frozen=True, slots=True)
class _Given:
    """What a subscriber acknowledged, in order."""

    name: str
    each: Sequence[Acknowledgement]


class JointAcks:
    """Where acknowledgements come together.

    Args:
        courier: has the queues.
        threads: where they are stored.
        timings: told what that took.
    """

    def __init__(self, courier: Courier, threads: Threads, timings: Timings) -> None:
        self._courier = courier
        self._timings = timings
        self._together: Together[_Given, Problems] = Together(
            threads, self._apply, lambda _, __: _REST_S, _MOST
        )

    @property
    def times(self) -> int:
        """How often something was stored."""
        return self._together.times

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
        return await self._together.submit(_Given(name, given), hurries) if given else []

    def _apply(self, given: Sequence[_Given]) -> Sequence[Problems | Exception]:
        with self._timings.timed("acknowledge"):
            joined = [(one.name, Acknowledgement.joined(one.each)) for one in given]
            problems = self._courier.acknowledge(joined)
            return [
                [None] * len(one.each) if problem is None else self._apply_each(one)
                for one, problem in zip(given, problems, strict=True)
            ]

    def _apply_each(self, one: _Given) -> Problems:
        """Acknowledges one by one what could not be acknowledged together."""
        return self._courier.acknowledge([(one.name, each) for each in one.each])
