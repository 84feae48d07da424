"""Acknowledgements of one push connection: those that arrive while others are stored are joined.

Concurrency: one event loop.
"""

import asyncio
from collections import deque
from dataclasses import dataclass

import orjson

from wherecast.broker.dispatch.acknowledgement import Acknowledgement
from wherecast.model import WherecastError
from wherecast.server.http.door.acknowledging import Acknowledging
from wherecast.server.http.door.read_acknowledgement import read_acknowledgement
from wherecast.server.http.messages.acknowledgement_messages import ConfirmationMessage
from wherecast.server.http.messages.error_messages import ErrorMessage, Refused, error_of

_WAITING_MAX = 1_000  # messages; the connection is not read beyond them

Reply = ErrorMessage | ConfirmationMessage


@dataclass(frozen=True, slots=True)
class _WaitingConnectionAck:
    """A message with its acknowledgement, or with the error that refuses it."""

    text: bytes | str
    wanted: Acknowledgement | None
    problem: ErrorMessage | None = None


class ConnectionAcks:
    """The acknowledgements of a connection, from `put` to the replies of `next`.

    Args:
        acknowledging: stores the acknowledgements.
        name: of the subscriber.
        hurries: whether the client waits for acknowledgements to be stored.
        confirms: whether each acknowledgement is confirmed.
    """

    def __init__(
        self, acknowledging: Acknowledging, name: str, hurries: bool, confirms: bool
    ) -> None:
        self._acknowledging = acknowledging
        self._name = name
        self._hurries = hurries
        self._confirms = confirms
        self._waiting: deque[_WaitingConnectionAck] = deque()
        self._changed = asyncio.Event()
        self._has_room = asyncio.Event()
        self._has_room.set()

    async def put(self, text: bytes | str) -> None:
        """Takes a message; waits where too many messages wait already."""
        await self._has_room.wait()
        self._waiting.append(_read(text))
        self._changed.set()
        if len(self._waiting) >= _WAITING_MAX:
            self._has_room.clear()

    async def next(self) -> list[Reply]:
        """The replies to the next messages, once these are on disk.

        A reply is an error, or a confirmation where the client asked for them.
        """
        await self._changed.wait()
        given = list(self._waiting)
        self._waiting.clear()
        self._changed.clear()
        self._has_room.set()
        wanted = [one.wanted for one in given if one.wanted is not None]
        try:
            problems = iter(await self._acknowledging.apply(self._name, wanted, self._hurries))
        except WherecastError as error:
            problems = iter([error] * len(wanted))
        replies = [one.problem or self._reply(one, next(problems)) for one in given]
        return [one for one in replies if one is not None]

    def _reply(self, one: _WaitingConnectionAck, problem: WherecastError | None) -> Reply | None:
        if problem is not None:
            return {"error": error_of(problem)[1]}
        return {"acknowledged": orjson.loads(one.text)} if self._confirms else None


def _read(text: bytes | str) -> _WaitingConnectionAck:
    try:
        return _WaitingConnectionAck(text, read_acknowledgement(text))
    except (Refused, WherecastError) as error:
        return _WaitingConnectionAck(text, None, {"error": error_of(error)[1]})
