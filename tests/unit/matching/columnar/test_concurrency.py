"""Threads that match, change and save one index: each sees a state between its call and return."""

from collections.abc import Callable
from pathlib import Path
from threading import Event, Semaphore

import pytest

from tests.unit.matching.columnar.history import (
    IDS,
    PUBLICATIONS,
    SCHEMA,
    Seen,
    Writer,
    often_switched,
    running,
)
from wherecast import Index
from wherecast.matching.columnar.index import ColumnarIndex, RunSettings
from wherecast.matching.matches import Matches

CHANGES = 150  # of each writer
CHANGES_MAX = 5_000
MATCHERS = 4
SAVES_MAX = 12
BOTH_WAYS = pytest.mark.parametrize(
    "way", ["trees", pytest.param("columns", marks=pytest.mark.release)], indirect=True
)


class Scene:
    """An index with writers and those who look at it, until the writers are done."""

    def __init__(self, writers: int, settings: RunSettings | None = None) -> None:
        self.index = Index(SCHEMA)
        if settings is not None:
            self.index._engine = ColumnarIndex(SCHEMA, settings=settings)
        self.index.add(-1, "a = 1")
        self.index.match(PUBLICATIONS)  # compiled code is loaded before anything begins
        self.index.remove(-1)
        self.writers = [Writer(self.index, number) for number in range(writers)]
        self.seen: list[Seen] = []
        self.done = Event()
        self._looked = Semaphore(0)

    def look(self, how: Callable[[], Matches]) -> None:
        """Calls a function once, and writes down what it saw between which states."""
        since = tuple(writer.reached for writer in self.writers)
        matches = how()
        until = tuple(writer.begun for writer in self.writers)
        self.seen.append(Seen(since, until, matches))
        self._looked.release()

    def match(self) -> None:
        """Matches until the writers are done."""
        while not self.done.is_set():
            self.look(lambda: self.index.match(PUBLICATIONS))

    def change(self, writer: Writer) -> None:
        """Changes the index, mostly after others had a look, until runs were merged."""
        while writer.reached < CHANGES or (
            self.index.stats()["merges"] == 0 and writer.reached < CHANGES_MAX
        ):
            writer.change()
            if writer.reached % 3:
                while self._looked.acquire(blocking=False):  # those were before
                    pass
                self._looked.acquire(timeout=10)

    def run(self, *others: Callable[[], None]) -> None:
        """Runs writers and matchers to their end."""
        with often_switched(), running(*[self.match] * MATCHERS, *others) as errors:
            try:
                with running(*(lambda w=w: self.change(w) for w in self.writers)) as more:
                    pass
            finally:
                self.done.set()
        assert [*errors, *more] == []
        engine = self.index._engine
        assert isinstance(engine, ColumnarIndex)
        engine.wait()

    def assert_all_right(self) -> None:
        """Everything that was seen was there, and in the end everything is."""
        wrong = [
            (place, bad) for place, one in enumerate(self.seen) if (bad := one.wrong(self.writers))
        ]
        assert wrong == []
        at_end = tuple(writer.reached for writer in self.writers)
        assert Seen(at_end, at_end, self.index.match(PUBLICATIONS)).wrong(self.writers) == []
        there = {
            writer.first + place
            for writer in self.writers
            for place, filter in enumerate(writer.states[-1])
            if filter is not None
        }
        assert len(self.index) == len(there)
        assert {id for id in range(IDS * len(self.writers)) if id in self.index} == there
        assert self.index.stats()["merges"] > 0


@BOTH_WAYS
@pytest.mark.parametrize("writers", [1, pytest.param(2, marks=pytest.mark.release)])
def test_matches_see_a_state_between_call_and_return(way: str, writers: int) -> None:
    scene = Scene(writers)
    scene.run()
    scene.assert_all_right()
    assert len({seen.since for seen in scene.seen}) > 50


@BOTH_WAYS
def test_merges_of_several_tiers(way: str) -> None:
    """Small tiers: merged runs are merged again while filters in them are replaced."""
    scene = Scene(2, RunSettings(tier_filters=3))
    scene.run()
    scene.assert_all_right()
    assert scene.index.stats()["merges"] > 5


@BOTH_WAYS
def test_saved_files_hold_a_state_between(way: str, tmp_path: Path) -> None:
    scene = Scene(2)
    files: list[Path] = []

    def saved() -> Matches:
        files.append(tmp_path / str(len(files)))
        scene.index.save(files[-1])
        return Index.load(files[-1]).match(PUBLICATIONS)

    def save() -> None:
        while not scene.done.is_set() and len(files) < SAVES_MAX:
            scene.look(saved)

    scene.run(save)
    assert len(files) >= 2
    scene.assert_all_right()


@BOTH_WAYS
def test_compaction_beside_matches_and_changes(way: str) -> None:
    scene = Scene(1)
    engine = scene.index._engine
    assert isinstance(engine, ColumnarIndex)

    def compact() -> None:
        while not scene.done.is_set():
            engine.compact()

    scene.run(compact)
    scene.assert_all_right()
