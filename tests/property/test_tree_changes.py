"""Random changes of the trees, their branches and files, against the reference index."""

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.property.strategies import (
    RANDOMS,
    fill,
    make_conjunction,
    make_row,
    make_schema,
    make_template,
)
from tests.property.test_indexes import inside, table_of
from tests.unit.matching.trees.betree.structure import check_structure, expected_loss
from tests.unit.matching.trees.forest.structure import check_forest, check_siblings
from wherecast import Index
from wherecast.matching.matches import Id
from wherecast.matching.trees.betree.branch import Branch
from wherecast.matching.trees.betree.index import BETreeIndex
from wherecast.matching.trees.betree.layout import CNODE, PNODE, TreeState
from wherecast.matching.trees.betree.parameters import TreeParameters
from wherecast.matching.trees.forest.index import ForestIndex

MANY = 60  # ids
FREE = "free"  # an attribute that no schema declares


class TreeChanges(RuleBasedStateMachine):
    """A tree, the branches that were cut off it, and the filters that they should hold."""

    kind = "betree"

    @initialize(rng=RANDOMS)
    def start(self, rng: Random) -> None:
        self.rng = rng
        self.schema = replace(make_schema(rng, domains=rng.random() < 0.5), open=rng.random() < 0.4)
        makes = [make_conjunction, make_template]
        self.templates = [rng.choice(makes)(rng, self.schema) for _ in range(12)]
        self.name: Any = rng.choice([int, "s{}".format])
        self.index = self.new()
        self.filters: dict[Id, str] = {}
        self.branches: list[tuple[Any, dict[Id, str]]] = []
        self.saved: list[tuple[Path, dict[Id, str], str]] = []
        self.folder = Path(tempfile.mkdtemp(prefix="wherecast-"))
        self.unlooked = 0  # steps after which nothing makes the index settle
        self.add_all(rng.choice([0, 20, 60]))

    def new(self) -> Index:
        if self.kind == "forest":
            return Index(self.schema, "forest")
        leaf_max, sample = self.rng.choice([1, 2, 4, 16]), self.rng.choice([1, 3])
        alpha = self.rng.choice([0.0, 0.5, 1.0])
        leaf_min = self.rng.randint(1, leaf_max)
        parameters = TreeParameters(leaf_max, leaf_min, alpha=alpha, sample=sample)
        return Index(self.schema, "betree", parameters)

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            shutil.rmtree(self.folder)

    def text(self) -> str:
        if self.schema.open and self.rng.random() < 0.4:  # one name, two types
            number = self.rng.randrange(8)
            return self.rng.choice([f"{FREE} > {number}", f"{FREE} = '{number}'"])
        return fill(self.rng, self.rng.choice(self.templates))

    def some(self, most: int) -> list[Id]:
        """Ids that are there."""
        return self.rng.sample(sorted(self.filters), min(len(self.filters), most))

    def free(self) -> Id:
        """An id that no branch has."""
        taken = {id for _, filters in self.branches for id in filters}
        return self.rng.choice([i for i in map(self.name, range(MANY)) if i not in taken])

    @rule()
    def add(self) -> None:
        id = self.free()
        self.filters[id] = self.text()
        self.index.add(id, self.filters[id])

    @rule(steps=st.integers(1, 8))
    def look_away(self, steps: int) -> None:
        """What is added singly waits meanwhile, and may be replaced or removed before it is in."""
        self.unlooked = steps

    @precondition(lambda self: self.filters)
    @rule(count=st.integers(1, 4))
    def replace_singly(self, count: int) -> None:
        for id in self.some(count):
            self.filters[id] = self.text()
            self.index.add(id, self.filters[id])

    @rule(count=st.integers(0, 30))
    def add_all(self, count: int) -> None:
        given = {self.free(): self.text() for _ in range(count)}
        self.index.add_all(given)
        self.filters |= given

    @precondition(lambda self: self.filters)
    @rule(count=st.integers(1, 10))
    def replace(self, count: int) -> None:
        given = {id: self.text() for id in self.some(count)}
        self.index.add_all(given)
        self.filters |= given

    @precondition(lambda self: self.filters)
    @rule(count=st.sampled_from([1, 3, 10, MANY]))
    def remove(self, count: int) -> None:
        gone = self.some(count)
        with pytest.raises(KeyError):
            self.index.remove_all([*gone, self.name(MANY)])
        self.index.remove_all(gone)
        for id in gone:
            del self.filters[id]

    @rule(count=st.integers(0, 12))
    def match(self, count: int) -> None:
        rows = [inside(make_row(self.rng, self.schema), self.schema) for _ in range(count)]
        table = self.table(rows)
        every = self.filters | {i: t for _, filters in self.branches for i, t in filters.items()}
        reference = Index(self.schema, kind="scan")
        reference.add_all(every)
        wanted = reference.match(table).to_pylist()
        found = self.found(table, wanted)
        for branch, _ in self.branches:  # matched apart
            other = Index(self.schema, "betree")
            tree_of(other).graft(branch)
            found = [[*a, *b] for a, b in zip(found, other.match(table).to_pylist(), strict=True)]
        for row, got, expected in zip(rows, found, wanted, strict=True):
            wrong = [every.get(id) for id in set(got) ^ set(expected)]
            assert not wrong, (wrong, row)
            assert sorted(got) == expected

    def table(self, rows: list[dict[str, Any]]) -> pa.Table:
        """Publications, in an open schema with an attribute more, of one of two types."""
        table = table_of(self.schema, rows)
        if not self.schema.open:
            return table
        numbers = [self.rng.choice([None, *range(9)]) for _ in rows]
        kind = self.rng.choice([pa.float64(), pa.string()])
        return table.append_column(FREE, pa.array(numbers, pa.int64()).cast(kind))

    def found(self, table: pa.Table, wanted: list[list[Id]]) -> list[list[Id]]:
        """The ids that the index finds."""
        return self.index.match(table).to_pylist()

    @rule()
    def save(self) -> None:
        path = self.folder / str(len(self.saved))
        self.saved.append((path, dict(self.filters), self.index.save(path)))

    @precondition(lambda self: self.saved)
    @rule()
    def load(self) -> None:
        path, filters, content = self.rng.choice(self.saved)
        self.index, self.filters = Index.load(path), dict(filters)
        assert self.index.kind == self.kind
        assert self.index.save(path.with_suffix(".again")) == content
        away = {id for _, own in self.branches for id in own} & self.filters.keys()
        self.index.remove_all(sorted(away))  # those in branches that are cut off now
        for id in away:
            del self.filters[id]

    @rule()
    def compact(self) -> None:
        """What many removals would bring about."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("wherecast.matching.trees.stored_index._DEAD_MIN", 0)
            self.index.stats()

    @invariant()
    def right_ids(self) -> None:
        if hasattr(self, "filters"):
            assert len(self.index) == len(self.filters)
            there = {id for id in map(self.name, range(MANY + 1)) if id in self.index}
            assert there == self.filters.keys()

    @invariant()
    def sound(self) -> None:
        self.unlooked = getattr(self, "unlooked", 1) - 1
        if self.unlooked < 0:
            self.check()

    def check(self) -> None:
        check_structure(tree_of(self.index))


class BranchChanges(TreeChanges):
    """The same with branches that are cut off and come back."""

    def found(self, table: pa.Table, wanted: list[list[Id]]) -> list[list[Id]]:
        """The same, with the candidates in vain as a recomputation has them."""
        tree = tree_of(self.index)
        lost = expected_loss(tree, self.index._valid(table).batch, wanted)
        before = tree._tree.arrays.c[:, CNODE.FALSE].copy()
        found = super().found(table, wanted)
        after = tree._tree.arrays.c[:, CNODE.FALSE] - before
        assert {node: int(after[node]) for node in np.flatnonzero(after)} == dict(+lost)
        return found

    @precondition(lambda self: self.filters)
    @rule(sent=st.booleans())
    def cut(self, sent: bool) -> None:
        tree = tree_of(self.index)
        there = tree.branches()
        if not there:
            return
        figures = self.rng.choice(there)
        branch = tree.cut(figures.attribute, figures.type)
        assert len(branch) == figures.subscriptions
        assert figures not in tree.branches()
        own = {id: self.filters.pop(id) for id in branch.ids}
        if sent:
            branch = Branch.deserialise(branch.serialise())
        self.branches.append((branch, own))

    @precondition(lambda self: self.branches)
    @rule(more=st.booleans())
    def graft(self, more: bool) -> None:
        if more:  # the tree may have such a branch again, and has sampled others
            self.add_all(20)
            self.match(9)
        branch, own = self.branches.pop(self.rng.randrange(len(self.branches)))
        tree, name = tree_of(self.index), (branch.attribute, branch.type)
        before = counted(tree).get(name, (0, 0.0))
        tree.graft(branch)
        self.filters |= own
        checked, loss = counted(tree)[name]
        assert checked == before[0] + branch.listing.checked.sum()
        brought = branch.listing.false.sum() / max(1, branch.sampled)
        sampled = max(1, int(tree._tree.arrays.state[TreeState.SAMPLED]))
        assert abs(loss - before[1] - brought) <= 1 / sampled

    @precondition(lambda self: self.branches)
    @rule()
    def graft_elsewhere(self) -> None:
        """A branch on a tree of its own, cut off there, is the same branch."""
        place = self.rng.randrange(len(self.branches))
        branch, own = self.branches[place]
        other = self.new()
        tree_of(other).graft(branch)
        check_structure(tree_of(other))
        assert len(other) == len(own)
        again = tree_of(other).cut(branch.attribute, branch.type)
        assert len(other) == 0
        assert set(again.ids) == set(own)
        assert again.listing.false.sum() == branch.listing.false.sum()
        assert again.listing.checked.sum() == branch.listing.checked.sum()
        assert again.sampled == branch.sampled
        self.branches[place] = (again, own)


class ForestChanges(TreeChanges):
    """The covering forest, with what a removal uncovers."""

    kind = "forest"

    @precondition(lambda self: self.filters)
    @rule()
    def withdraw(self) -> None:
        forest = forest_of(self.index)
        [id] = self.some(1)
        before = set(forest.covering_set())
        uncovered = forest.withdraw(id)
        del self.filters[id]
        assert set(forest.covering_set()) == (before - {id}) | set(uncovered)
        assert not before & set(uncovered)

    def check(self) -> None:
        check_forest(forest_of(self.index))
        check_siblings(forest_of(self.index))


def counted(tree: BETreeIndex) -> dict[tuple[str, str], tuple[int, float]]:
    """What was counted of each branch: candidates, and those in vain per sampled publication."""
    figures = {(b.attribute, b.type): b.checked for b in tree.branches()}
    arrays = tree._tree.arrays
    lost = {tree._name(p): int(arrays.p[p, PNODE.FALSE]) for p in tree._tree.branches()}
    sampled = max(1, int(arrays.state[TreeState.SAMPLED]))
    return {name: (checked, lost[name] / sampled) for name, checked in figures.items()}


def tree_of(index: Index) -> BETreeIndex:
    assert isinstance(index._engine, BETreeIndex)
    return index._engine


def forest_of(index: Index) -> ForestIndex:
    assert isinstance(index._engine, ForestIndex)
    return index._engine


TestBranchChanges = BranchChanges.TestCase
TestBranchChanges.settings = settings(max_examples=15, stateful_step_count=40, deadline=None)
TestForestChanges = ForestChanges.TestCase
TestForestChanges.settings = settings(max_examples=15, stateful_step_count=30, deadline=None)


@pytest.mark.release
class TestManyBranchChanges(TestBranchChanges):
    settings = settings(max_examples=60, stateful_step_count=40, deadline=None)


@pytest.mark.release
class TestManyForestChanges(TestForestChanges):
    settings = settings(max_examples=30, stateful_step_count=30, deadline=None)
