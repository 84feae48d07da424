"""The flat tree and its obvious twin: the same nodes, filters, scores and candidates."""

from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.seeds import random_of
from tests.unit.matching.trees.betree.structure import box_of, check_structure
from tests.unit.matching.trees.betree.twin import TwinTree
from tests.unit.matching.trees.betree.twin_nodes import ClusterNode, Domain
from wherecast import Schema
from wherecast.language import read_filters
from wherecast.matching.ids import Ids
from wherecast.matching.trees.betree.index import BETreeIndex
from wherecast.matching.trees.betree.layout import PNODE
from wherecast.matching.trees.betree.parameters import TreeParameters
from wherecast.matching.trees.betree.tree_outline import BucketView, outline
from wherecast.matching.trees.key_batch import BatchKeys
from wherecast.matching.trees.key_slots import REAL
from wherecast.matching.trees.row_layout import ENTRY, FLAG

SCHEMA = Schema.from_dict(
    {
        "a": {"type": "float", "min": 0, "max": 100},
        "b": "float",
        "c": "int",
        "d": {"type": "float", "min": 0, "max": 10, "step": 0.5},
        "e": {"type": "int", "min": 0, "max": 40, "step": 4},
        "f": {"type": "int", "step": 5},
        "g": {"type": "float", "step": 0.5},
        "h": {"type": "float", "min": 0, "step": 0.5},
        "s": "string",
        "t": {"type": "string", "values": ["low", "mid", "high", "top"]},
        "u": "bool",
    }
)


def text(rng: Random) -> str:
    """A conjunction, sometimes a disjunction, over some attributes."""
    makes = {
        "a": lambda: f"a BETWEEN {rng.uniform(0, 90):.3f} AND {rng.uniform(5, 100):.3f}",
        "b": lambda: f"b {rng.choice(['<', '>', '<=', '>=', '=', '<>'])} {rng.gauss(0, 50):.2f}",
        "c": lambda: f"c {rng.choice(['<', '>', '='])} {rng.randrange(-999, 999)}",
        "d": lambda: f"d {rng.choice(['<', '>', '='])} {rng.randrange(20) / 2}",
        "e": lambda: f"e {rng.choice(['<', '>', '='])} {rng.randrange(40)}",
        "f": lambda: f"f {rng.choice(['<', '>', '='])} {rng.randrange(-99, 99)}",
        "g": lambda: f"g {rng.choice(['<', '>', '='])} {rng.randrange(-99, 99) / 4}",
        "h": lambda: f"h {rng.choice(['<', '>', '='])} {rng.randrange(99) / 4}",
        "s": lambda: rng.choice([f"s = 'x{rng.randrange(9)}'", "s IN ('x1', 'x5')", "s LIKE 'x%'"]),
        "t": lambda: rng.choice(["t = 'low'", "t LIKE '%i%'", "t <> 'mid'"]),
        "u": lambda: rng.choice(["u", "NOT u", "u IS NULL"]),
    }  # fmt: skip
    names = rng.sample(sorted(makes), rng.randint(1, 4))
    made = " AND ".join(makes[name]() for name in names)
    return made if rng.random() < 0.9 else f"{made} OR {makes[rng.choice(names)]()}"


def twin_of(index: BETreeIndex) -> TwinTree:
    domains = index._store.slots.domains()
    return TwinTree(
        index.parameters,
        {
            slot: Domain(
                int(domains.least[slot]),
                int(domains.most[slot]),
                float(domains.first[slot]),
                float(domains.last[slot]),
                domains.kinds[slot] == REAL,
                float(domains.steps[slot]),
            )
            for slot in range(len(domains.least))
        },
    )


def of_twin(node: ClusterNode) -> Any:
    bucket = node.bucket
    halves = () if bucket is None or bucket.halves is None else bucket.halves
    return (
        None if bucket is None else (bucket.low, bucket.high),
        tuple(sorted(node.leaf.filters)),
        node.leaf.room,
        [of_twin(half.node) for half in halves],
        {slot: of_twin(part.root.node) for slot, part in node.parts.items()},
    )


