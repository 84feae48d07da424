"""How a tree grows and shrinks, step by step, on cases that can be followed by hand."""

from typing import Any

import pytest

from tests.unit.matching.trees.betree.structure import check_structure
from tests.unit.matching.trees.betree.trees import PLANE, SMALL, squares, tree_of
from wherecast import Schema
from wherecast.language.meaning.keys import float_key
from wherecast.matching.trees.betree.index import BETreeIndex
from wherecast.matching.trees.betree.layout import PLACE
from wherecast.matching.trees.betree.parameters import TreeParameters
from wherecast.matching.trees.betree.tree_outline import BucketView, buckets_of, outline
from wherecast.matching.trees.items import ITEM


def root_of(index: BETreeIndex) -> BucketView:
    check_structure(index)
    return outline(index._tree.arrays)


def ids_of(index: BETreeIndex, view: BucketView) -> list[str]:
    return [str(index._ids[entry]) for entry in view.entries]


def test_few_filters_stay_in_the_root() -> None:
    index = tree_of({"a": "x < 3", "b": "x > 9", "c": "y = 5"})
    root = root_of(index)
    assert ids_of(index, root) == ["a", "b", "c"]
    assert root.parts == root.halves == ()


def test_the_attribute_that_most_use_is_partitioned() -> None:
    index = tree_of({"a": "x < 3", "b": "x > 9", "c": "y = 5", "d": "x > 12"})
    root = root_of(index)
    assert ids_of(index, root) == ["c"]
    [part] = root.parts
    assert index._store.slots.attributes[part.slot].name == "x"
    assert ids_of(index, part.root) == ["a", "b", "d"]


def test_a_bucket_is_halved_at_the_middle_of_its_domain() -> None:
    index = tree_of({"a": "x < 3", "b": "x > 9", "c": "x > 12", "d": "x BETWEEN 7 AND 9"})
    root = root_of(index)
    [part] = root.parts
    left, right = part.root.halves
    assert left.high == float_key(8.0)
    assert (ids_of(index, left), ids_of(index, right)) == (["a"], ["b", "c"])
    assert ids_of(index, part.root) == ["d"], "it crosses the middle"


def test_what_crosses_the_middle_is_partitioned_by_the_next_attribute() -> None:
    filters = {n: f"x BETWEEN 7 AND 9 AND y BETWEEN {n} AND {n + 1}" for n in range(6)}
    index = tree_of(filters)
    [part] = root_of(index).parts
    [below] = part.root.parts
    names = [index._store.slots.attributes[p.slot].name for p in (part, below)]
    assert sorted(names) == ["x", "y"]


def test_of_attributes_used_alike_the_one_that_spreads_best_is_taken() -> None:
    filters = {n: f"s = 'same' AND x BETWEEN {4 * n} AND {4 * n + 1}" for n in range(4)}
    index = tree_of(filters)
    [part] = root_of(index).parts
    assert index._store.slots.attributes[part.slot].name == "x"


def test_where_nothing_can_be_split_the_capacity_grows() -> None:
    index = tree_of(dict.fromkeys(range(8), "x BETWEEN 7 AND 9"))
    [part] = root_of(index).parts
    assert (len(part.root.entries), part.root.room) == (8, 9)
    index.remove_all(range(6))
    [part] = root_of(index).parts
    assert (len(part.root.entries), part.root.room) == (2, 3)


def test_undeclared_ends_are_learned_and_reach_to_infinity() -> None:
    schema = Schema.from_dict({"z": "float"})
    filters = {f"n{n}": f"z BETWEEN {100 * n} AND {100 * n + 50}" for n in range(5)}
    index = tree_of({**filters, "low": "z < -5000", "high": "z > 5000"}, schema)
    [part] = root_of(index).parts
    left, right = part.root.halves
    assert "low" in [id for view in buckets_of(left) for id in ids_of(index, view)]
    assert "high" in [id for view in buckets_of(right) for id in ids_of(index, view)]
    assert len(part.root.halves) == 2
    assert left.low == -float_key(float("inf"))


def test_the_highest_score_is_followed() -> None:
    filters = {f"x{n}": f"x BETWEEN {n} AND {n + 1}" for n in range(12)}
    filters |= {f"y{n}": f"y = {n}" for n in range(4)}
    index = tree_of(filters)
    scores = {branch.attribute: branch.score for branch in index.branches()}
    assert scores["x"] > scores["y"]
    index = tree_of({**filters, "both": "x = 3 AND y = 3"})
    counts = {branch.attribute: branch.subscriptions for branch in index.branches()}
    assert counts == {"x": 13, "y": 4}


