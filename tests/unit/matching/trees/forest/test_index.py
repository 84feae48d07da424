"""The index of kind forest: covering, the covering set, what a removal uncovers."""

import pytest

from tests.seeds import jobs, random_of
from tests.unit.matching.trees.forest.structure import check_forest, check_roots
from wherecast import Filter, Index, Schema
from wherecast.matching.ids import Ids
from wherecast.matching.trees.forest.index import ForestIndex
from wherecast.matching.trees.tree_pictures import SHAPES_MAX

SCHEMA = Schema.from_dict({"a": "int", "b": {"type": "float", "min": 0, "max": 10}, "s": "string"})


def forest_of(filters: dict[str, str], schema: Schema = SCHEMA) -> ForestIndex:
    index = ForestIndex(schema)
    for id, text in filters.items():
        index.add_all(Ids.of([id]), index.read([text]), None)
    check_forest(index)
    return index


def test_a_filter_is_below_what_covers_it() -> None:
    index = forest_of(
        {"wide": "a > 1", "narrow": "a > 5", "point": "a = 7 AND b > 3", "other": "b > 3"}
    )
    assert index.covering_set() == ["other", "wide"]
    assert index.parent("narrow") == ["wide"]
    assert index.parent("point") in (["narrow"], ["other"])
    assert index.parent("wide") == []


def test_what_comes_later_takes_those_it_covers_beneath_it() -> None:
    index = forest_of({"narrow": "a > 5", "other": "b > 3", "wide": "a > 1"})
    assert index.covering_set() == ["other", "wide"]
    assert index.parent("narrow") == ["wide"]


def test_equal_filters_share_a_node() -> None:
    index = forest_of(
        {
            "one": "a > 5 AND a < 9",
            "two": "a BETWEEN 6 AND 8",
            "six": "a IN (6, 7, 8)",
            "like": "s LIKE 'x%'",
            "same": "s LIKE 'x%'",
        }
    )
    assert index.stats()["nodes"] == 3
    assert index.parent("six") == ["one", "two"]
    index.remove_all(["one"])
    check_forest(index)
    assert index.parent("six") == ["two"]
    assert index.covering_set() == ["like", "same", "two"]


def test_equal_filters_share_a_node_however_they_are_written() -> None:
    index = forest_of(
        {
            "set": "a IN (1, 5)",
            "turned": "a IN (5, 1)",
            "or": "a = 1 OR s = 'x'",
            "or turned": "s = 'x' OR a = 1",
            "except": "b <> 3",
            "not": "NOT b = 3.0",
        }
    )
    assert index.stats()["nodes"] == 3
    assert index.covering_set() == sorted(index._ids, key=str)


def test_a_removal_uncovers_what_only_it_covered() -> None:
    """The example of PADRES: sub1 covers sub2; when sub1 leaves, sub2 goes out first."""
    index = forest_of({"sub1": "a > 5", "sub2": "a > 9"})
    assert index.covering_set() == ["sub1"]
    assert index.withdraw("sub1") == ["sub2"]
    assert index.covering_set() == ["sub2"]


def test_what_another_root_covers_stays_covered() -> None:
    index = forest_of(
        {"one": "a > 1", "two": "b > 1", "both": "a > 5 AND b > 5", "deep": "a = 7 AND b = 7"}
    )
    above = str(index.parent("both")[0])
    other = {"one": "two", "two": "one"}[above]
    assert index.withdraw(above) == []
    check_forest(index)
    assert index.parent("both") == [other]
    assert index.withdraw(other) == ["both"]
    assert index.covering_set() == ["both"]
    assert index.parent("deep") == ["both"]


def test_only_the_most_general_are_uncovered() -> None:
    index = forest_of({"top": "a > 0", "x1": "a > 5", "x2": "a > 9", "y1": "a < 4 AND a > 0"})
    assert index.withdraw("top") == ["x1", "y1"]
    assert index.withdraw("x2") == []
    with pytest.raises(KeyError):
        index.withdraw("top")


def test_a_filter_that_can_never_match_is_in_no_node() -> None:
    index = forest_of({"never": "a > 5 AND a < 3", "some": "a > 5"})
    assert index.covering_set() == ["some"]
    assert index.stats()["never_matching"] == 1
    assert index.withdraw("never") == []
    assert len(index) == 1


