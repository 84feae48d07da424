"""`GET /v1/dead-letters`: publications that were accepted, but could not be matched."""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response

from wherecast.model.times import format_time
from wherecast.server.http.context import Context
from wherecast.server.http.messages import messages
from wherecast.server.http.messages.answers import answer
from wherecast.server.http.routes.subscribers import Limit
from wherecast.store.records import DeadLetter

_LAST = 2**63 - 2
After = Annotated[int, Query(description="Those after this number.", ge=-1, le=_LAST)]


def router(context: Context) -> APIRouter:
    """The path of dead letters."""
    routes = APIRouter(tags=["operation"])

    @routes.get(
        "/v1/dead-letters",
        response_model=messages.DeadLetters,
        responses=messages.answers(422, 503),
    )
    async def list_dead_letters(after: After = -1, limit: Limit = 1000) -> Response:
        """The dead letters in the order in which they were found, a page at a time."""
        found = await context.threads.read(context.core.store.batches.dead_letters, after, limit)
        last = found[-1][0] if len(found) == limit else None
        return answer({"dead_letters": [_written(*one) for one in found], "after": last})

    return routes


def _written(number: int, letter: DeadLetter) -> dict[str, Any]:
    return {
        "number": number,
        "stream": letter.stream,
        "partition": letter.partition,
        "offset": letter.offset,
        "reason": letter.reason,
        "at": format_time(letter.at),
    }
