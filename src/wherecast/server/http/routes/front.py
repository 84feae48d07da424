"""The way in for publications, the busiest path: straight to where they are taken.

Routes, dependencies and middleware of the framework cost the event loop as much as all else that it
does for a publication. The route is declared with the others, so it is described with them, and
does the same.
"""

import re
from typing import Any

from fastapi import Request

from wherecast.model import WherecastError
from wherecast.server.http.context import Context
from wherecast.server.http.messages.answers import Refused, on_bug, on_error, on_refused
from wherecast.server.http.routes.publications import publish
from wherecast.server.http.transport.guard import App, Scope

_PATH = re.compile(r"/v1/streams/([^/]+)/publications")


class Front:
    """An application of which one path is taken before it.

    Args:
        app: takes all others.
        context: what they share.
    """

    def __init__(self, app: App, context: Context) -> None:
        self._app = app
        self._context = context

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """Publishes, or passes on."""
        is_post = scope["type"] == "http" and scope["method"] == "POST"
        found = _PATH.fullmatch(scope["path"]) if is_post else None
        if found is None:
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        try:
            response = await publish(self._context, found[1], request)
        except Refused as error:
            response = await on_refused(request, error)
        except WherecastError as error:
            response = await on_error(request, error)
        except Exception as error:  # noqa: BLE001  # told in the log
            response = await on_bug(request, error)
        await response(scope, receive, send)