@pytest.mark.parametrize(
    ("outer", "inner"),
    [
        ("a < 5", "a < 5 AND b > 1"),
        ("a <= 5", "a < 5"),
        ("a BETWEEN 1 AND 9", "a BETWEEN 2 AND 9"),
        ("b >= 0", "b = 3"),
        ("a IN (1, 2, 3)", "a IN (1, 3)"),
        ("s LIKE '%x%'", "s LIKE 'ax%'"),
        ("s LIKE 'a%'", "s = 'abc'"),
        ("s LIKE '%c'", "s LIKE '%bc'"),
        ("a > 1 OR b > 5", "a > 3"),
        ("TRUE", "s IS NULL"),
        ("a <> 3", "a > 5"),
        ("a <> 3", "a <> 3 AND a <> 4"),
        ("a <> 3", "a <> 3 AND b > 1"),
        ("a <> 3 AND b > 1", "a = 5 AND b > 2"),
        ("a <> 3", "a IN (1, 5)"),
        ("s <> 'x'", "s = 'y'"),
    ],
)
def test_covering_by_operator(outer: str, inner: str) -> None:
    for order in ((outer, inner), (inner, outer)):
        index = forest_of(dict(zip(order, order, strict=True)))
        assert index.covering_set() == [outer], order


@pytest.mark.parametrize("job", jobs(4, in_make_test=1, in_release=2))
def test_roots_are_what_no_other_covers(job: int) -> None:
    rng = random_of(job)
    texts = {}
    for n in range(120):
        low, high = sorted((rng.randrange(20), rng.randrange(20)))
        parts = [
            f"a BETWEEN {low} AND {high}",
            f"b > {rng.randrange(10)}",
            f"s = 'x{rng.randrange(3)}'",
        ]
        texts[f"f{n}"] = " AND ".join(rng.sample(parts, rng.randint(1, 3)))
    index = forest_of(texts)
    live = dict(texts)
    for _ in range(100):
        roots = set(index.covering_set())
        filters = {id: Filter(text, SCHEMA) for id, text in live.items()}
        for id in rng.sample(sorted(live), 12):
            covered = any(
                f.covers(filters[id]) and not filters[id].covers(f) for f in filters.values()
            )
            assert (id not in roots) == covered, live[id]
        gone = rng.choice(sorted(live))
        uncovered = index.withdraw(gone)
        del live[gone]
        assert set(index.covering_set()) == (roots - {gone}) | set(uncovered)
    check_forest(index)
    check_roots(index)


def test_children_of_what_does_not_match_are_skipped() -> None:
    index = Index(SCHEMA, "forest")
    index.add_all({n: f"a >= {n}" for n in range(100)})
    assert index.match([{"a": -1}]).to_pylist() == [[]]
    assert index.stats()["filters_checked"] == 1
    assert index.stats()["depth"] == 100
    assert index.stats()["covering_ratio"] == 0.99
    index.match([{"a": 9}])
    assert index.stats()["filters_checked"] == 1 + 11


def test_pictures_show_every_filter() -> None:
    index = Index(SCHEMA, "forest")
    index.add_all({"wide": "a > 1", "narrow": "a > 5", "like": "s LIKE '<%'"})
    for picture in (index.to_dot(), index.to_svg()):
        for id in ("wide", "narrow", "like"):
            assert id in picture
    assert "s LIKE '&lt;%'" in index.to_svg() or "&#x27;&lt;%" in index.to_svg()


def test_a_chain_of_filters_is_drawn() -> None:
    index = Index(Schema.from_dict({"a": "int"}), "forest")
    index.add_all({n: f"a >= {n}" for n in range(SHAPES_MAX)})
    assert index.to_svg().count("<rect") == SHAPES_MAX + 1


def test_equal_filters_of_two_forms_cover_each_other() -> None:
    index = forest_of({"in": "a IN (6, 7, 8)", "between": "a BETWEEN 6 AND 8", "x": "a = 7"})
    assert len(index.covering_set()) == 1
    check_roots(index)
    assert index.stats()["nodes"] == 3
    same = forest_of({"one": "a IN (6, 8)", "two": "a IN (8, 6)", "three": "a = 8 OR a = 6"})
    assert same.covering_set() == ["one", "two"]
    assert same.parent("three") == ["one", "two"]
