"""`GET /v1/dead-letters`: publications that were accepted, but could not be matched."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response

from wherecast.model.times import format_time
from wherecast.server.http.context import Context
from wherecast.server.http.messages.dead_letter_messages import (
    DeadLetterMessage,
    DeadLettersMessage,
)
from wherecast.server.http.messages.openapi import answers
from wherecast.server.http.routes.route_parameters import Limit
from wherecast.server.http.transport.answers import answer
from wherecast.store.records import DeadLetter

_LAST = 2**63 - 2
After = Annotated[int, Query(description="The last number of the page before.", ge=-1, le=_LAST)]


def router(context: Context) -> APIRouter:
    """The path of dead letters."""
    routes = APIRouter(tags=["operation"])

    @routes.get("/v1/dead-letters", **answers(200, DeadLettersMessage, 422, 503))
    async def list_dead_letters(after: After = -1, limit: Limit = 1000) -> Response:
        """The dead letters in the order in which they were found, a page at a time."""
        found = await context.pools.read(context.core.store.batches.dead_letters, after, limit)
        page: DeadLettersMessage = {
            "dead_letters": [_message(*one) for one in found],
            "after": found[-1][0] if len(found) == limit else None,
        }
        return answer(page)

    return routes


def _message(number: int, letter: DeadLetter) -> DeadLetterMessage:
    return {
        "number": number,
        "stream": letter.stream,
        "partition": letter.partition,
        "offset": letter.offset,
        "reason": letter.reason,
        "at": format_time(letter.at),
    }
