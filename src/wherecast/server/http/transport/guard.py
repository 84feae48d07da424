"""Who may call: nobody from a web page of another site.

A server on the loopback is reached by every browser of the machine. So a request must name a host
of the loopback (a name that was made to point here is refused), and one from a web page must come
from a page of this server.
"""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

from wherecast.server.http.transport.answers import answer

Scope = MutableMapping[str, Any]
App = Callable[[Scope, Any, Any], Awaitable[None]]
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Guard:
    """An application that only allowed requests reach.

    Args:
        app: the application.
        hosts: names by which the server may be called, beside those of the loopback.
    """

    def __init__(self, app: App, hosts: tuple[str, ...]) -> None:
        self._app = app
        self._hosts = frozenset(host.lower() for host in (*hosts, *_LOOPBACK))

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """Passes an allowed request on, and refuses any other."""
        if scope["type"] in ("http", "websocket"):
            problem = self._problem(dict(scope["headers"]))
            if problem is not None:
                await _refuse(scope, receive, send, 403, problem)
                return
            if not _is_utf8(scope.get("raw_path", b"")):
                await _refuse(scope, receive, send, 400, "the path is not UTF-8")
                return
        await self._app(scope, receive, send)

    def _problem(self, headers: dict[bytes, bytes]) -> str | None:
        host = headers.get(b"host", b"").decode("latin-1")
        if _name(f"//{host}") not in self._hosts:
            return f"the host {host[:100] or 'is missing,'} is not one of this server"
        origin = headers.get(b"origin")
        if origin is not None and origin.decode("latin-1").partition("//")[2] != host:
            return "a page of another site may not call this server"
        return None


def _name(address: str) -> str:
    try:
        return (urlsplit(address).hostname or "").lower()
    except ValueError:
        return ""


def _is_utf8(path: bytes) -> bool:
    """Whether a path is UTF-8; all others would be decoded to the same names."""
    try:
        unquote_to_bytes(path).decode()
    except UnicodeDecodeError:
        return False
    return True


async def _refuse(scope: Scope, receive: Any, send: Any, status: int, problem: str) -> None:
    code = "forbidden" if status == 403 else "malformed"
    response = answer({"error": {"code": code, "message": problem}}, status)
    if scope["type"] == "websocket":
        await receive()  # the request to connect
    await response(scope, receive, send)
