"""What indexes over a store share: compaction, results that stay, and threads."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import pytest

from wherecast import Index, Schema
from wherecast.language import PredicateTable
from wherecast.matching.ids import Ids
from wherecast.matching.trees import stored_index as module
from wherecast.matching.trees.betree.index import BETreeIndex
from wherecast.matching.trees.betree.parameters import TreeParameters
from wherecast.matching.trees.forest.index import ForestIndex
from wherecast.matching.trees.stored_index import StoredIndex
from wherecast.model import ConfigError

SCHEMA = Schema.from_dict({"a": "int", "s": "string"})
TREES = ("betree", "forest")


@pytest.mark.parametrize("kind", TREES)
def test_what_was_dropped_is_forgotten(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_DEAD_MIN", 10)
    index = Index(SCHEMA, kind)
    for number in range(100):
        index.add(number, f"a > {number} OR s LIKE 'x{number}%'")
    index.match([{"a": 1}])
    index.remove_all(range(80))
    assert index.match([{"a": 90}, {"s": "x85"}]).to_pylist() == [list(range(80, 90)), [85]]
    engine = index._engine
    assert engine._store.count == len(engine._ids) == len(engine._texts) == 20  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", TREES)
def test_a_result_stays_what_it_was(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_DEAD_MIN", 1)
    index = Index(SCHEMA, kind)
    index.add_all({n: f"a > {n}" for n in range(20)})
    before = index.match([{"a": 5}])
    index.remove_all(range(19))
    index.add_all({n: f"a < {n}" for n in range(100, 140)})
    assert index.match([{"a": 110}]).to_pylist() == [[19, *range(111, 140)]]
    assert before.to_pylist() == [[0, 1, 2, 3, 4]]


@pytest.mark.parametrize("kind", TREES)
def test_threads_may_match_and_change(kind: str) -> None:
    index = Index(SCHEMA, kind)
    index.add_all({n: f"a >= {n}" for n in range(50)})

    def work(thread: int) -> None:
        for step in range(30):
            id = 1000 * (thread + 1) + step
            index.add(id, "a < 0")
            assert index.match([{"a": 24}]).to_pylist() == [list(range(25))]
            index.remove(id)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert len(index) == 50


@pytest.mark.parametrize("kind", TREES)
def test_ids_of_another_type_are_not_there(kind: str) -> None:
    index = Index(SCHEMA, kind)
    index.add(1, "a > 1")
    assert 1 in index
    assert "1" not in index
    assert True not in index
    index.match([{"a": 1}])
    assert True not in index


@pytest.mark.parametrize("kind", TREES)
@pytest.mark.parametrize("settled", [True, False])
def test_an_id_that_is_added_again_replaces_its_filter(kind: str, settled: bool) -> None:
    index = Index(SCHEMA, kind)
    for number in (1, 2, 3, 4):  # the first of a form is read in full, the others as plain ones
        index.add("same", f"a > {number}")
        if settled:
            index.match([])
    index.add("other", "a > 0 OR s LIKE 'x%'")
    assert len(index) == 2
    assert index.match([{"a": 4}, {"a": 5}]).to_pylist() == [["other"], ["other", "same"]]
    index.remove("same")
    assert index.match([{"a": 5}]).to_pylist() == [["other"]]


@pytest.mark.parametrize("kind", [BETreeIndex, ForestIndex])
def test_ids_are_of_one_type(kind: type[StoredIndex]) -> None:
    index = kind(SCHEMA)  # type: ignore[call-arg]
    index.add(7, "a > 1")
    with pytest.raises(ConfigError, match="the ids of this index are int, not str"):
        index.add("seven", "a > 1")
    with pytest.raises(ConfigError, match="the ids of this index are int, not str"):
        index.add_all(Ids.of(["seven"]), index.read(["a > 1"]), None)
    index.add_all(Ids.of([]), index.read([]), None)
    assert 7 in index
    index.remove_all([7])
    index.add("seven", "a > 1")
    assert "seven" in index
    assert 7 not in index


@pytest.mark.parametrize("kind", TREES)
def test_what_is_settled_is_counted_all_the_time(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another thread that asks for the length meanwhile waits for it."""
    index = Index(SCHEMA, kind)
    index.add(1, "a > 1")
    store, asked = index._engine._store, []  # type: ignore[attr-defined]
    reading = store.add
    with ThreadPoolExecutor(1) as pool:

        def add(table: PredicateTable) -> range:
            asked.append(pool.submit(len, index))
            wait(asked, timeout=0.1)
            added: range = reading(table)
            return added

        monkeypatch.setattr(store, "add", add)
        index.match([{"a": 1}])
        assert [each.result(60) for each in asked] == [1]


class NeverListed(dict[Any, Any]):
    """What waits, looked up one by one only."""

    def __iter__(self) -> Iterator[Any]:
        raise AssertionError


@pytest.mark.parametrize("kind", TREES)
def test_an_id_is_looked_up_without_a_look_at_all_that_wait(kind: str) -> None:
    index = Index(SCHEMA, kind)
    index._engine._waiting = NeverListed()  # type: ignore[attr-defined]
    for number in range(3):
        index.add(number, f"a > {number}")
    assert 2 in index
    index.remove(2)
    assert 2 not in index
    assert len(index) == 2


def test_a_plan_says_how_a_tree_is_searched() -> None:
    index = Index(SCHEMA, "betree", TreeParameters(leaf_max=2, leaf_min=1))
    index.add_all({n: f"a > {n}" for n in range(6)} | {6: "TRUE", 7: "a > 1 AND a < 1"})
    index.match([{"a": 9}, {"s": "x"}])
    tried = index.stats()["per_publication"]["candidates"]
    lines = index.explain_plan().splitlines()
    assert lines[0].startswith("8 filters in a BE-Tree, 1 of them never matching: 1 p-nodes, ")
    assert lines[1:] == [
        "a publication is tried on the filters of the buckets that its values are in",
        "a (int): 6 filters",
        "in no branch: 1 filters",
        f"2 publications matched so far, each tried on {tried:,.1f} filters",
    ]
    forest = Index(SCHEMA, "forest")
    forest.add_all({n: f"a > {n}" for n in range(6)} | {6: "s = 'x'"})
    assert forest.explain_plan().splitlines() == [
        "7 filters in a covering forest, 0 of them never matching: 7 nodes, 2 roots, 6 deep",
        "a publication is tried on the roots, and on what is below a filter that matches",
        "0 publications matched so far, each tried on 0.0 filters",
    ]
    scan = Index(SCHEMA, "scan")
    assert scan.explain_plan() == "0 filters, each evaluated on every publication"


def test_what_cannot_be_saved_says_what_can(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="scan cannot be saved; columnar, betree and forest can"):
        Index(SCHEMA, "scan").save(tmp_path / "no")
