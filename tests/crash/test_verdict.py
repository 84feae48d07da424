"""The verdict finds what it is there to find."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.crash.ledger import Fact
from tests.crash.verdict import Kept, expected_of, judge
from tests.crash.world import Step, script

STEPS = [step for step, _ in zip(script(), range(12), strict=False)]
IDS = [f"north-{number}" for number in range(30)]


def kind(step: Step) -> str:
    return "subscribe" if step.text else "unsubscribe"


def kept(acts_from: int = 0) -> Kept:
    return Kept(IDS, [(acts_from, kind(s), s.subscriber, s.id, s.text) for s in STEPS], 0)


def told() -> list[Fact]:
    """The facts of a life without faults."""
    facts: list[Fact] = [[word, n] for n in range(12) for word in ("changing", "changed")]
    facts += [["trying", "north", 0, 30], ["accepted", "north", 0, 30]]
    for name, expected in expected_of(kept()).items():
        rows = [[f"{IDS.index(id):04}", id, list(ids), False] for id, ids in expected.items()]
        facts += [["received", name, rows], ["through", name, rows[-1][0]]]
    return facts


def faults(facts: list[Fact], log: Kept | None = None) -> set[str]:
    return {fault.partition(":")[0] for fault in judge(log or kept(), facts).faults}


def first_receipt(facts: list[Fact]) -> Fact:
    return next(fact for fact in facts if fact[0] == "received" and len(fact[2]) > 2)


def lose(facts: list[Fact]) -> None:
    first_receipt(facts)[2].pop(1)


def misdeliver(facts: list[Fact]) -> None:
    name = first_receipt(facts)[1]
    other = next(id for id in IDS if id not in expected_of(kept())[name])
    first_receipt(facts)[2].append([f"{IDS.index(other):04}", other, ["s0"], False])


def name_others(facts: list[Fact]) -> None:
    first_receipt(facts)[2][0][2].append("s9")


def repeat(facts: list[Fact]) -> None:
    rows = first_receipt(facts)[2]
    rows.append(list(rows[-1]))


def deliver_again(facts: list[Fact]) -> None:
    fact = first_receipt(facts)
    cursor, id, ids, _ = fact[2][0]
    facts.append(["received", fact[1], [[cursor, id, ids, True]]])


def deliver_one_again(facts: list[Fact]) -> None:
    fact = first_receipt(facts)
    cursor, id, ids, _ = fact[2][0]
    at = facts.index(fact) + 1
    facts[at:at] = [["acked", fact[1], [cursor]], ["received", fact[1], [[cursor, id, ids, True]]]]


def move_a_cursor(facts: list[Fact]) -> None:
    first_receipt(facts)[2][0][0] = "0099"


def accept_another(facts: list[Fact]) -> None:
    facts += [["trying", "south", 0, 1], ["accepted", "south", 0, 1]]


def never_publish(facts: list[Fact]) -> None:
    facts[:] = [fact for fact in facts if fact[0] not in ("trying", "accepted")]


def change_more(facts: list[Fact]) -> None:
    facts += [["changing", 11], ["changing", 12], ["changed", 12]]


def test_a_life_without_faults() -> None:
    assert faults(told()) == set()


@pytest.mark.parametrize(
    ("spoil", "fault"),
    [
        (lose, "lost"),
        (misdeliver, "to the wrong subscriber"),
        (name_others, "other subscriptions"),
        (repeat, "twice, not marked"),
        (deliver_again, "again after it was acknowledged"),
        (deliver_one_again, "again after it was acknowledged"),
        (move_a_cursor, "cursors do not sort as the log"),
        (accept_another, "accepted but not in the log"),
        (never_publish, "in the log but never published"),
        (change_more, "changes"),
    ],
)
def test_a_fault(spoil: Callable[[list[Fact]], None], fault: str) -> None:
    facts = told()
    spoil(facts)
    assert fault in faults(facts)


def test_faults_of_the_log() -> None:
    assert "twice in the log" in faults(told(), replace(kept(), ids=[*IDS, IDS[0]]))
    assert "dead letters" in faults(told(), replace(kept(), dead=1))
    steps = [*kept().steps[1:], kept().steps[0]]
    assert "another change" in faults(told(), replace(kept(), steps=steps))
    assert "a publication before what was changed before it" in faults(told(), kept(5))
    later = told()
    later[:0] = [["trying", "north", 0, 30], ["accepted", "north", 0, 30]]
    assert "a change before what was accepted before it" in faults(later)
