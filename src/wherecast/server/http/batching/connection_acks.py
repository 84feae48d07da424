"""Acknowledgements of one push connection: those that come while others are stored go together.

Concurrency: of one event loop.
"""

import asyncio
from collections import deque
from dataclasses import dataclass
from typing import Any

import orjson

from wherecast.broker.dispatch.acknowledgement import Acknowledgement
from wherecast.model import WherecastError
from wherecast.server.http.batching.ack_batcher import AckBatcher
from wherecast.server.http.messages.acknowledgements import acknowledgement_of
from wherecast.server.http.messages.answers import Refused, refused_of

_WAITING_MAX = 1_000  # messages; the connection is not read beyond them

Told = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _WaitingConnectionAck:
    """A message and what it acknowledges, or why it does not."""

    text: bytes | str
    wanted: Acknowledgement | None
    problem: Told | None = None


class ConnectionAcks:
    """The acknowledgements of a connection, from `put` to what is told about them by `next`.

    Args:
        joint: stores them.
        name: of the subscriber.
        hurries: whether the client waits for them.
        confirms: whether each is confirmed.
    """

    def __init__(self, joint: AckBatcher, name: str, hurries: bool, confirms: bool) -> None:
        self._joint = joint
        self._name = name
        self._hurries = hurries
        self._confirms = confirms
        self._waiting: deque[_WaitingConnectionAck] = deque()
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
        """What is to be told about the next messages, once they are on disk.

        That is an `error`, or the message where it is to be confirmed.
        """
        await self._changed.wait()
        given = list(self._waiting)
        self._waiting.clear()
        self._changed.clear()
        self._has_room.set()
        wanted = [one.wanted for one in given if one.wanted is not None]
        try:
            problems = iter(await self._joint.apply(self._name, wanted, self._hurries))
        except WherecastError as error:
            problems = iter([error] * len(wanted))
        told = [one.problem or self._told(one, next(problems)) for one in given]
        return [one for one in told if one is not None]

    def _told(self, one: _WaitingConnectionAck, problem: WherecastError | None) -> Told | None:
        if problem is not None:
            return {"error": refused_of(problem)[1]}
        return {"acknowledged": orjson.loads(one.text)} if self._confirms else None


def _read(text: bytes | str) -> _WaitingConnectionAck:
    try:
        return _WaitingConnectionAck(text, acknowledgement_of(text))
    except Refused as error:
        return _WaitingConnectionAck(
            text, None, {"error": {"code": error.code, "message": error.message}}
        )
    except WherecastError as error:
        return _WaitingConnectionAck(text, None, {"error": refused_of(error)[1]})
