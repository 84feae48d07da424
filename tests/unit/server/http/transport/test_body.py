"""Bodies are read within limits, each and all together."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

pytest.importorskip("fastapi")

from fastapi import Request

from wherecast.server.http.messages.error_messages import Refused
from wherecast.server.http.transport.body import JSON, NDJSON, Bodies, content_type
from wherecast.server.settings import RequestLimits


def request(parts: list[bytes], **headers: str) -> Request:
    """A request whose body comes in parts; an empty last part never comes."""
    given = [(key.replace("_", "-").encode(), value.encode()) for key, value in headers.items()]
    coming: Iterator[bytes] = iter(parts)

    async def receive() -> Any:
        part = next(coming, None)
        if part is None:
            await asyncio.Event().wait()
        more = part != parts[-1]
        return {"type": "http.request", "body": part, "more_body": more}

    return Request({"type": "http", "headers": given}, receive)


async def read(bodies: Bodies, given: Request) -> bytes:
    async with bodies.read(given) as body:
        return body


def test_a_body_is_read_up_to_the_limit() -> None:
    async def run() -> None:
        bodies = Bodies(RequestLimits(body_bytes_max=10))
        assert await read(bodies, request([b"0123", b"456789"])) == b"0123456789"
        for given in (request([b"0123456789a"], content_length="11"), request([b"0123456789a"])):
            with pytest.raises(Refused) as refused:
                await read(bodies, given)
            assert refused.value.status == 413
        with pytest.raises(Refused):
            await read(bodies, request([b"x"], content_length="1x"))

    asyncio.run(run())


def test_a_body_that_does_not_come_is_refused() -> None:
    async def run() -> None:
        bodies = Bodies(RequestLimits(body_wait=timedelta(milliseconds=1)))
        given = request([b"a", b""])
        given._receive = asyncio.Event().wait  # type: ignore[assignment]
        with pytest.raises(Refused) as refused:
            await read(bodies, given)
        assert refused.value.status == 408

    asyncio.run(run())


def test_all_together_are_limited_and_room_is_given_back() -> None:
    async def run() -> None:
        bodies = Bodies(RequestLimits(body_bytes_max=10, bodies_bytes_max=15))
        release = asyncio.Event()
        order: list[str] = []

        async def hold(name: str, size: int) -> None:
            async with bodies.read(request([b"x" * size], content_length=str(size))):
                order.append(name)
                await release.wait()

        first = asyncio.create_task(hold("first", 10))
        await asyncio.sleep(0)
        second = asyncio.create_task(hold("second", 10))
        third = asyncio.create_task(hold("third", 1))
        for _ in range(10):
            await asyncio.sleep(0)
        assert order == ["first"]  # the third does not overtake the second
        third.cancel()
        release.set()
        await asyncio.gather(first, second, third, return_exceptions=True)
        assert order == ["first", "second"]
        assert await read(bodies, request([b"0123456789"])) == b"0123456789"

    asyncio.run(run())


def test_bodies_of_untold_size_take_room_as_they_arrive() -> None:
    async def run() -> None:
        bodies = Bodies(RequestLimits(body_bytes_max=1 << 20, bodies_bytes_max=1 << 20))
        silent = [request([b"x"]) for _ in range(10)]
        for one in silent:
            one._receive = asyncio.Event().wait  # type: ignore[assignment]
        idle = [asyncio.create_task(read(bodies, one)) for one in silent]
        await asyncio.sleep(0)
        given = b"x" * 50_000 + b"y" * 50_000
        assert await read(bodies, request([given], content_length="100000")) == given
        assert await read(bodies, request([given[:50_000], given[50_000:]])) == given
        with pytest.raises(Refused) as refused:
            await read(bodies, request([b"x" * 400_000, b"y" * 400_000]))
        assert refused.value.status == 503
        for task in idle:
            task.cancel()
        await asyncio.gather(*idle, return_exceptions=True)
        assert bodies._free == 1 << 20

    asyncio.run(run())


def test_content_types() -> None:
    known = (JSON, NDJSON)
    assert content_type(request([], content_type="application/json"), known) == JSON
    assert content_type(request([], content_type="Application/JSON; charset=UTF-8"), known) == JSON
    assert content_type(request([], content_type="application/jsonl"), known) == NDJSON
    for headers in (
        {},
        {"content_type": "text/plain"},
        {"content_type": "application/json; charset=latin-1"},
        {"content_type": "application/json", "content_encoding": "gzip"},
        {"content_type": "application/vnd.apache.arrow.stream"},
    ):
        with pytest.raises(Refused) as refused:
            content_type(request([], **headers), known)
        assert refused.value.status == 415
