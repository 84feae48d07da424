"""Branches: cut off, sent, grafted and merged, with everything right."""

from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.unit.matching.trees.betree.structure import check_structure
from tests.unit.matching.trees.betree.trees import PLANE, SMALL, squares, tree_of
from wherecast import Schema
from wherecast.columns import arrow_schema
from wherecast.matching.ids import Ids
from wherecast.matching.trees.betree.branch import Branch
from wherecast.matching.trees.betree.index import BETreeIndex
from wherecast.matching.trees.betree.layout import PNODE
from wherecast.matching.trees.betree.parameters import TreeParameters
from wherecast.matching.trees.betree.tree_outline import outline
from wherecast.model import ConfigError, SnapshotError

FILTERS = {
    **squares(14),
    **{f"s{n}": f"s = 'v{n}'" for n in range(8)},
    "all": "TRUE",
    "none": "x > 5 AND x < 3",
}
ROWS = [{"x": 5.0, "y": 2.0, "s": "v3"}, {"x": 13.5, "y": 1.5}, {"s": "v7"}, {}]


def batch_of(rows: list[dict[str, Any]] = ROWS) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(rows, arrow_schema(PLANE))


def found(index: BETreeIndex) -> list[list[Any]]:
    return index.match(batch_of()).to_pylist()


def shape(index: BETreeIndex) -> Any:
    """The tree by ids, without numbers of nodes."""

    def of(view: Any) -> Any:
        ids = sorted(str(index._ids[entry]) for entry in view.entries)
        parts = {p.slot: (p.count, p.equal, p.inside, of(p.root)) for p in view.parts}
        return view.low, view.high, view.room, ids, [of(half) for half in view.halves], parts

    index._settle()
    return of(outline(index._tree.arrays))


def test_a_branch_matched_apart_and_the_rest_give_the_whole() -> None:
    index = tree_of(FILTERS)
    whole = found(index)
    branch = index.cut("s")
    apart = BETreeIndex(PLANE, SMALL)
    apart.graft(branch)
    check_structure(index)
    check_structure(apart)
    assert (len(branch), len(apart), len(index)) == (8, 8, len(FILTERS) - 8)
    both = [sorted([*a, *b]) for a, b in zip(found(index), found(apart), strict=True)]
    assert both == whole
    assert any(found(apart))


@pytest.mark.parametrize("sent", [False, True], ids=["kept", "sent as Arrow"])
def test_a_branch_that_comes_back_is_as_it_was(sent: bool) -> None:
    index = tree_of(FILTERS)
    before, figures = shape(index), index.branches()
    for attribute in ("s", "x"):
        branch = index.cut(attribute)
        index.graft(Branch.deserialise(branch.serialise()) if sent else branch)
    assert shape(index) == before
    assert index.branches() == figures
    check_structure(index)


def test_a_branch_is_merged_where_the_attribute_has_one() -> None:
    index = tree_of(FILTERS)
    whole = found(index)
    branch = index.cut("s")
    for n in range(5):
        index.add(f"new{n}", f"s = 'w{n}'")
    assert "s" in {b.attribute for b in index.branches()}
    index.graft(branch)
    check_structure(index)
    assert found(index) == whole
    assert {b.attribute: b.subscriptions for b in index.branches()}["s"] == 13


def test_candidates_are_counted_by_branch() -> None:
    index = tree_of(FILTERS)
    found(index)
    checked = {b.attribute: b.checked for b in index.branches()}
    total = index.stats()["filters_checked"]
    root = len(outline(index._tree.arrays).entries)
    assert sum(checked.values()) + root * len(ROWS) == total
    assert checked["s"] > 0
    branch = index.cut("s")
    index.graft(branch)
    assert {b.attribute: b.checked for b in index.branches()} == checked, "it goes with the branch"


LOSSY = TreeParameters(leaf_max=3, leaf_min=1, alpha=0.5, sample=1)


def lossy(filters: dict[str, str], publications: int) -> BETreeIndex:
    """A tree that tried filters in vain."""
    index = tree_of(filters, parameters=LOSSY)
    index.match(batch_of([{"x": n % 16 + 0.5, "y": 0.5, "s": "no"} for n in range(publications)]))
    return index


def scores(index: BETreeIndex) -> dict[str, float]:
    return {b.attribute: b.score for b in index.branches()}


@pytest.mark.parametrize("before", [0, 7, 100], ids="sampled {} there".format)
def test_loss_goes_with_a_branch(before: int) -> None:
    index = lossy(FILTERS, 30)
    wanted = scores(index)["x"]
    figures = index.branches()[0]
    other = lossy({f"t{n}": f"s = 'v{n}'" for n in range(8)}, before)
    unchanged = scores(other)
    other.graft(Branch.deserialise(index.cut("x").serialise()))
    check_structure(other)
    assert figures.score < tree_of(FILTERS, parameters=LOSSY).branches()[0].score
    here = max(1, before or 30)
    assert scores(other) == {"x": pytest.approx(wanted, abs=1 / here), **unchanged}


