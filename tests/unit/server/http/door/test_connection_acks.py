"""Acknowledgements that come together are written together, and each is told what became of it."""

import asyncio
from collections.abc import Sequence

import pytest

pytest.importorskip("fastapi")

from wherecast.broker.dispatch.acknowledgement import Acknowledgement
from wherecast.model import AcknowledgementError, WherecastError
from wherecast.server.http.door.ack_batcher import AckBatcher
from wherecast.server.http.door.connection_acks import ConnectionAcks
from wherecast.server.http.stage_timings import Timings
from wherecast.server.http.transport.thread_pools import ThreadPools


class Writes:
    """The edge to the queues: notes what is acknowledged, and refuses what is beyond 100."""

    def __init__(self) -> None:
        self.times: list[list[tuple[str, Acknowledgement]]] = []

    def acknowledge(
        self, given: Sequence[tuple[str, Acknowledgement]]
    ) -> list[WherecastError | None]:
        self.times.append([])
        return [self._problem(*one) for one in given]

    def _problem(self, name: str, wanted: Acknowledgement) -> WherecastError | None:
        if max(wanted.through or 0, *wanted.sequences, 0) > 100:
            return AcknowledgementError("never delivered", code="not_delivered")
        self.times[-1].append((name, wanted))
        return None


def cursor(number: int) -> str:
    return f'"{number:016x}"'


def told(texts: list[str], confirms: bool = True) -> tuple[list[dict[str, object]], Writes]:
    """What is told about messages that came at once."""
    writes = Writes()

    async def run() -> list[dict[str, object]]:
        pools = ThreadPools()
        batcher = AckBatcher(writes, pools, Timings())  # type: ignore[arg-type]
        acks = ConnectionAcks(batcher, "ana", hurries=True, confirms=confirms)
        for text in texts:
            await acks.put(text)
        try:
            return await acks.next()
        finally:
            pools.close()

    return asyncio.run(run()), writes


def test_they_are_written_together() -> None:
    texts = [f'{{"through": {cursor(n)}}}' for n in (3, 9, 5)]
    texts.append(f'{{"cursors": [{cursor(20)}, {cursor(12)}]}}')
    answers, writes = told(texts)
    assert writes.times == [[("ana", Acknowledgement(9, (12, 20)))]]
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
    each = [("ana", Acknowledgement(3)), ("ana", Acknowledgement(None, (7,)))]
    assert writes.times == [[], each]


def test_what_is_not_to_be_confirmed_is_told_where_it_failed() -> None:
    good, bad = f'{{"through": {cursor(3)}}}', f'{{"through": {cursor(101)}}}'
    answers, _ = told([good, bad], confirms=False)
    assert [list(one) for one in answers] == [["error"]]
