"""Whether a store kept its promises, by the ledger and the order of its log.

The log says in which order things were accepted; from that, and from the meaning of the filters, it
follows what each subscriber has to receive. Nothing of the matching and delivering is asked.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.crash.history import kept_facts
from tests.crash.ledger import Fact
from tests.crash.world import Meaning, attributes_of, filter_of, publication_id, script
from wherecast.store.open_store import open_store

_NAMED = ("subscribe", "unsubscribe")


@dataclass
class Verdict:
    """What was found.

    Attributes:
        faults: what must not be, the first few of each kind.
        counts: how much there was of everything.
    """

    faults: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    _kinds: Counter[str] = field(default_factory=Counter)

    def fault(self, kind: str, what: object) -> None:
        """Adds a fault."""
        self._kinds[kind] += 1
        if self._kinds[kind] <= 5:
            self.faults.append(f"{kind}: {what}")

    def __str__(self) -> str:
        told = ", ".join(f"{count} {what}" for what, count in self.counts.items())
        kinds = ", ".join(f"{count} × {kind}" for kind, count in self._kinds.items())
        return f"{told}; faults: {kinds or 'none'}"


@dataclass(frozen=True)
class Kept:
    """What the log has.

    Attributes:
        ids: of the publications, in order.
        steps: the changes of subscriptions in order: offset, kind, subscriber, id, text.
        dead: how many dead letters there are.
    """

    ids: list[str]
    steps: list[tuple[int, str, str, str, str]]
    dead: int


def kept_in(path: Path, facts: Iterable[Fact] = ()) -> Kept:
    """What the log of a directory has, and what it had by the ledger."""
    store = open_store(path, "reader")
    ids: dict[int, str] = {}
    steps: dict[int, list[tuple[int, str, str, str, str]]] = {}
    try:
        for kind, *what in (*facts, *kept_facts(store.log)):
            if kind == "kept":
                ids |= enumerate(what[1], what[0])
            elif kind == "kept change":
                version, offset, rows = what
                named = [(offset, row[0], *row[2:5]) for row in rows if row[0] in _NAMED]
                steps[version] = named
        in_order = [ids[offset] for offset in range(store.log.ends()[0])]
        all_steps = [step for version in sorted(steps) for step in steps[version]]
        return Kept(in_order, all_steps, len(store.batches.dead_letters()))
    finally:
        store.close()


def judge(kept: Kept, facts: list[Fact]) -> Verdict:
    """The verdict on a store whose subscribers have received everything."""
    verdict = Verdict()
    verdict.counts["publications"] = len(kept.ids)
    verdict.counts["changes"] = len(kept.steps)
    if kept.dead:
        verdict.fault("dead letters", kept.dead)
    _judge_log(kept, facts, verdict)
    _judge_order(kept, facts, verdict)
    _judge_received(expected_of(kept), kept, facts, verdict)
    return verdict


def _judge_log(kept: Kept, facts: list[Fact], verdict: Verdict) -> None:
    """Accepted means in the log, once; the changes there are those of the script."""
    often = Counter(kept.ids)
    for id, count in often.items():
        if count > 1:
            verdict.fault("twice in the log", id)
    tried = {id for kind, *what in facts if kind == "trying" for id in _ids(*what)}
    accepted = {id for kind, *what in facts if kind == "accepted" for id in _ids(*what)}
    verdict.counts["accepted"] = len(accepted)
    for id in accepted - often.keys():
        verdict.fault("accepted but not in the log", id)
    for id in often.keys() - tried:
        verdict.fault("in the log but never published", id)
    changed = 1 + max((fact[1] for fact in facts if fact[0] == "changed"), default=-1)
    if len(kept.steps) - changed not in (0, 1):
        verdict.fault("changes", f"{changed} acknowledged, {len(kept.steps)} in the log")
    for step, (_, kind, subscriber, id, text) in zip(script(), kept.steps, strict=False):
        wanted = ("subscribe" if step.text else "unsubscribe", step.subscriber, step.id, step.text)
        if wanted != (kind, subscriber, id, text):
            verdict.fault("another change", (step, kind, subscriber, id, text))


def _judge_order(kept: Kept, facts: list[Fact], verdict: Verdict) -> None:
    """What was acknowledged before something else was first tried stands before it in the log."""
    places = {id: place for place, id in enumerate(kept.ids)}
    steps = dict(enumerate(offset for offset, *_ in kept.steps))
    accepted_end = acts_from = 0
    tried: set[str | int] = set()
    for kind, *what in facts:
        if kind == "accepted":
            accepted_end = max(accepted_end, *(places.get(id, -1) + 1 for id in _ids(*what)))
        elif kind == "changed":
            acts_from = max(acts_from, steps.get(what[0], 0))
        elif kind == "changing":
            if what[0] not in tried and steps.get(what[0], accepted_end) < accepted_end:
                verdict.fault("a change before what was accepted before it", what)
            tried.add(what[0])
        elif kind == "trying":
            for id in _ids(*what):
                if id not in tried and places.get(id, acts_from) < acts_from:
                    verdict.fault("a publication before what was changed before it", id)
                tried.add(id)


def _ids(publisher: str, first: int, count: int) -> list[str]:
    return [publication_id(publisher, number) for number in range(first, first + count)]


Expected = dict[str, dict[str, tuple[str, ...]]]


def expected_of(kept: Kept) -> Expected:
    """By subscriber and publication id: the subscriptions that it matches, sorted."""
    expected: Expected = defaultdict(dict)
    standing: dict[str, dict[str, Meaning]] = defaultdict(dict)
    steps = iter([*enumerate(kept.steps), (0, (len(kept.ids), "", "", "", ""))])
    number, step = next(steps)
    for offset, publication in enumerate(kept.ids):
        while step[0] <= offset:
            _, kind, subscriber, id, _ = step
            if kind == "subscribe":
                standing[subscriber][id] = filter_of(number)[1]
            else:
                del standing[subscriber][id]
            number, step = next(steps)
        row = attributes_of(publication)
        for subscriber, meanings in standing.items():
            matched = tuple(sorted(id for id, meaning in meanings.items() if meaning(row)))
            if matched:
                expected[subscriber][publication] = matched
    return expected


def _judge_received(expected: Expected, kept: Kept, facts: list[Fact], verdict: Verdict) -> None:
    """Everything that was expected came, and nothing else; again only where it may."""
    places = {id: place for place, id in enumerate(kept.ids)}
    names = {fact[1] for fact in facts if fact[0] in ("received", "acked", "through")}
    for name in sorted(names | expected.keys()):
        receipts = _Receipts(name, expected.get(name, {}), verdict)
        for kind, owner, *what in facts:
            if kind in ("received", "acked", "through") and owner == name:
                getattr(receipts, kind)(*what)
        for id in expected.get(name, {}).keys() - receipts.seen.keys():
            verdict.fault("lost", (name, id, places[id]))
        by_cursor = sorted(receipts.seen, key=lambda id: receipts.seen[id])
        if by_cursor != sorted(receipts.seen, key=lambda id: places.get(id, -1)):
            verdict.fault("cursors do not sort as the log", name)


class _Receipts:
    """What one subscriber received and acknowledged, fact by fact.

    Attributes:
        seen: the cursor of each publication that came.
    """

    def __init__(self, name: str, expected: dict[str, tuple[str, ...]], verdict: Verdict) -> None:
        self.seen: dict[str, str] = {}
        self._name = name
        self._expected = expected
        self._verdict = verdict
        self._acked: set[str] = set()
        self._through = ""

    def received(self, rows: list[list[Any]]) -> None:
        """Took these."""
        counts = self._verdict.counts
        for cursor, id, ids, redelivered in rows:
            what = (self._name, id, cursor)
            counts["received"] += 1
            if id not in self._expected:
                self._verdict.fault("to the wrong subscriber", what)
            elif self._expected[id] != tuple(ids):
                self._verdict.fault("other subscriptions", (*what, ids, self._expected[id]))
            if id in self.seen:
                counts["received again"] += 1
                if not redelivered:
                    self._verdict.fault("twice, not marked", what)
                if self.seen[id] != cursor:
                    self._verdict.fault("another cursor", (*what, self.seen[id]))
            elif redelivered:
                counts["marked at first"] += 1
            if cursor in self._acked or cursor <= self._through:
                self._verdict.fault("again after it was acknowledged", what)
            self.seen[id] = cursor

    def acked(self, cursors: list[str]) -> None:
        """Acknowledged just these."""
        self._acked.update(cursors)

    def through(self, cursor: str) -> None:
        """Acknowledged everything up to one."""
        self._through = max(self._through, cursor)
