"""Programs: the compiled kernel against its twin of columns and the reference, and their costs."""

from random import Random

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from wherecast import Index, Schema
from wherecast.language import read_filters
from wherecast.matching.columnar import snapshot
from wherecast.matching.columnar.search.column_scan import candidates
from wherecast.matching.columnar.search.compiled_programs import CompiledRun
from wherecast.matching.columnar.search.pattern_memory import PatternMemory
from wherecast.matching.columnar.search.residual_checks import decide
from wherecast.matching.columnar.slot_batch import SlotBatch
from wherecast.matching.columnar.slots import SlotColumn, columns_of
from wherecast.matching.columnar.snapshot import Snapshot, programs_of
from wherecast.workloads.rule_filters import rules

pytest.importorskip("numba")
Ints = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int32]

SCHEMA = Schema.from_dict({"a": "float", "b": "float", "n": "int", "s": "string"})
LEAVES = (
    "a > 1", "b <= 0.5", "n <> 3", "n IN (1, 5, 7, 9, 11)", "s IS NULL", "s LIKE '%x_y%'",
    "s NOT LIKE 'x%z'", "s = 'xay'", "a + b > 1", "a - b * 2 <= 0", "a / b > 1", "-(a) < n * 0.5",
    "n / 2 IN (0.5, 2.5, 3.5)", "a * a - n IS NULL", "NOT a / n BETWEEN 0 AND 1", "n % 4 = 1",
    "length(s) > 2", "a < b", "upper(s) LIKE 'X%'",
)  # fmt: skip
FLOATS = (None, 0.0, -0.0, 1.0, -2.5, 0.5, 1e308, -1e308, float("inf"), float("nan"))
TEXTS = (None, "", "xay", "xaz", "axby", "xxyyx", "x", "ÿxéy")


def random_filter(random: Random, depth: int = 4) -> str:
    """AND, OR and NOT over the leaves."""
    if not depth or random.random() < 0.1:
        return random.choice(LEAVES)
    joined = random.choice((" AND ", " OR ")).join(
        random_filter(random, depth - 1) for _ in range(random.randint(2, 3))
    )
    return f"{random.choice(('', 'NOT '))}({joined})"


