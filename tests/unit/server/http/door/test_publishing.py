"""Requests that come at once are written together, and each gets its own answer."""

import asyncio
from collections.abc import Sequence
from threading import Event

import pytest

pytest.importorskip("fastapi")

import wherecast as wc
from wherecast.broker.broker_core import BrokerCore
from wherecast.broker.intake.intake import PreparedPublications
from wherecast.broker.intake.publish_outcome import PublishOutcome
from wherecast.model import DEFAULT_LIMITS, StoreError
from wherecast.server.http.door.publish_batcher import PublishBatcher
from wherecast.server.http.messages.error_messages import Refused
from wherecast.server.http.stage_timings import Timings
from wherecast.server.http.transport.body import JSON, NDJSON
from wherecast.server.http.transport.thread_pools import ThreadPools
from wherecast.store.open_store import open_store
from wherecast.store.records import Receipt

SCHEMA = wc.Schema.from_dict({"n": "int"})
Request = tuple[str, str, bytes] | tuple[str, str, bytes, str]
Outcome = PublishOutcome | BaseException


class Gated(BrokerCore):
    """A core at which the first ones wait until the others are there, too."""

    def __init__(self) -> None:
        super().__init__(open_store("memory:"), SCHEMA)
        self.gate = Event()
        self.failure: Exception | None = None

    def accept(self, prepared: PreparedPublications) -> Receipt | None:
        assert self.gate.wait(60)
        if self.failure is not None:
            raise self.failure
        return super().accept(prepared)


def outcomes(
    requests: Sequence[Request], failure: Exception | None = None
) -> tuple[list[Outcome], PublishBatcher, BrokerCore]:
    """What becomes of a first request, and of others that come while it is written."""
    core = Gated()

    async def run() -> tuple[list[Outcome], PublishBatcher]:
        pools = ThreadPools()
        batcher = PublishBatcher(core, pools, Timings(), 10, DEFAULT_LIMITS)
        tasks = [asyncio.create_task(batcher.publish(*one)) for one in requests[:1]]
        while not batcher.batches:
            await asyncio.sleep(0)
        tasks += [asyncio.create_task(batcher.publish(*one)) for one in requests[1:]]
        await asyncio.sleep(0)
        core.failure = failure
        core.gate.set()
        try:
            return list(await asyncio.gather(*tasks, return_exceptions=True)), batcher
        finally:
            pools.close()

    try:
        return (*asyncio.run(run()), core)
    finally:
        core.close()


def one(number: int, id: str | None = None) -> bytes:
    named = "" if id is None else f', "id": "{id}"'
    return f'{{"attributes": {{"n": {number}}}{named}}}'.encode()


def test_those_that_come_while_others_are_written_go_together() -> None:
    requests = [("default", JSON, one(number)) for number in range(20)]
    found, batcher, _ = outcomes(requests)
    assert [done.first for done in found if isinstance(done, PublishOutcome)] == list(range(20))
    assert (batcher.batches, batcher.requests) == (2, 20)


def test_each_gets_the_answer_that_it_would_get_alone() -> None:
    requests = [
        ("default", JSON, one(1, "a")),
        ("default", NDJSON, b"\n".join([one(2), b'{"attributes": {"m": 1}}', one(3)])),
        ("default", JSON, one(1, "a")),
        ("default", JSON, one(2, "a")),
        ("default", JSON, b"{"),
        ("nowhere", JSON, one(4)),
        ("default", NDJSON, b"\n".join([one(5)] * 11)),
        ("default", JSON, b"[" + one(6) + b"," + one(7, "a") + b"]"),
        ("default", JSON, one(8)),
    ]
    found, batcher, _ = outcomes(requests)
    assert batcher.batches == 2
    good = [done for done in found if isinstance(done, PublishOutcome)]
    assert [(done.accepted, done.duplicates, done.rejected) for done in good] == [
        (1, 0, 0), (2, 0, 1), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 0, 0),
    ]  # fmt: skip
    assert [done.first for done in good] == [0, 1, None, None, 3, 4]
    assert [[bad.row for bad in done.rejections] for done in good] == [[], [1], [], [0], [1], []]
    malformed, unknown, many = (done for done in found if not isinstance(done, PublishOutcome))
    assert isinstance(malformed, wc.PublicationError)
    assert isinstance(unknown, Refused)
    assert unknown.status == 404
    assert "the limit limits.publications_max is 10" in str(many)


def test_requests_of_several_publishers_go_together() -> None:
    requests: list[Request] = [
        ("default", JSON, one(0), "p"),
        ("default", JSON, one(1, "a"), "p"),
        ("default", JSON, one(2, "a"), "q"),
        ("default", JSON, one(3, "a")),
        ("default", NDJSON, one(1, "a") + b"\n" + one(4), "p"),
    ]
    found, batcher, core = outcomes(requests)
    good = [done for done in found if isinstance(done, PublishOutcome)]
    assert [(done.accepted, done.duplicates, done.rejected) for done in good] == [
        (1, 0, 0), (1, 0, 0), (1, 0, 0), (1, 0, 0), (1, 1, 0),
    ]  # fmt: skip
    assert batcher.batches == 2
    counted = [
        (row["publisher"], row["counter"])
        for entry in core.store.log.read(0, 0, 9, headers=True)
        if entry.headers is not None
        for row in entry.headers.to_pylist()
    ]
    assert counted == [("p", 1), ("p", 2), ("q", 1), (None, None), ("p", 3)]


def test_a_disk_that_is_full_is_told_to_all() -> None:
    full = StoreError("the disk is full")
    found, _, core = outcomes([("default", JSON, one(n)) for n in range(3)], full)
    assert found == [full] * 3
    assert core.store.log.size() == 0


def test_what_is_large_goes_by_itself() -> None:
    large = b" " * (32 << 10) + one(1)
    found, batcher, _ = outcomes([("default", JSON, large), ("default", JSON, one(2))])
    assert all(isinstance(done, PublishOutcome) for done in found)
    assert (batcher.batches, batcher.requests) == (2, 2)


def test_an_empty_body_is_refused() -> None:
    found, _, _ = outcomes([("default", JSON, one(1)), ("default", NDJSON, b" \n")])
    assert isinstance(found[1], Refused)
    assert found[1].status == 400


def test_a_fault_is_told_to_all_and_nobody_waits_for_ever() -> None:
    fault = RuntimeError("a fault")
    found, batcher, _ = outcomes([("default", JSON, one(n)) for n in range(3)], fault)
    assert found == [fault] * 3
    assert batcher.batches == 2
