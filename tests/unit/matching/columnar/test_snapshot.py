"""The columnar index against the reference index, and what it costs."""

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from wherecast import Index, Schema
from wherecast.language import read_filters
from wherecast.matching.columnar import snapshot
from wherecast.matching.columnar.search import flat_scan
from wherecast.matching.columnar.search import tree_matching as tree_matching
from wherecast.matching.columnar.snapshot import Snapshot, SnapshotMatches
from wherecast.workloads import Workload, alerts, bluedove, mixed, sensors

WORKLOADS = {"bluedove": bluedove, "alerts": alerts, "sensors": sensors, "mixed": mixed}


@pytest.fixture
def trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trees are used for any amount of work."""
    monkeypatch.setattr(snapshot, "_PLAIN_MAX", 0)


def filters_of(workload: Workload, count: int) -> pa.ChunkedArray:
    return pa.Table.from_batches(workload.filters(count)).column("filter")


def publications_of(workload: Workload, count: int) -> pa.RecordBatch:
    return pa.Table.from_batches(workload.publications(count)).combine_chunks().to_batches()[0]


def rows_of(found: SnapshotMatches) -> list[list[int]]:
    ends = found.offsets.tolist()
    return [sorted(found.numbers[a:b].tolist()) for a, b in pairwise(ends)]


@pytest.mark.parametrize("name", WORKLOADS)
def test_trees_columns_and_reference_agree(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    workload = WORKLOADS[name](seed=3)
    texts, batch = filters_of(workload, 600), publications_of(workload, 120)
    reference = Index(workload.schema, kind="scan")
    reference.add_all(enumerate(texts.to_pylist()))
    expected = reference.match(batch).to_pylist()
    made = Snapshot.of(read_filters(texts, workload.schema))

    monkeypatch.setattr(snapshot, "_PLAIN_MAX", 1 << 60)
    assert rows_of(made.match(batch)) == expected
    monkeypatch.setattr(snapshot, "_PLAIN_MAX", 0)
    assert rows_of(made.match(batch)) == expected


@pytest.mark.usefixtures("trees")
def test_many_matches_make_room_as_they_come() -> None:
    schema = Schema.from_dict({"a": "int", "s": "string"})
    texts = ["a > 0"] * 20_000 + ["s LIKE '%x%'"] * 5_000 + ["a = 1 OR a = 2"] * 5_000
    batch = pa.record_batch({"a": pa.array([1] * 40, pa.int64()), "s": pa.array(["axb"] * 40)})

    found = Snapshot.of(read_filters(texts, schema)).match(batch)

    assert found.offsets.tolist() == [30_000 * row for row in range(41)]
    assert rows_of(found)[-1] == list(range(30_000))


@pytest.mark.usefixtures("trees")
def test_one_publication_may_need_more_room_than_there_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its matches of many groups add up, while each group alone would fit."""
    monkeypatch.setattr(tree_matching, "TREE_SEARCH", tree_matching.TreeSearch(room=1))
    monkeypatch.setattr(tree_matching, "_spare", tree_matching.SpareArrays())
    schema = Schema.from_dict({f"x{place}": "int" for place in range(40)})
    texts = [f"x{place} >= {value}" for place in range(40) for value in range(50)]
    texts += [f"x{place} = {place} OR x0 = 7" for place in range(40)]
    batch = pa.record_batch({f"x{place}": pa.array([60] * 3, pa.int64()) for place in range(40)})

    found = Snapshot.of(read_filters(texts, schema)).match(batch)

    assert np.diff(found.offsets).tolist() == [2_000] * 3


@pytest.mark.usefixtures("trees")
def test_more_bounds_than_cells_are_still_exact() -> None:
    """70,000 different bounds share 65,000 cells; the edges are decided on exact keys."""
    schema = Schema.from_dict({"a": "int"})
    count = 70_000
    texts = [f"a = {2 * value}" for value in range(count)]
    values = np.array([0, 1, 2, 2 * 34_567, 2 * 34_567 + 1, 2 * count - 2, 2 * count, -5], np.int64)

    found = Snapshot.of(read_filters(texts, schema)).match(pa.record_batch({"a": values}))

    assert rows_of(found) == [[0], [], [1], [34_567], [], [count - 1], [], []]


@pytest.mark.usefixtures("trees")
@pytest.mark.parametrize(
    ("position", "matched"),
    [
        ((45.8, 15.9), True),
        ((45.8, 375.9), True),  # a whole turn further, the same place
        ((45.8, 15.90644), True),  # nearly 500 m to the east
        ((45.8, 15.90646), False),  # a little more
        ((-45.8, 15.9), False),
        ((float("nan"), 15.9), False),
    ],
)
def test_a_circle_is_a_box_and_an_exact_check(position: tuple[float, float], matched: bool) -> None:
    schema = Schema.from_dict({"lat": "float", "lon": "float"})
    made = Snapshot.of(read_filters(["geo_distance(lat, lon, 45.8, 15.9) < 500"], schema))
    batch = pa.record_batch({"lat": [position[0]], "lon": [position[1]]})

    assert rows_of(made.match(batch)) == [[0] if matched else []]


@pytest.mark.usefixtures("trees")
def test_cost_of_bluedove() -> None:
    """Blocks read and entries checked are the same on every machine."""
    workload = bluedove(seed=1)
    made = Snapshot.of(read_filters(filters_of(workload, 20_000), workload.schema))
    found = made.match(publications_of(workload, 1_000))

    assert len(made.packed_trees().headers) == 1
    assert made.packed_trees().nbytes / 20_000 <= 25
    assert found.inner / 1_000 <= 4
    assert found.leaf / 1_000 <= 10
    assert found.checked / 1_000 <= 1


