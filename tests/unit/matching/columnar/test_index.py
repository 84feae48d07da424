"""Changes of a columnar index: what each match sees, also while other threads change it."""

import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from wherecast import Index, Schema
from wherecast.matching.columnar import index as changing
from wherecast.matching.columnar import snapshot
from wherecast.matching.columnar.index import ColumnarIndex, RunSettings

SCHEMA = Schema.from_dict({"a": "int", "b": "float", "s": "string", "f": "bool"})
FILTERS = st.sampled_from(
    [
        "a > 3", "a = 2", "a <> 2", "a IN (1, 3, 5, 7, 9)", "b BETWEEN -1 AND 1", "s = 'x'",
        "s LIKE 'x%'", "s >= 'm' AND a < 5", "f", "NOT f OR a IS NULL", "a < b", "TRUE",
        "a > 5 AND a < 3", "s IN ('x', 'y') AND b > 0", "lower(s) = 'x' OR a = 4",
    ]
)  # fmt: skip
PUBLICATIONS = [
    {"a": 2, "b": 0.5, "s": "x", "f": True},
    {"a": 4, "b": 9.0, "s": "X"},
    {"a": 7, "s": "xyz", "f": False},
    {"b": float("nan"), "s": "m"},
    {},
]


class Changes(RuleBasedStateMachine):
    """Random changes, seen alike by the columnar and the reference index."""

    @initialize()
    def start(self) -> None:
        self.columnar = Index(SCHEMA, kind="columnar")
        self.reference = Index(SCHEMA, kind="scan")
        self.ids: set[int] = set()

    @rule(id=st.integers(0, 30), text=FILTERS)
    def add(self, id: int, text: str) -> None:
        self.columnar.add(id, text)
        self.reference.add(id, text)
        self.ids.add(id)

    @rule(filters=st.dictionaries(st.integers(0, 60), FILTERS, min_size=1, max_size=40))
    def add_all(self, filters: dict[int, str]) -> None:
        self.columnar.add_all(filters)
        self.reference.add_all(filters)
        self.ids |= filters.keys()

    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        if self.ids:
            gone = data.draw(st.sets(st.sampled_from(sorted(self.ids)), min_size=1))
            self.columnar.remove_all(gone)
            self.reference.remove_all(gone)
            self.ids -= gone

    @rule()
    def compact(self) -> None:
        engine = self.columnar._engine
        assert isinstance(engine, ColumnarIndex)
        engine.compact()

    @rule()
    def match(self) -> None:
        expected = self.reference.match(PUBLICATIONS).to_pylist()
        assert self.columnar.match(PUBLICATIONS).to_pylist() == expected

    @invariant()
    def same_ids(self) -> None:
        assert len(self.columnar) == len(self.ids)
        assert all((id in self.columnar) == (id in self.ids) for id in range(61))


TestChanges = Changes.TestCase
TestChanges.settings = settings(max_examples=30, stateful_step_count=30, deadline=None)


def index_with(settings: RunSettings) -> Index:
    """A columnar index whose runs have other sizes than usual."""
    index = Index(SCHEMA, kind="columnar")
    index._engine = ColumnarIndex(SCHEMA, settings=settings)
    return index


def test_small_runs_are_merged_and_few_filters_twice() -> None:
    index = index_with(RunSettings(tier_filters=8, growing_max=0))
    for id in range(200):
        index.add(id, f"a > {id}")
        assert index.match([{"a": id + 1}]).counts.tolist() == [id + 1]
    engine = index._engine
    assert isinstance(engine, ColumnarIndex)
    engine.wait()

    stats = index.stats()

    assert stats["changes_published"] == 200
    assert len(stats["runs"]) <= 16
    assert stats["filters_merged"] <= 200 * 5


