"""Requests that come at once are written together, and each gets its own answer."""

import asyncio
from collections.abc import Sequence

import pytest

pytest.importorskip("fastapi")

import wherecast as wc
from tests.unit.server.http.door.loop_doors import GatedCore, loop_door, until
from wherecast.broker.intake.publish_outcome import PublishOutcome
from wherecast.model import DEFAULT_LIMITS, StoreError
from wherecast.server.http.door.publishing import Publishing
from wherecast.server.http.messages.error_messages import Refused
from wherecast.server.http.stage_timings import Timings
from wherecast.server.http.transport.body import JSON, NDJSON
from wherecast.store.store_items import PendingPublications, StoreItem

Request = tuple[str, str, bytes] | tuple[str, str, bytes, str]
Outcome = PublishOutcome | BaseException


def outcomes(requests: Sequence[Request], is_full: bool = False) -> tuple[list[Outcome], GatedCore]:
    """What becomes of a first request, and of others that come while it is written."""
    core = GatedCore()

    async def run() -> list[Outcome]:
        async with loop_door(core) as (door, pools):
            publishing = Publishing(core, door, pools, Timings(), 10, DEFAULT_LIMITS)
            core.groups.clear()
            core.gate.clear()
            tasks = [asyncio.create_task(publishing.publish(*one)) for one in requests[:1]]
            await until(lambda: len(core.groups) == 1 or tasks[0].done())
            tasks += [asyncio.create_task(publishing.publish(*one)) for one in requests[1:]]
            await until(lambda: publishing.requests + bad >= len(requests))
            for _ in range(3):
                await asyncio.sleep(0)
            core.refuses = lambda item: is_full and isinstance(item, PendingPublications)
            core.gate.set()
            return list(await asyncio.gather(*tasks, return_exceptions=True))

    bad = sum(not one[2].strip() for one in requests)
    try:
        return asyncio.run(run()), core
    finally:
        core.close()


def one(number: int, id: str | None = None) -> bytes:
    named = "" if id is None else f', "id": "{id}"'
    return f'{{"attributes": {{"n": {number}}}{named}}}'.encode()


def counts(found: Sequence[Outcome]) -> list[tuple[int, int, int]]:
    good = [done for done in found if isinstance(done, PublishOutcome)]
    return [(done.accepted, done.duplicates, done.rejected) for done in good]


def sizes(core: GatedCore) -> list[int]:
    """Numbers of publications of the entries of each transaction."""

    def size(item: StoreItem) -> int:
        return item.publications.headers.num_rows if isinstance(item, PendingPublications) else 0

    return [sum(map(size, group)) for group in core.groups]


def test_those_that_come_while_others_are_written_go_together() -> None:
    found, core = outcomes([("default", JSON, one(number)) for number in range(20)])
    assert [done.first for done in found if isinstance(done, PublishOutcome)] == list(range(20))
    assert sizes(core) == [1, 19]


def test_each_gets_the_answer_that_it_would_get_alone() -> None:
    requests = [
        ("default", JSON, one(1, "a")),
        ("default", NDJSON, b"\n".join([one(2), one(3)])),
        ("default", JSON, one(1, "a")),
        ("default", JSON, one(2, "a")),
        ("default", JSON, b"{"),
        ("nowhere", JSON, one(4)),
        ("default", NDJSON, b"\n".join([one(5)] * 11)),
        ("default", JSON, one(8)),
    ]
    found, _ = outcomes(requests)
    assert counts(found) == [(1, 0, 0), (2, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0)]
    good = [done for done in found if isinstance(done, PublishOutcome)]
    assert [done.first for done in good] == [0, 1, None, None, 3]
    malformed, unknown, many = (done for done in found if not isinstance(done, PublishOutcome))
    assert isinstance(malformed, wc.PublicationError)
    assert isinstance(unknown, Refused)
    assert unknown.status == 404
    assert "the limit limits.publications_max is 10" in str(many)


def test_a_request_with_a_bad_publication_says_which() -> None:
    body = b"\n".join([one(2), b'{"attributes": {"m": 1}}', one(3)])
    found, core = outcomes([("default", NDJSON, body)])
    assert counts(found) == [(2, 0, 1)]
    assert isinstance(found[0], PublishOutcome)
    assert [(bad.row, bad.code) for bad in found[0].rejections] == [(1, "unknown_attribute")]
    assert [entry.encoding for entry in core.store.log.read(0, 0, 9)] == ["arrow"]


def test_requests_of_several_publishers_go_together() -> None:
    requests: list[Request] = [
        ("default", JSON, one(0), "p"),
        ("default", JSON, one(1, "a"), "p"),
        ("default", JSON, one(2, "a"), "q"),
        ("default", JSON, one(3, "a")),
        ("default", NDJSON, one(1, "a") + b"\n" + one(4), "p"),
    ]
    found, core = outcomes(requests)
    assert counts(found) == [(1, 0, 0), (1, 0, 0), (1, 0, 0), (1, 0, 0), (1, 1, 0)]
    assert sizes(core) == [1, 5]
    counted = [
        (row["publisher"], row["counter"])
        for entry in core.store.log.read(0, 0, 9, headers=True)
        if entry.headers is not None
        for row in entry.headers.to_pylist()
    ]
    assert counted == [("p", 1), ("p", 2), ("q", 1), (None, None), ("p", 3)]


def test_a_disk_that_is_full_is_told_to_all() -> None:
    found, core = outcomes([("default", JSON, one(n)) for n in range(3)], is_full=True)
    assert [type(one) for one in found] == [StoreError] * 3
    assert core.store.log.size() == 0


def test_what_is_large_goes_as_columns() -> None:
    large = b" " * (32 << 10) + one(1)
    found, core = outcomes([("default", JSON, one(2)), ("default", JSON, large)])
    assert counts(found) == [(1, 0, 0), (1, 0, 0)]
    assert [entry.encoding for entry in core.store.log.read(0, 0, 9)] == ["rows", "arrow"]


def test_an_empty_body_is_refused() -> None:
    found, _ = outcomes([("default", JSON, one(1)), ("default", NDJSON, b" \n")])
    assert isinstance(found[1], Refused)
    assert found[1].status == 400