def test_filters_without_predicates() -> None:
    index = Index(Schema.from_dict({"a": "int"}), kind="columnar")
    index.add_all({"all": "TRUE", "none": "FALSE", "missing": "a IS NULL"})

    assert index.match([{}, {"a": 1}]).to_pylist() == [["all", "missing"], ["all"]]


def test_works_without_numba() -> None:
    program = """
import sys
sys.modules["numba"] = None
import wherecast as wc
from wherecast.matching.columnar import snapshot
snapshot._PLAIN_MAX = 0
index = wc.Index(wc.Schema.from_dict({"a": "int"}))
index.add("s1", "a > 1")
print(index.kind, index.match([{"a": 1}, {"a": 2}]).to_pylist())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "columnar [[], ['s1']]"


def test_a_plan_is_told() -> None:
    index = Index(Schema.from_dict({"a": "int", "b": "float", "s": "string"}))
    index.add_all({n: f"a > {n} AND b < {n}.5" for n in range(100)})
    index.add(100, "s LIKE 'x%'")

    lines = index.explain_plan().splitlines()

    assert lines[0] == "run 0: 101 filters in 2 groups"
    assert "on b, a: 100 entries, 2 levels, 3 blocks" in lines[1]
    assert lines[1].endswith("decided by cells")
    assert "on s: 1 entries" in lines[2]
    assert lines[2].endswith("; then patterns or distances")


@pytest.mark.usefixtures("trees")
def test_many_wide_predicates_share_one_group() -> None:
    """Sixteen ranges of half the domain each: a plan by few of them would read far more."""
    schema = Schema.from_dict({f"x{place}": "float" for place in range(16)})
    draw = np.random.default_rng(5)
    lows = draw.random((4_000, 16)) * 0.5
    texts = [
        " AND ".join(f"x{place} BETWEEN {low!r} AND {low + 0.5!r}" for place, low in enumerate(row))
        for row in lows.tolist()
    ]
    batch = pa.record_batch({f"x{place}": draw.random(200) for place in range(16)})
    made = Snapshot.of(read_filters(texts, schema))

    found = made.match(batch)

    leaf_blocks = -(-4_000 // 64)
    assert len(made.packed_trees().headers) == 1
    assert (found.inner + found.leaf) / 200 <= leaf_blocks + 2


@pytest.mark.release
@pytest.mark.parametrize(
    "target",
    [{"NUMBA_CPU_NAME": "generic"}, {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx2"}],
    ids=["generic", "avx2"],
)
def test_kernels_are_exact_on_other_processors(target: dict[str, str], tmp_path: Path) -> None:
    program = """
import pyarrow as pa
from wherecast import Index
from wherecast.language import read_filters
from wherecast.matching.columnar import snapshot
from wherecast.workloads import mixed
snapshot._PLAIN_MAX = 0
workload = mixed(seed=2)
texts = pa.Table.from_batches(workload.filters(400)).column("filter")
batch = pa.Table.from_batches(workload.publications(50)).combine_chunks().to_batches()[0]
trees, reference = Index(workload.schema), Index(workload.schema, kind="scan")
for index in (trees, reference):
    index.add_all(enumerate(texts.to_pylist()))
assert trees.match(batch).to_pylist() == reference.match(batch).to_pylist()
print("equal", trees.match(batch).counts.sum() > 0)
"""
    environment = {**os.environ, **target, "WHERECAST_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True, text=True, check=True, env=environment,
    )  # fmt: skip
    assert done.stdout.strip() == "equal True"


def test_a_plan_tells_its_groups_and_costs() -> None:
    index = Index(Schema.from_dict({"a": "int", "b": "float"}))
    index.add_all({id: f"a = {id} AND b > {id}.5" for id in range(100)})
    index.match([{"a": 5, "b": 9.0}])

    lines = index.explain_plan().splitlines()

    assert lines[0] == "run 0: 100 filters in 1 group"
    assert lines[1].startswith("  on a, b: 100 entries, 2 levels, 3 blocks")
    assert lines[-1].startswith("per publication, of 1 so far: ")
    assert index.stats()["groups"] == 1
    assert set(index.stats()["per_publication"]) == {"inner blocks", "leaf blocks", "candidates"}


def test_a_plan_without_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "compiles", lambda: False)
    index = Index(Schema.from_dict({"a": "int"}))
    index.add(1, "a = 1")
    assert index.explain_plan() == "filters: 1, each tried on whole columns; trees need numba"


def test_trees_in_a_file_are_left_alone_without_numba(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = Index(Schema.from_dict({"a": "int"}))
    index.add_all({id: f"a > {id}" for id in range(100)})
    index.save(tmp_path / "index")
    monkeypatch.setattr(snapshot, "compiles", lambda: False)
    monkeypatch.setattr(snapshot, "_PLAIN_MAX", -1)
    monkeypatch.setattr(flat_scan, "is_loaded", lambda: False)
    monkeypatch.setitem(sys.modules, "wherecast.matching.columnar.kernels", None)

    loaded = Index.load(tmp_path / "index")

    assert loaded.match([{"a": 3}]).to_pylist() == [[0, 1, 2]]
    assert loaded.stats()["tree_bytes"] > 0
