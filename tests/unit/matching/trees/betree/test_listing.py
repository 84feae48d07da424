"""Listings of nodes: what they say is made again, what no tree can be is refused."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.unit.matching.trees.betree.trees import SMALL, squares, tree_of
from wherecast.matching.trees.betree.index import BETreeIndex
from wherecast.matching.trees.betree.listing import (
    CLUSTER,
    PARTITION,
    Listing,
    list_nodes,
    make_nodes,
)
from wherecast.matching.trees.betree.tree import BETree
from wherecast.model import SnapshotError


def listed() -> tuple[BETreeIndex, Listing]:
    index = tree_of(squares(16))
    return index, list_nodes(index._tree.arrays)[0]


def made(index: BETreeIndex, listing: Listing) -> BETree:
    fresh = BETree(index._store, SMALL)
    make_nodes(fresh, listing, range(len(index._store.slots)), index._store.slots.domains())
    return fresh


def test_nodes_are_made_again() -> None:
    index, listing = listed()
    again, _ = list_nodes(made(index, listing).arrays)
    for name, column in listing.columns().items():
        if name != "checked":
            np.testing.assert_array_equal(column, again.columns()[name], err_msg=name)
    assert {CLUSTER, PARTITION} == set(listing.kind.tolist())


def wrong(listing: Listing, name: str, row: int, value: int) -> Listing:
    column = listing.columns()[name].copy()
    column[row] = value
    changes: dict[str, Any] = {name: column}
    return replace(listing, **changes)


@pytest.mark.parametrize(
    ("name", "value", "kind", "message"),
    [
        ("parent", 99, CLUSTER, "before the node above it"),
        ("slot", 99, PARTITION, "a p-node in no c-node"),
        ("split", 2**62, CLUSTER, "outside of it"),
        ("half", 2, CLUSTER, "a half of no bucket"),
    ],
)
def test_what_no_tree_can_be_is_refused(name: str, value: int, kind: int, message: str) -> None:
    index, listing = listed()
    halves = np.flatnonzero((listing.half < 2) & (listing.kind == CLUSTER))
    row = int(halves[0]) if kind == CLUSTER else int(np.flatnonzero(listing.kind == kind)[0])
    row = int(listing.parent[row]) if name == "split" else row
    with pytest.raises(SnapshotError, match=message):
        made(index, wrong(listing, name, row, value))


def test_two_p_nodes_of_one_attribute_are_refused() -> None:
    index, listing = listed()
    first = int(np.flatnonzero(listing.kind == PARTITION)[0])
    doubled = Listing.of(
        {name: np.append(column, column[first]) for name, column in listing.columns().items()}
    )
    with pytest.raises(SnapshotError, match="two p-nodes of one attribute"):
        made(index, doubled)
