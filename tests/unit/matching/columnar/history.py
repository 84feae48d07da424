"""A history of changes, and what a match that ran beside them may have seen.

Each writer owns a range of ids and numbers its states. A state is written down before the change
that makes it is begun, and counts as reached when the change has returned. A match that was called
when state k was reached, and returned when state m was begun, saw one of k to m.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from random import Random
from threading import Thread
from typing import Any

from wherecast import Index, Schema
from wherecast.matching.matches import Matches

SCHEMA = Schema.from_dict({"a": "int", "b": "float", "s": "string"})
FILTERS = (
    "a > 3", "a = 2", "a <> 2", "a IN (1, 3, 5, 7, 9)", "b BETWEEN -1 AND 1", "s = 'x'",
    "s LIKE 'x%'", "s >= 'm' AND a < 5", "a IS NULL", "b > 0 OR a IS NULL", "a < b", "TRUE",
    "FALSE", "s IN ('x', 'y') AND b > 0", "lower(s) = 'x' OR a = 4", "a > 0 AND b > 0 AND s > 'a'",
)  # fmt: skip
PUBLICATIONS: list[dict[str, Any]] = [
    {"a": 2, "b": 0.5, "s": "x"}, {"a": 4, "b": 9.0, "s": "X"}, {"a": 7, "s": "xyz"},
    {"b": 0.0, "s": "m"}, {"a": 9}, {},
]  # fmt: skip
IDS = 40  # of each writer
State = tuple[int | None, ...]  # for each id of a writer its filter, or None
Answer = tuple[tuple[int, ...], ...]  # for each publication the ids that match


@cache
def truth() -> tuple[frozenset[int], ...]:
    """For each publication the filters that match it, as the reference index decides."""
    reference = Index(SCHEMA, kind="scan")
    reference.add_all(enumerate(FILTERS))
    return tuple(map(frozenset, reference.match(PUBLICATIONS).to_pylist()))  # type: ignore[arg-type]


@cache
def answer(state: State, first: int) -> Answer:
    """What a match in a state of a writer gives."""
    placed = [(first + place, filter) for place, filter in enumerate(state)]
    return tuple(
        tuple(id for id, filter in placed if filter is not None and filter in matching)
        for matching in truth()
    )


def part(matches: Matches, first: int) -> Answer:
    """What a match found of one writer's ids."""
    return tuple(
        tuple(int(id) for id in row if first <= int(id) < first + IDS)
        for row in matches.to_pylist()
    )


@dataclass
class Writer:
    """Changes an index at random, and remembers all its states."""

    index: Index
    number: int
    states: list[State] = field(default_factory=lambda: [(None,) * IDS])
    begun: int = 0
    reached: int = 0

    def __post_init__(self) -> None:
        self.first = self.number * IDS
        self._draw = Random(self.number)

    def change(self) -> None:
        """One change: filters added, replaced or removed, one or several."""
        before, draw = self.states[-1], self._draw
        there = [place for place, filter in enumerate(before) if filter is not None]
        count = draw.choice([1, 1, 2, 5, 12])
        removing = len(there) >= count and draw.random() < 0.45
        places = draw.sample(there if removing else range(IDS), count)
        new = {place: None if removing else draw.randrange(len(FILTERS)) for place in places}
        self.states.append(tuple(new.get(place, old) for place, old in enumerate(before)))
        self.begun += 1
        ids = [self.first + place for place in places]
        if removing:
            self.index.remove(ids[0]) if count == 1 else self.index.remove_all(ids)
        elif count == 1:
            self.index.add(ids[0], FILTERS[new[places[0]] or 0])
        else:
            self.index.add_all({self.first + p: FILTERS[f or 0] for p, f in new.items()})
        self.reached += 1


@dataclass(frozen=True)
class Seen:
    """What was found, between which states of each writer."""

    since: tuple[int, ...]
    until: tuple[int, ...]
    matches: Matches

    def wrong(self, writers: list[Writer]) -> list[int]:
        """The writers none of whose states in between gives what was found."""
        found = []
        for writer, since, until in zip(writers, self.since, self.until, strict=True):
            possible = {answer(state, writer.first) for state in writer.states[since : until + 1]}
            if part(self.matches, writer.first) not in possible:
                found.append(writer.number)
        return found


@contextmanager
def often_switched() -> Iterator[None]:
    """Threads take turns a hundred times as often as usual."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(usual / 100)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)


@contextmanager
def running(*works: Any) -> Iterator[list[BaseException]]:
    """Runs functions in threads of their own until they end; errors of theirs are given."""
    errors: list[BaseException] = []

    def watched(work: Any) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - the test raises it
            errors.append(error)

    threads = [Thread(target=watched, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    try:
        yield errors
    finally:
        for thread in threads:
            thread.join(120)
        assert not any(thread.is_alive() for thread in threads)
