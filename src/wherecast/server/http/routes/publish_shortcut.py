"""A shortcut for publications, the busiest path: past the framework, to where they are taken.

Routes, dependencies and middleware of the framework cost the event loop as much as all else that it
does for a publication. The route is declared with the others, so it is described with them, and
does the same.
"""

import re
from typing import Any

from fastapi import Request

from wherecast.model import WherecastError
from wherecast.server.http.context import Context
from wherecast.server.http.messages.error_messages import Refused
from wherecast.server.http.routes.publications import publish
from wherecast.server.http.transport.answers import on_bug, refusal
from wherecast.server.http.transport.guard import App, Scope

_PATH = re.compile(r"/v1/streams/([^/]+)/publications")


class PublishShortcut:
    """An application that answers publishers itself, and passes all other requests on.

    Args:
        app: answers the other requests.
        context: what the routes share.
    """

    def __init__(self, app: App, context: Context) -> None:
        self._app = app
        self._context = context

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """Answers a request to publish, or passes the request on."""
        is_post = scope["type"] == "http" and scope["method"] == "POST"
        found = _PATH.fullmatch(scope["path"]) if is_post else None
        if found is None:
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        try:
            response = await publish(self._context, found[1], request)
        except (Refused, WherecastError) as error:
            response = refusal(error)
        except Exception as error:  # noqa: BLE001  # it is logged
            response = await on_bug(request, error)
        await response(scope, receive, send)