def test_loss_is_in_a_file(tmp_path: Path) -> None:
    index = lossy(FILTERS, 30)
    index.save(tmp_path / "tree")
    again, _ = BETreeIndex.load(tmp_path / "tree")
    check_structure(again)
    assert again.branches() == index.branches()


def test_a_listing_of_nothing_sampled_has_no_loss() -> None:
    listing = lossy(FILTERS, 30).cut("x").listing
    assert listing.resampled(30, 30) is listing
    assert listing.resampled(0, 0).false.sum() == 0
    assert listing.resampled(30, 60).false.sum() == 2 * listing.false.sum()
    assert (listing.resampled(30, 7).false >= 0).all()


def test_counts_are_added_where_a_branch_is_merged() -> None:
    index = lossy(FILTERS, 30)
    [before] = [b for b in index.branches() if b.attribute == "x"]
    gone = index.cut("x")
    assert gone.listing.false.sum() > 0
    index.add_all(
        Ids.of([f"n{n}" for n in range(8)]), index.read([f"x < {n}" for n in range(8)]), None
    )
    [between] = [b for b in index.branches() if b.attribute == "x"]
    index.graft(gone)
    [after] = [b for b in index.branches() if b.attribute == "x"]
    assert after.checked == before.checked + between.checked
    [p] = [p for p in index._tree.branches() if index._name(p)[0] == "x"]
    assert index._tree.arrays.p[p, PNODE.FALSE] == gone.listing.false.sum()
    check_structure(index)


def test_times_come_from_the_clock_of_the_caller() -> None:
    index = tree_of(FILTERS)
    ticks = count()
    matches, times = index.time_branches(batch_of(), lambda: next(ticks))
    assert times == {
        ("", ""): 1,
        **dict.fromkeys(((b.attribute, b.type) for b in index.branches()), 1),
    }
    assert matches.to_pylist() == found(index)


def test_ids_that_are_there_are_refused() -> None:
    index = tree_of(FILTERS)
    branch = index.cut("s")
    index.add("s3", "x > 1")
    before = shape(index)
    with pytest.raises(ConfigError, match="1 ids are here already, such as 's3'"):
        index.graft(branch)
    assert shape(index) == before


def test_ids_of_another_type_are_refused() -> None:
    branch = tree_of({n: f"x > {n % 16}" for n in range(8)}).cut("x")
    index = tree_of(FILTERS)
    before = shape(index)
    with pytest.raises(ConfigError, match="the ids of this index are str, not int"):
        index.graft(branch)
    assert shape(index) == before
    assert 3 not in index


def test_an_empty_tree_takes_ids_of_any_type(tmp_path: Path) -> None:
    branch = tree_of({n: f"x > {n % 16}" for n in range(8)}).cut("x")
    index = tree_of(FILTERS)
    index.remove_all(list(FILTERS))
    index.graft(branch)
    assert 3 in index
    assert "s3" not in index
    index.remove_all([3])
    index.save(tmp_path / "tree")
    assert BETreeIndex.load(tmp_path / "tree")[1] is int


def test_an_unknown_branch() -> None:
    with pytest.raises(KeyError, match="nothing"):
        tree_of(FILTERS).cut("nothing")


def test_branches_of_one_name_and_two_types() -> None:
    filters = {n: f"x > {n}" for n in range(6)} | {10 + n: f"x = 'v{n}'" for n in range(4)}
    index = tree_of(filters, replace(Schema.from_dict({"y": "int"}), open=True))
    names = [(b.attribute, b.type, b.subscriptions) for b in index.branches()]
    assert names == [("x", "float", 6), ("x", "string", 4)]
    batch = pa.RecordBatch.from_pylist([{"x": 3.5}])
    ticks = count()
    _, times = index.time_branches(batch, lambda: next(ticks))
    assert times == {("", ""): 1, ("x", "float"): 1, ("x", "string"): 1}
    with pytest.raises(ConfigError, match="x is branched as float and as string; say which"):
        index.cut("x")
    with pytest.raises(KeyError, match="x as int"):
        index.cut("x", "int")
    assert set(index.cut("x", "string").ids) == {10, 11, 12, 13}
    assert set(index.cut("x").ids) == set(range(6))


def test_a_branch_of_another_schema_is_refused() -> None:
    branch = tree_of(FILTERS).cut("s")
    other = BETreeIndex(Schema.from_dict({"x": "float"}), SMALL)
    with pytest.raises(SnapshotError, match="the branch names s"):
        other.graft(branch)
    assert len(other) == 0
    for open_too in (False, True):
        other = BETreeIndex(replace(Schema.from_dict({"s": "int"}), open=open_too), SMALL)
        with pytest.raises(SnapshotError, match="the branch has s as string, the schema s as int"):
            other.graft(branch)
        assert len(other) == 0