def test_runs_become_one_where_only_matches_follow() -> None:
    index = Index(SCHEMA, kind="columnar")
    for first in (0, 3_000):
        index.add_all({id: f"a = {id}" for id in range(first, first + 3_000)})
    engine = index._engine
    assert isinstance(engine, ColumnarIndex)
    found = []
    for count in (changing._RENT_MIN, 6_000 // changing._FILTERS_PER_RENT, 1):
        for _ in range(count):
            assert index.match([{"a": 4_000}]).to_pylist() == [[4_000]]
        engine.wait()
        found.append(index.stats()["runs"])

    assert found == [[3_000, 3_000], [3_000, 3_000], [6_000]]

    index.add(9_000, "a = 4000")
    for _ in range(changing._RENT_MIN):
        index.match([{"a": 4_000}])
    index.add(9_001, "a = 5")  # what matching cost before a change counts no more
    for _ in range(changing._RENT_MIN):
        index.match([{"a": 4_000}])
    engine.wait()
    assert index.stats()["runs"] == [6_000, 2]


def test_threads_see_one_consistent_state() -> None:
    """A writer moves a pair of filters together; no match may see one without the other."""
    index = Index(SCHEMA, kind="columnar")
    index.add_all(dict.fromkeys(range(300), "a > 1000000"))
    stop = threading.Event()
    wrong: list[list[object]] = []
    matched = [0] * 4

    def look(place: int) -> None:
        while not stop.is_set():
            [seen] = index.match([{"a": 5}]).to_pylist()
            matched[place] += 1
            if len(seen) not in (0, 2) or (len(seen) == 2 and int(seen[1]) - int(seen[0]) != 1000):
                wrong.append(seen)

    threads = [threading.Thread(target=look, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for step in range(120):
        index.add_all({10_000 + step: "a = 5", 11_000 + step: "a = 5"})
        index.remove_all([10_000 + step, 11_000 + step])
    while min(matched) < 5:
        stop.wait(0.01)
    stop.set()
    for thread in threads:
        thread.join()

    assert wrong == []
    assert index.match([{"a": 5}]).counts.tolist() == [0]


def test_matching_goes_on_beside_a_merge(monkeypatch: pytest.MonkeyPatch) -> None:
    """A merge that cannot end keeps nobody from matching and changing."""
    held, started = threading.Event(), threading.Event()
    plain = snapshot.Snapshot.of

    def slow(table: object) -> snapshot.Snapshot:
        if threading.current_thread() is not threading.main_thread():
            started.set()
            assert held.wait(60)
        return plain(table)  # type: ignore[arg-type]

    monkeypatch.setattr(snapshot.Snapshot, "of", staticmethod(slow))
    index = index_with(RunSettings(tier_filters=2, growing_max=0))
    for id in range(8):
        index.add(id, "a = 1")
        index.match([{"a": 1}])
    assert started.wait(60)

    index.add(100, "a = 1")
    index.remove(3)
    during = index.match([{"a": 1}]).to_pylist()
    seen = index.stats()["matches_while_merging"]
    held.set()
    engine = index._engine
    assert isinstance(engine, ColumnarIndex)
    engine.wait()

    assert during == [[0, 1, 2, 4, 5, 6, 7, 100]]
    assert seen >= 1
    assert index.match([{"a": 1}]).to_pylist() == during
    assert index.stats()["merges"] >= 1
    assert np.sum(index.stats()["runs"]) == 8


def test_matching_goes_on_while_filters_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    index = Index(SCHEMA, kind="columnar")
    index.add(1, "a = 1")
    held, started = threading.Event(), threading.Event()
    plain = changing.read_filters

    def slow(*given: Any) -> Any:
        started.set()
        assert held.wait(60)
        return plain(*given)

    monkeypatch.setattr(changing, "read_filters", slow)
    adding = threading.Thread(target=index.add_all, args=({2: "a = 1", 3: "a = 1"},))
    adding.start()
    assert started.wait(60)

    index.add(4, "a = 1")
    during = index.match([{"a": 1}]).to_pylist()
    held.set()
    adding.join()

    assert during == [[1, 4]]
    assert index.match([{"a": 1}]).to_pylist() == [[1, 2, 3, 4]]
