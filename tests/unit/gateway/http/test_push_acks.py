"""Acknowledgements that come together are written together, and each is told what became of it."""

import asyncio
from collections.abc import Iterable

import pytest

pytest.importorskip("fastapi")

from wherecast.gateway.http.push_acks import PushAcks
from wherecast.gateway.http.threads import Threads
from wherecast.gateway.http.timings import Timings
from wherecast.model import AcknowledgementError


class Writes:
    """The edge to the queues: notes what is acknowledged, and refuses what is beyond 100."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, object]] = []

    def ack(self, name: str, sequences: Iterable[int]) -> None:
        self._note("ack", tuple(sequences))

    def ack_through(self, name: str, sequence: int) -> None:
        self._note("through", (sequence,))

    def _note(self, way: str, sequences: tuple[int, ...]) -> None:
        if max(sequences) > 100:
            raise AcknowledgementError("never delivered", code="not_delivered")
        self.calls.append((way, sequences))


def cursor(number: int) -> str:
    return f'"{number:016x}"'


def told(texts: list[str]) -> tuple[list[dict[str, object]], Writes]:
    """What is told about messages that came at once."""
    writes = Writes()

    async def run() -> list[dict[str, object]]:
        threads = Threads()
        acks = PushAcks(writes, "ana", threads, Timings())  # type: ignore[arg-type]
        for text in texts:
            await acks.put(text)
        try:
            return await acks.next()
        finally:
            threads.close()

    return asyncio.run(run()), writes


def test_they_are_written_together() -> None:
    texts = [f'{{"through": {cursor(n)}}}' for n in (3, 9, 5)]
    texts.append(f'{{"cursors": [{cursor(20)}, {cursor(12)}]}}')
    answers, writes = told(texts)
    assert writes.calls == [("through", (9,)), ("ack", (12, 20))]
    assert [list(one) for one in answers] == [["acknowledged"]] * 4


def test_a_bad_one_costs_no_good_one() -> None:
    good, bad = f'{{"through": {cursor(3)}}}', f'{{"through": {cursor(101)}}}'
    answers, writes = told([good, bad, "nonsense", f'{{"cursors": [{cursor(7)}]}}'])
    assert [next(iter(one)) for one in answers] == [
        "acknowledged",
        "error",
        "error",
        "acknowledged",
    ]
    assert ("through", (3,)) in writes.calls
    assert ("ack", (7,)) in writes.calls
