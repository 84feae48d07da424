"""Acknowledgements of one push connection: those that come while others are written go together.

Concurrency: of one event loop.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from wherecast.gateway.courier import Courier
from wherecast.gateway.http.acknowledgements import Acknowledgement, acknowledgement_of
from wherecast.gateway.http.answers import Refused, refused_of
from wherecast.gateway.http.threads import Threads
from wherecast.gateway.http.timings import Timings
from wherecast.model import AcknowledgementError, WherecastError

_WAITING_MAX = 1_000  # messages; the connection is not read beyond them

Told = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Given:
    """A message and what it acknowledges, or why it does not."""

    text: bytes | str
    wanted: Acknowledgement | None
    problem: Told | None = None


class PushAcks:
    """The acknowledgements of a connection, from `put` to what is told about them by `next`.

    Args:
        courier: has the queue.
        name: of the subscriber.
        threads: where they are written.
        timings: told what that took.
        rest_s: how long the first one waits for others, where nobody waits for it.
    """

    def __init__(
        self,
        courier: Courier,
        name: str,
        threads: Threads,
        timings: Timings,
        rest_s: float = 0.0,
    ) -> None:
        self._courier = courier
        self._name = name
        self._threads = threads
        self._timings = timings
        self._rest_s = rest_s
        self._waiting: deque[_Given] = deque()
        self._changed = asyncio.Event()
        self._has_room = asyncio.Event()
        self._has_room.set()

    async def put(self, text: bytes | str) -> None:
        """Takes a message; waits where many are there already."""
        await self._has_room.wait()
        self._waiting.append(_read(text))
        self._changed.set()
        if len(self._waiting) >= _WAITING_MAX:
            self._has_room.clear()

    async def next(self) -> list[Told]:
        """What became of the next messages, once they are on disk; an `error`, or the message."""
        await self._changed.wait()
        if self._rest_s:
            await asyncio.sleep(self._rest_s)
        given = list(self._waiting)
        self._waiting.clear()
        self._changed.clear()
        self._has_room.set()
        return await self._threads.write(self._applied, given)

    def _applied(self, given: Sequence[_Given]) -> list[Told]:
        wanted = [one.wanted for one in given if one.wanted is not None]
        try:
            with self._timings.timed("acknowledge"):
                _together(wanted).apply(self._courier, self._name)
        except AcknowledgementError:  # of one of them: each for itself
            return [self._told(one, self._apply) for one in given]
        except WherecastError as error:
            problem = {"error": refused_of(error)[1]}
            return [one.problem or problem for one in given]
        return [self._told(one) for one in given]

    def _apply(self, one: _Given) -> None:
        if one.wanted is not None:
            one.wanted.apply(self._courier, self._name)

    def _told(self, one: _Given, apply: Callable[[_Given], None] | None = None) -> Told:
        if one.problem is not None:
            return one.problem
        try:
            if apply is not None:
                apply(one)
        except WherecastError as error:
            return {"error": refused_of(error)[1]}
        return {"acknowledged": orjson.loads(one.text)}


def _read(text: bytes | str) -> _Given:
    try:
        return _Given(text, acknowledgement_of(text))
    except Refused as error:
        return _Given(text, None, {"error": {"code": error.code, "message": error.message}})
    except WherecastError as error:
        return _Given(text, None, {"error": refused_of(error)[1]})


def _together(wanted: Sequence[Acknowledgement]) -> Acknowledgement:
    """One acknowledgement for several."""
    through = max((one.through for one in wanted if one.through is not None), default=None)
    cursors = {cursor for one in wanted for cursor in one.cursors}
    return Acknowledgement(through, tuple(sorted(cursors)))