def test_a_contradiction_is_kept_and_in_no_node() -> None:
    index = tree_of({**squares(8), "never": "x > 5 AND x < 3", "outside": "x > 100"})
    assert len(index) == 10
    assert index.stats()["never_matching"] == 2
    root_of(index)
    index.remove_all(["never", "outside"])
    assert index.stats()["never_matching"] == 0


def test_halves_are_folded_when_few_are_left() -> None:
    index = tree_of({n: f"x BETWEEN {2 * n} AND {2 * n + 1}" for n in range(8)})
    [part] = root_of(index).parts
    assert part.root.halves
    index.remove_all(range(1, 8))
    [part] = root_of(index).parts
    assert part.root.halves == ()
    assert ids_of(index, part.root) == ["0"]
    index.remove_all([0])
    assert root_of(index).parts == ()


def test_a_deep_domain_is_halved_only_so_often() -> None:
    limits = TreeParameters(leaf_max=1, leaf_min=1, depth_max=4)
    index = tree_of({n: f"x = {n / 1000}" for n in range(30)}, PLANE, limits)
    assert index.stats()["halvings"] == 4
    root_of(index)


def test_listed_strings_are_halved_by_their_places() -> None:
    values = [f"v{n}" for n in range(8)]
    schema = Schema.from_dict({"t": {"type": "string", "values": values}})
    filters = {f"n{n}": f"t = '{value}'" for n, value in enumerate(values)}
    index = tree_of({**filters, "some": "t IN ('v6', 'v7')"}, schema)
    [part] = root_of(index).parts
    left, right = part.root.halves
    assert (left.low, left.high, right.high) == (0, 3, 7)
    deep = [view for view in (right, *right.halves) if "some" in ids_of(index, view)]
    assert deep[0].low >= 4
    assert SMALL.leaf_max == 3


def test_what_only_infinity_satisfies_does_not_tell_where_an_open_domain_ends() -> None:
    schema = Schema.from_dict({"x": "float"})
    filters = {"a": "x <= 10", "b": "x = 2", "c": "x >= 6", "d": "x > 1.7976931348623157e308"}
    [part] = root_of(tree_of(filters, schema=schema)).parts
    left, _ = part.root.halves
    assert left.high == float_key(6.0), "the middle of 2 and 10"


@pytest.mark.parametrize(("narrow", "wide"), [("x", "y"), ("y", "x")])
def test_the_narrowest_side_is_looked_at_first_where_all_have_been_tested(
    narrow: str, wide: str
) -> None:
    text = f"{narrow} BETWEEN 7.9 AND 8.1 AND {wide} BETWEEN 1 AND 15"
    index = tree_of(dict.fromkeys(range(20), f"{text} AND s = 'same'"))
    check_structure(index)
    assert index.stats()["depth"] == 3, "all attributes are above them"
    tree, names = index._tree.arrays, [a.name for a in index._store.slots.attributes]
    probes = tree.i[tree.e[:20, PLACE.PLACE], ITEM.PROBE].tolist()
    assert {names[probe >> 1] for probe in probes} == {narrow}


STEPPED: dict[str, Any] = {
    "int": {"type": "int", "step": 5},
    "int from 0 on": {"type": "int", "min": 0, "step": 5},
    "decimal": {"type": "decimal", "scale": 2, "step": "0.05"},
    "float": {"type": "float", "step": 0.5},
    "float from 0 on": {"type": "float", "min": 0, "step": 0.5},
    "plain int": "int",
    "plain float": "float",
}


@pytest.mark.parametrize("name", STEPPED)
def test_an_open_end_is_no_bound_that_is_learned(name: str) -> None:
    """Some filters with one end leave the others to be spread."""
    filters = {n: f"x {'<=>=='[n % 5]} {100 + 5 * (n * 37 % 64)}" for n in range(20)}
    filters |= {n: f"x = {100 + 5 * (n * 37 % 64)}" for n in range(20, 64)}
    index = tree_of(filters, Schema.from_dict({"x": STEPPED[name]}), TreeParameters(4, 1))
    check_structure(index)
    assert index.stats()["largest_l_node"] <= 8