def test_a_branch_whose_filters_the_schema_does_not_know_is_refused() -> None:
    branch = tree_of({n: f"x > {n}" for n in range(8)}).cut("x")
    branch.texts[3] = "x > 3 AND s = 'v'"
    other = BETreeIndex(Schema.from_dict({"x": "float"}), SMALL)
    with pytest.raises(SnapshotError, match="a filter of the branch is none"):
        other.graft(branch)
    assert len(other) == 0


LISTED = {"s": {"type": "string", "values": list("abcdefgh")}}
NO_LONGER = {"s": {"type": "string", "values": list("abstuvwz")}}


def test_nodes_that_no_filter_fits_into_are_not_kept() -> None:
    """The values of the schema changed meanwhile: most filters of the branch cannot match."""
    filters = {text * 3 + str(n): f"s = '{text}'" for text in "abcdefgh" for n in range(3)}
    branch = tree_of(filters, Schema.from_dict(LISTED)).cut("s")
    other = BETreeIndex(Schema.from_dict(NO_LONGER), SMALL)
    other.graft(branch)
    check_structure(other)
    assert len(other) == len(filters)
    other.remove_all([id for id in filters if id[0] in "ab"])
    check_structure(other)
    assert other.branches() == []
    other = BETreeIndex(Schema.from_dict(NO_LONGER), SMALL)
    other.graft(tree_of(dict.fromkeys(range(8), "s = 'c'"), Schema.from_dict(LISTED)).cut("s"))
    check_structure(other)
    assert other.branches() == []
    assert len(other._tree.nodes()) == 1


@pytest.mark.parametrize(
    "data",
    [b"", b"nonsense", pa.BufferReader(b"x" * 100).read_buffer()],
    ids=["empty", "text", "x"],
)
def test_what_is_no_branch_is_refused(data: Any) -> None:
    with pytest.raises(SnapshotError, match="branch"):
        Branch.deserialise(data)


def test_a_table_without_a_branch_is_refused() -> None:
    with pytest.raises(SnapshotError, match="has no branch"):
        Branch.from_arrow(pa.table({"id": [1], "filter": ["x > 1"]}))


@pytest.mark.parametrize("data", [b"[]", b"{}", b"no json", b'{"format": "x"}'])
def test_a_table_with_another_header_is_refused(data: bytes) -> None:
    table = tree_of(FILTERS).cut("s").to_arrow()
    metadata = table.schema.metadata | {b"wherecast.branch": data}
    with pytest.raises(SnapshotError, match="the branch"):
        Branch.from_arrow(table.replace_schema_metadata(metadata))


def test_a_branch_that_ends_early_is_refused() -> None:
    whole = tree_of(FILTERS).cut("s").serialise().to_pybytes()
    end = len(Branch.deserialise(whole))
    for size in range(0, len(whole), 8):
        try:
            branch = Branch.deserialise(whole[:size])
        except SnapshotError:
            continue
        assert len(branch) == end, "only the mark of the end may be missing"


def test_a_branch_without_some_of_its_nodes_is_refused() -> None:
    table = tree_of(FILTERS).cut("s").to_arrow()
    about = b'{"format": 2, "attributes": [], "nodes": 8, "filters": 8, "sampled": 0}'
    with pytest.raises(SnapshotError, match="it has no nodes"):
        Branch.from_arrow(
            table.replace_schema_metadata(table.schema.metadata | {b"wherecast.branch": about})
        )
    nodes = table.schema.metadata[b"wherecast.nodes"]
    refused = 0
    for size in range(0, len(nodes) - 8, 8):
        metadata = table.schema.metadata | {b"wherecast.nodes": nodes[:size]}
        with pytest.raises(SnapshotError, match="the branch"):
            Branch.from_arrow(table.replace_schema_metadata(metadata))
        refused += 1
    assert refused > 10


def test_a_filter_in_the_wrong_node_goes_where_it_belongs() -> None:
    index = tree_of(FILTERS)
    whole = found(index)
    branch = index.cut("x")
    branch.places[:] = branch.places[::-1].copy()
    index.graft(branch)
    assert found(index) == whole
    assert len(index) == len(FILTERS)


def test_a_branch_takes_the_filters_that_wait_in_the_root() -> None:
    index = tree_of(FILTERS)
    branch = index.cut("s")
    index.add("late", "s = 'v3'")
    check_structure(index)
    index.graft(branch)
    check_structure(index)
    assert {b.attribute: b.subscriptions for b in index.branches()}["s"] == 9
    assert "late" in found(index)[0]
