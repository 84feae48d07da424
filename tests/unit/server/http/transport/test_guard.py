"""Requests from web pages of other sites, and for hosts that are not ours, do not pass."""

import asyncio
from typing import Any

import pytest

pytest.importorskip("fastapi")

from wherecast.server.http.transport.guard import Guard


def passes(kind: str, **headers: str) -> bool:
    """Whether a request with some headers reaches the application."""
    reached = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        reached.append(scope)

    async def receive() -> Any:
        return {"type": f"{kind}.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    sent: list[Any] = []
    given = [(name.encode(), value.encode()) for name, value in headers.items()]
    asyncio.run(Guard(app, ("127.0.0.2",))({"type": kind, "headers": given}, receive, send))
    assert bool(reached) != bool(sent)
    return bool(reached)


@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_who_may_call(kind: str) -> None:
    for host in ("127.0.0.1:8080", "localhost", "LOCALHOST:80", "[::1]:8080", "127.0.0.2:1"):
        assert passes(kind, host=host)
        assert passes(kind, host=host, origin=f"http://{host}")
        assert not passes(kind, host=host, origin="http://example.com")
        assert not passes(kind, host=host, origin="null")
    for host in ("example.com", "127.0.0.1.example.com", "10.0.0.1:8080", "", "[::1", "a@b"):
        assert not passes(kind, host=host)
    assert not passes(kind)
