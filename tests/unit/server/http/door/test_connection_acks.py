"""Acknowledgements that come together are written together, and each is told what became of it."""

import asyncio
from collections.abc import Sequence

import pytest

pytest.importorskip("fastapi")

from wherecast.broker.dispatch.acknowledgement import Acknowledgement
from wherecast.model import AcknowledgementError, WherecastError
from wherecast.server.http.door.connection_acks import ConnectionAcks


class Acknowledged:
    """Takes acknowledgements: notes them, and refuses what is beyond 100."""

    def __init__(self) -> None:
        self.times: list[list[Acknowledgement]] = []

    async def apply(
        self, name: str, given: Sequence[Acknowledgement], hurries: bool
    ) -> list[WherecastError | None]:
        self.times.append(list(given))
        return [_problem(wanted) for wanted in given]


def _problem(wanted: Acknowledgement) -> WherecastError | None:
    if max(wanted.through or 0, *wanted.sequences, 0) > 100:
        return AcknowledgementError("never delivered", code="not_delivered")
    return None


def cursor(number: int) -> str:
    return f'"{number:016x}"'


def told(texts: list[str], confirms: bool = True) -> tuple[list[dict[str, object]], Acknowledged]:
    """What is told about messages that came at once."""
    taken = Acknowledged()

    async def run() -> list[dict[str, object]]:
        acks = ConnectionAcks(taken, "ana", hurries=True, confirms=confirms)  # type: ignore[arg-type]
        for text in texts:
            await acks.put(text)
        return await acks.next()  # type: ignore[return-value]

    return asyncio.run(run()), taken


def test_they_are_written_together() -> None:
    texts = [f'{{"through": {cursor(n)}}}' for n in (3, 9, 5)]
    texts.append(f'{{"cursors": [{cursor(20)}, {cursor(12)}]}}')
    answers, taken = told(texts)
    each = [*map(Acknowledgement, (3, 9, 5)), Acknowledgement(None, (20, 12))]
    assert taken.times == [each]
    assert [list(one) for one in answers] == [["acknowledged"]] * 4


def test_a_bad_one_costs_no_good_one() -> None:
    good, bad = f'{{"through": {cursor(3)}}}', f'{{"through": {cursor(101)}}}'
    answers, taken = told([good, bad, "nonsense", f'{{"cursors": [{cursor(7)}]}}'])
    assert [next(iter(one)) for one in answers] == [
        "acknowledged",
        "error",
        "error",
        "acknowledged",
    ]
    each = [*map(Acknowledgement, (3, 101)), Acknowledgement(None, (7,))]
    assert taken.times == [each]


def test_what_is_not_to_be_confirmed_is_told_where_it_failed() -> None:
    good, bad = f'{{"through": {cursor(3)}}}', f'{{"through": {cursor(101)}}}'
    answers, _ = told([good, bad], confirms=False)
    assert [list(one) for one in answers] == [["error"]]