def random_batch(random: Random, rows: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(
        {
            "a": pa.array([random.choice(FLOATS) for _ in range(rows)], pa.float64()),
            "b": pa.array([random.choice(FLOATS) for _ in range(rows)], pa.float64()),
            "n": pa.array([random.choice((None, 0, 1, 3, 5, -7)) for _ in range(rows)], pa.int64()),
            "s": pa.array([random.choice(TEXTS) for _ in range(rows)], pa.string()),
        }
    )


def candidates_of(made: Snapshot, batch: pa.RecordBatch) -> tuple[Ints, Ints]:
    """The publications and conjunctions that covers find, where programs decide."""
    assert made.programs is not None
    columns = SlotBatch(batch, made.table).columns
    publications, conjunctions = candidates(made.plain, columns, batch.num_rows)
    mine = np.flatnonzero(made.programs.starts[made.filters[conjunctions]] >= 0)
    return publications[mine], conjunctions[mine]


def compiled_verdicts(made: Snapshot, batch: pa.RecordBatch) -> list[bool]:
    publications, conjunctions = candidates_of(made, batch)
    assert made.programs is not None
    tests = made.candidate_tests(made.programs)
    run = CompiledRun(made.programs, tests, SlotBatch(batch, made.table))
    given = publications.astype(np.int32), conjunctions.astype(np.int32)
    return run.holds(*given, tests.starts).tolist()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("has_trees", [False, True])
def test_kernel_twin_and_reference_decide_alike(seed: int, has_trees: bool) -> None:
    random = Random(seed)
    texts = [random_filter(random) for _ in range(160)]
    made, batch = Snapshot.of(read_filters(pa.array(texts), SCHEMA)), random_batch(random, 60)
    assert made.programs is not None
    if has_trees:
        made.packed_trees()
    publications, conjunctions = candidates_of(made, batch)
    filters = made.filters[conjunctions]
    reference = Index(SCHEMA, kind="scan")
    reference.add_all(enumerate(texts))
    found = [set(row) for row in reference.match(batch).to_pylist()]
    pairs = list(zip(publications.tolist(), filters.tolist(), strict=True))
    wanted = [number in found[row] for row, number in pairs]

    later = decide(made.table.covers, made.later, candidate_columns(made, batch), publications,
                   conjunctions)  # fmt: skip
    by_columns = made.programs.decide(SlotBatch(batch, made.table), publications, filters)

    assert len(filters) > 1_000
    assert {True, False} == set(wanted)
    assert (later & by_columns).tolist() == wanted
    assert compiled_verdicts(made, batch) == wanted
    assert compiled_verdicts(made, batch) == wanted  # with verdicts in memory


def candidate_columns(made: Snapshot, batch: pa.RecordBatch) -> list[SlotColumn]:
    return SlotBatch(batch, made.table).columns


def test_tests_lie_in_the_order_of_the_trees() -> None:
    workload = rules(seed=2)
    texts = pa.Table.from_batches(list(workload.filters(300))).column("filter")
    made = Snapshot.of(read_filters(texts, workload.schema))
    assert made.programs is not None
    sources = made.packed_trees().sources
    tests = made.candidate_tests(made.programs)
    _, firsts = np.unique(made.filters[sources], return_index=True)
    in_order = made.filters[sources[np.sort(firsts)]]
    starts = tests.starts[sources[np.sort(firsts)]]
    own = (starts >= 0) & (made.programs.starts[in_order] >= 0)

    assert len(tests.records) <= int(made.programs.sizes.sum()) + len(made.later.rows)
    assert np.all(np.diff(starts[own]) > 0)
    assert tests.rows[starts[own]].tolist() == made.programs.starts[in_order[own]].tolist()


def test_programs_leave_out_what_covers_decide() -> None:
    text = "s = 'x' AND n > 2 AND (a > 1 OR b > 1) AND (a + b > 1 OR (n < 9 AND (a < 5 OR b < 5)))"
    table = read_filters(pa.array([text]), SCHEMA)
    programs = programs_of(table)
    assert programs is not None
    tested = {table.attributes[slot].name for slot in table.attribute[programs.starts[0] :]}
    assert not tested & {"s"}
    assert programs.sizes.tolist() == [6]


@pytest.mark.parametrize("deep", [False, True])
def test_rules_match_as_the_reference_does(deep: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "_PLAIN_MAX", 0)
    workload = rules(seed=5, deep=deep)
    texts = pa.Table.from_batches(list(workload.filters(150))).column("filter")
    batch = pa.Table.from_batches(list(workload.publications(60))).combine_chunks().to_batches()[0]
    reference = Index(workload.schema, kind="scan")
    reference.add_all(enumerate(texts.to_pylist()))
    index = Index(workload.schema)
    index.add_all(enumerate(texts.to_pylist()))
    wanted = reference.match(batch).to_pylist()

    assert sum(map(len, wanted)) > 30
    assert index.match(batch).to_pylist() == wanted
    assert index.match(batch).to_pylist() == wanted


def test_costs_of_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "_PLAIN_MAX", 0)
    workload = rules(seed=1)
    texts = pa.Table.from_batches(list(workload.filters(2_000))).column("filter")
    batch = pa.Table.from_batches(list(workload.publications(100))).combine_chunks().to_batches()[0]
    made = Snapshot.of(read_filters(texts, workload.schema))
    runs: list[tuple[CompiledRun, int]] = []
    holds = CompiledRun.holds

    def counted(
        run: CompiledRun, publications: Numbers, places: Numbers, starts: Numbers
    ) -> object:
        runs.append((run, len(publications)))
        return holds(run, publications, places, starts)

    monkeypatch.setattr(CompiledRun, "holds", counted)
    made.match(batch)
    assert runs[-1][0].stopped > 0
    found = made.match(batch)

    run, count = runs[-1]
    assert run.stopped == 0, "no candidate leaves the kernel once the strings are known"
    assert count <= 0.04 * 2_000 * 100
    assert run.tests <= 3.5 * count
    assert found.checked <= 0.05 * 2_000 * 100


def test_memory_begins_anew_where_strings_never_come_again() -> None:
    table = read_filters(pa.array(["(s LIKE '%x_y%' OR a > b) AND (n > 1 OR a + b > 1)"]), SCHEMA)
    slots = [slot for slot, one in enumerate(table.attributes) if one.name == "s"]
    memory, generations = PatternMemory(1, slots), []
    for start in range(0, 4_000, 400):
        strings = [f"t{number}" for number in range(start, start + 400)]
        batch = pa.RecordBatch.from_pydict({"s": strings})
        columns = columns_of(batch, table.attributes[: table.eager], table.strings)
        generation, codes = memory.codes(columns, len(strings))
        generations.append(generation)
        assert generation.verdicts.shape == (1, 1_024)
        assert codes.max() < 1_024
    assert len({id(one) for one in generations}) > 1
