"""What only some kinds of index can do, through the public index."""

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from wherecast import Branch, ConfigError, Index, Schema, SnapshotError, TreeParameters
from wherecast.matching.engine import Branching, Covering, Drawable, Savable
from wherecast.matching.kinds import CAPABLE_KINDS, KINDS

AIR = Schema.from_dict(
    {"no2": {"type": "float", "min": 0, "max": 100}, "pm10": "float", "city": "string"}
)
SMALL = TreeParameters(leaf_max=2, leaf_min=1)
FILTERS = {
    "a": "no2 > 50",
    "b": "no2 < 20",
    "c": "no2 BETWEEN 60 AND 70",
    "d": "pm10 > 40",
    "e": "city = 'Split'",
}
OTHERS = {f"other {name}": text for name, text in FILTERS.items()}
ROWS = [{"no2": 65.0, "pm10": 50.0}, {"no2": 5.0, "city": "Split"}, {}]
CALLS: dict[type, list[Callable[[Index], Any]]] = {
    Branching: [
        Index.branches,
        lambda index: index.cut("no2"),
        lambda index: index.graft(betree(OTHERS).cut("no2")),
        lambda index: index.time_branches(ROWS, count().__next__),
    ],
    Covering: [Index.covering_set, lambda index: index.withdraw("a")],
    Drawable: [Index.to_dot, Index.to_svg],
    Savable: [lambda index: index.save("never-written.index")],
}


def betree(filters: dict[Any, str] = FILTERS) -> Index:
    index = Index(AIR, "betree", SMALL)
    for id, text in filters.items():
        index.add(id, text)
    return index


def test_every_capability_is_told_of_the_kinds_that_have_it() -> None:
    assert CAPABLE_KINDS.keys() == CALLS.keys()
    for protocol, kinds in CAPABLE_KINDS.items():
        able = tuple(kind for kind in KINDS if isinstance(Index(AIR, kind)._engine, protocol))
        assert able == kinds


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("protocol", CALLS)
def test_a_kind_without_a_capability_names_the_kinds_that_have_it(
    kind: str, protocol: type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    able = CAPABLE_KINDS[protocol]
    for call in CALLS[protocol]:
        index = Index(AIR, kind, SMALL if kind == "betree" else None)
        index.add_all(dict(list(FILTERS.items())[:4]))
        if kind in able:
            call(index)
            continue
        with pytest.raises(ConfigError) as raised:
            call(index)
        assert f"an index of kind {kind} " in str(raised.value)
        assert all(other in str(raised.value).partition(";")[2] for other in able)
        assert index.match(ROWS).to_pylist() == [["a", "c", "d"], ["b"], []], "nothing changed"
    assert kind in able or not list(tmp_path.iterdir())


def test_a_forest_gives_its_covering_set_and_what_a_withdrawal_uncovers() -> None:
    index = Index(AIR, "forest")
    index.add_all({"wide": "no2 > 5", "inner": "no2 > 9", "innermost": "no2 > 50", "d": "pm10 > 1"})
    assert index.covering_set() == ["d", "wide"]
    assert index.withdraw("wide") == ["inner"]
    assert index.covering_set() == ["d", "inner"]
    assert "wide" not in index
    assert len(index) == 3
    with pytest.raises(KeyError, match="wide"):
        index.withdraw("wide")
    assert index.match([{"no2": 60.0}]).to_pylist() == [["inner", "innermost"]]


def test_a_branch_moves_from_one_index_to_another() -> None:
    index, other = betree(), Index(AIR, "betree")
    whole = index.match(ROWS).to_pylist()
    [figures] = index.branches()
    assert (figures.attribute, figures.type, figures.subscriptions) == ("no2", "float", 3)

    branch = index.cut("no2")
    assert index.branches() == []
    assert len(index) == 2
    other.graft(Branch.deserialise(branch.serialise()))
    assert [one.subscriptions for one in other.branches()] == [3]
    apart = zip(index.match(ROWS).to_pylist(), other.match(ROWS).to_pylist(), strict=True)
    assert [sorted(here + there) for here, there in apart] == whole


def test_a_branch_brings_the_type_of_its_ids() -> None:
    numbered = betree({1: "no2 > 50", 2: "no2 < 20", 3: "no2 = 7"}).cut("no2")
    index = Index(AIR, "betree")
    index.graft(numbered)
    with pytest.raises(ConfigError, match="the ids of this index are int"):
        index.add("x", "no2 > 1")
    named = Index(AIR, "betree")
    named.add("x", "no2 > 1")
    with pytest.raises(ConfigError, match="the ids of this index are str"):
        named.graft(numbered)
    assert len(named) == 1


def test_a_branch_that_does_not_fit_changes_nothing() -> None:
    index = betree()
    branch = betree().cut("no2")
    with pytest.raises(ConfigError, match="3 ids are here already"):
        index.graft(branch)
    with pytest.raises(SnapshotError, match="names no2, which the schema does not have"):
        Index(Schema.from_dict({"so2": "float"}), "betree").graft(branch)
    with pytest.raises(KeyError, match="pm10"):
        index.cut("pm10")
    assert len(index) == len(FILTERS)


def test_branches_are_timed_by_the_clock_that_is_given() -> None:
    index = betree()
    matches, times = index.time_branches(ROWS, count(step=5).__next__)
    assert matches.to_pylist() == index.match(ROWS).to_pylist()
    assert times == {("", ""): 5, ("no2", "float"): 5}