def of_arrays(view: BucketView, root: bool = True) -> Any:
    return (
        None if root else (view.low, view.high),
        view.entries,
        view.room,
        [of_arrays(half, False) for half in view.halves],
        {part.slot: of_arrays(part.root, False) for part in view.parts},
    )


class Pair:
    """An index and the twin of its tree."""

    def __init__(self, parameters: TreeParameters, rng: Random, count: int) -> None:
        self.rng = rng
        self.index = BETreeIndex(SCHEMA, parameters)
        texts = [text(rng) for _ in range(count)]
        self.index._store.add(read_filters(texts, SCHEMA))  # slots are known before the twin is
        self.index._store.compact(np.zeros(0, np.int64))
        self.twin = twin_of(self.index)
        self.texts = texts

    def add(self, number: int) -> None:
        read = self.index.read([self.texts[number]])
        before = self.index._store.count
        self.index.add_all(Ids.of([number]), read, None)
        if not self.index._store.rows.e[before, ENTRY.FLAGS] & FLAG.NEVER:
            self.twin.insert(before, box_of(self.index._store, before))

    def remove(self, number: int) -> None:
        entry = self.index._numbers[number]
        self.index.remove_all([number])
        if not self.index._store.rows.e[entry, ENTRY.FLAGS] & FLAG.NEVER:
            self.twin.remove(entry)

    def compare(self) -> None:
        arrays = self.index._tree.arrays
        assert of_arrays(outline(arrays)) == of_twin(self.twin.root)
        for p in self.index._tree.branches():
            part = self.twin.root.parts[int(arrays.p[p, PNODE.SLOT])]
            assert self.twin.gains(part) == (arrays.p[p, PNODE.EQUAL], arrays.p[p, PNODE.INSIDE])


@pytest.mark.parametrize("job", range(6))
@pytest.mark.parametrize(
    "parameters",
    [
        TreeParameters(leaf_max=3, leaf_min=1, depth_max=5),
        TreeParameters(leaf_max=4, leaf_min=2, depth_max=16),
        TreeParameters(leaf_max=16, leaf_min=4, beta=0.1),
    ],
    ids=lambda p: f"{p.leaf_max}-{p.leaf_min}",
)
def test_it_grows_and_shrinks_as_its_twin(parameters: TreeParameters, job: int) -> None:
    rng = random_of(job)
    pair = Pair(parameters, rng, 200)
    live: list[int] = []
    for step in range(200):
        pair.add(step)
        live.append(step)
        while live and rng.random() < 0.35:
            pair.remove(live.pop(rng.randrange(len(live))))
        if step % 10 == 0:
            pair.compare()
            check_structure(pair.index)
    while live:
        pair.remove(live.pop(rng.randrange(len(live))))
        if len(live) % 10 == 0:
            pair.compare()
            check_structure(pair.index)
    assert outline(pair.index._tree.arrays).parts == ()


def test_it_tries_the_candidates_of_its_twin() -> None:
    rng = Random(7)
    pair = Pair(TreeParameters(leaf_max=4, leaf_min=2), rng, 300)
    for number in range(300):
        pair.add(number)
    rows = [
        {"a": rng.uniform(0, 100), "b": rng.gauss(0, 50), "c": rng.randrange(-99, 99), "d": 2.5,
         "e": 8, "s": f"x{rng.randrange(12)}", "t": "mid", "u": rng.random() < 0.5}
        for _ in range(50)
    ]  # fmt: skip
    for row in rows:
        for name in rng.sample(sorted(row), rng.randrange(4)):
            row[name] = None
    types = {"a": pa.float64(), "b": pa.float64(), "c": pa.int64(), "d": pa.float64(),
             "e": pa.int64(), "s": pa.string(), "t": pa.string(), "u": pa.bool_()}  # fmt: skip
    batch = pa.RecordBatch.from_pylist(rows, pa.schema(list(types.items())))
    store = pair.index._store
    keys = BatchKeys(batch, store.slots, store.leaves).chunk(0, len(rows))
    for row in range(len(rows)):
        there = {s: int(keys.keys[row, s]) for s in range(len(store.slots)) if keys.there[row, s]}
        one = BatchKeys(batch.slice(row, 1), store.slots, store.leaves)
        assert pair.index._tree.match(one).checked == len(pair.twin.candidates(there))
