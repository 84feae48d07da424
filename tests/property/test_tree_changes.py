"""Random changes of the trees, their branches and files, against the reference index."""

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

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
from tests.unit.matching.betree.structure import check_structure
from tests.unit.matching.forest.structure import check_forest
from wherecast import Index
from wherecast.matching.betree.branch import Branch
from wherecast.matching.betree.index import BETreeIndex
from wherecast.matching.betree.parameters import TreeParameters
from wherecast.matching.forest.index import ForestIndex
from wherecast.matching.matches import Id

MANY = 60  # ids


class TreeChanges(RuleBasedStateMachine):
    """A tree, the branches that were cut off it, and the filters that they should hold."""

    kind = "betree"

    @initialize(rng=RANDOMS)
    def start(self, rng: Random) -> None:
        self.rng = rng
        self.schema = replace(make_schema(rng, domains=rng.random() < 0.5), open=rng.random() < 0.2)
        makes = [make_conjunction, make_template]
        self.templates = [rng.choice(makes)(rng, self.schema) for _ in range(12)]
        self.name: Any = rng.choice([int, "s{}".format])
        self.index = self.new()
        self.filters: dict[Id, str] = {}
        self.branches: list[tuple[Any, dict[Id, str]]] = []
        self.saved: list[tuple[Path, dict[Id, str], str]] = []
        self.folder = Path(tempfile.mkdtemp(prefix="wherecast-"))

    def new(self) -> Index:
        if self.kind == "forest":
            return Index(self.schema, "forest")
        leaf_max = self.rng.choice([1, 2, 4, 16])
        alpha = self.rng.choice([0.0, 0.5])
        parameters = TreeParameters(leaf_max, self.rng.randint(1, leaf_max), alpha=alpha, sample=2)
        return Index(self.schema, "betree", parameters)

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            shutil.rmtree(self.folder)

    def text(self) -> str:
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
        table = table_of(self.schema, rows)
        every = self.filters | {i: t for _, filters in self.branches for i, t in filters.items()}
        reference = Index(self.schema, kind="scan")
        reference.add_all(every)
        wanted = reference.match(table).to_pylist()
        found = self.index.match(table).to_pylist()
        for branch, _ in self.branches:  # matched apart
            other = Index(self.schema, "betree")
            tree_of(other).graft(branch)
            found = [[*a, *b] for a, b in zip(found, other.match(table).to_pylist(), strict=True)]
        for row, got, expected in zip(rows, found, wanted, strict=True):
            wrong = [every.get(id) for id in set(got) ^ set(expected)]
            assert not wrong, (wrong, row)
            assert sorted(got) == expected

    @rule()
    def save(self) -> None:
        path = self.folder / str(len(self.saved))
        self.saved.append((path, dict(self.filters), self.index.save(path)))

    @precondition(lambda self: self.saved and not self.branches)
    @rule()
    def load(self) -> None:
        path, filters, content = self.rng.choice(self.saved)
        self.index, self.filters = Index.load(path), dict(filters)
        assert self.index.kind == self.kind
        assert self.index.save(path.with_suffix(".again")) == content

    @rule()
    def compact(self) -> None:
        """What many removals would bring about."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("wherecast.matching.exact.index._DEAD_MIN", 0)
            self.index.stats()

    @invariant()
    def right_ids(self) -> None:
        if hasattr(self, "filters"):
            assert len(self.index) == len(self.filters)
            there = {id for id in map(self.name, range(MANY + 1)) if id in self.index}
            assert there == self.filters.keys()

    @invariant()
    def sound(self) -> None:
        if hasattr(self, "filters"):
            check_structure(tree_of(self.index))


class BranchChanges(TreeChanges):
    """The same with branches that are cut off and come back."""

    @precondition(lambda self: tree_of(self.index).branches())
    @rule(sent=st.booleans())
    def cut(self, sent: bool) -> None:
        tree = tree_of(self.index)
        figures = self.rng.choice(tree.branches())
        branch = tree.cut(figures.attribute)
        assert len(branch) == figures.subscriptions
        own = {id: self.filters.pop(id) for id in branch.ids}
        if sent:
            branch = Branch.deserialise(branch.serialise())
        self.branches.append((branch, own))

    @precondition(lambda self: self.branches)
    @rule()
    def graft(self) -> None:
        branch, own = self.branches.pop(self.rng.randrange(len(self.branches)))
        tree_of(self.index).graft(branch)
        self.filters |= own

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
        again = tree_of(other).cut(branch.attribute)
        assert len(other) == 0
        assert set(again.ids) == set(own)
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

    @invariant()
    def sound(self) -> None:
        if hasattr(self, "filters"):
            check_forest(forest_of(self.index))


def tree_of(index: Index) -> BETreeIndex:
    assert isinstance(index._engine, BETreeIndex)
    return index._engine


def forest_of(index: Index) -> ForestIndex:
    assert isinstance(index._engine, ForestIndex)
    return index._engine


TestBranchChanges = BranchChanges.TestCase
TestBranchChanges.settings = settings(max_examples=20, stateful_step_count=25, deadline=None)
TestForestChanges = ForestChanges.TestCase
TestForestChanges.settings = settings(max_examples=15, stateful_step_count=20, deadline=None)
