"""The index of kind betree: figures, pictures, parameters, Loss."""

import pytest

from tests.unit.matching.trees.betree.structure import check_structure
from tests.unit.matching.trees.betree.trees import PLANE, SMALL, squares, tree_of
from wherecast import ConfigError, Index, Schema
from wherecast.matching.trees.betree.layout import CNODE, PNODE, TreeState
from wherecast.matching.trees.betree.parameters import TreeParameters
from wherecast.matching.trees.betree.tree_outline import buckets_of, outline


def test_figures() -> None:
    index = tree_of(squares(16))
    views = list(buckets_of(outline(index._tree.arrays)))
    stats = index.stats()
    assert stats["c_nodes"] == len(views)
    assert stats["p_nodes"] == sum(len(view.parts) for view in views)
    assert stats["l_nodes"] == sum(bool(view.entries) for view in views)
    assert stats["filters_per_l_node"] == 16 / stats["l_nodes"]
    assert stats["largest_l_node"] == max(len(view.entries) for view in views)
    assert stats["depth"] in (1, 2)
    assert stats["tree_bytes"] > 0 < stats["store_bytes"]


def test_pictures_show_every_filter() -> None:
    index = Index(PLANE, "betree", SMALL)
    index.add_all(squares(16))
    index.add_all({f"s{n}": f"s = 'v{n}'" for n in range(5)})
    for picture in (index.to_dot(), index.to_svg()):
        for id in [*squares(16), "s4"]:
            assert id in picture
        assert "x 0 … 16" in picture or "y 0 … 16" in picture
        assert "inside" in picture


def test_an_index_that_is_no_tree_has_no_picture() -> None:
    with pytest.raises(ConfigError, match="kind scan has no picture; betree and forest do"):
        Index(PLANE, "scan").to_svg()
    index = Index(PLANE, "betree", TreeParameters(leaf_max=1, leaf_min=1))
    index.add_all({n: f"x = {n / 100}" for n in range(1000)})
    with pytest.raises(ConfigError, match="is not drawn"):
        index.to_dot()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"leaf_max": 0}, "leaf_min is 1 to leaf_max"),
        ({"leaf_max": 2, "leaf_min": 3}, "leaf_min is 1 to leaf_max, not 3 of 2"),
        ({"depth_max": 63}, "depth_max is 1 to 62, not 63"),
        ({"alpha": 1.5}, "alpha is 0 to 1"),
        ({"beta": -0.1}, "beta is 0 to 1"),
        ({"sample": 0}, "sample is at least 1"),
    ],
)
def test_parameters_that_cannot_work_are_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        TreeParameters(**options)  # type: ignore[arg-type]


def test_other_kinds_take_no_parameters() -> None:
    with pytest.raises(ConfigError, match="kind columnar takes no tree parameters"):
        Index(PLANE, "columnar", TreeParameters())


def test_loss_is_sampled_and_lowers_a_score() -> None:
    parameters = TreeParameters(leaf_max=3, leaf_min=1, alpha=0.5, sample=2)
    index = Index(PLANE, "betree", parameters)
    index.add_all(squares(16))
    tree = index._engine
    before = tree.branches()  # type: ignore[attr-defined]
    rows = [{"x": n % 16 + 0.5, "y": n % 7} for n in range(20)]
    matched = index.match(rows).counts
    arrays = tree._tree.arrays  # type: ignore[attr-defined]
    assert arrays.state[TreeState.SAMPLED] == 10
    [branch] = tree.branches()  # type: ignore[attr-defined]
    assert branch.score < before[0].score
    false = arrays.c[tree._tree.nodes(), CNODE.FALSE].sum()  # type: ignore[attr-defined]
    checked = 0
    for row in rows[::2]:
        fresh = tree_of(squares(16), parameters=parameters)
        fresh.match(index._valid([row]).batch)
        checked += fresh.stats()["filters_checked"]
    assert false == checked - matched[::2].sum()
    [p] = tree._tree.branches()  # type: ignore[attr-defined]
    assert arrays.p[p, PNODE.FALSE] == false
    index.remove_all(list(squares(16))[:12])
    check_structure(tree)  # type: ignore[arg-type]
    remaining = tree._tree.arrays  # type: ignore[attr-defined]
    below = remaining.c[tree._tree.nodes()[1:], CNODE.FALSE].sum()  # type: ignore[attr-defined]
    assert sum(remaining.p[p, PNODE.FALSE] for p in tree._tree.branches()) == below  # type: ignore[attr-defined]


def test_a_tree_of_many_levels_is_not_drawn() -> None:
    names = [f"a{n}" for n in range(120)]
    schema = Schema.from_dict(dict.fromkeys(names, "bool"))
    index = Index(schema, "betree", TreeParameters(leaf_max=1, leaf_min=1))
    index.add_all(dict.fromkeys("xy", " AND ".join(f"{name} = TRUE" for name in names)))
    with pytest.raises(ConfigError, match="120 levels is not drawn"):
        index.to_svg()
