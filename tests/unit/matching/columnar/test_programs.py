"""Programs: the compiled kernel against its twin of columns and the reference, and their costs."""

from random import Random

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from wherecast import Index, Schema
from wherecast.language import read_filters
from wherecast.matching.columnar import snapshot
from wherecast.matching.columnar.search.pattern_memory import PatternMemory
from wherecast.matching.columnar.search.programs import ProgramRun, Programs
from wherecast.matching.columnar.slot_batch import SlotBatch
from wherecast.matching.columnar.slots import columns_of
from wherecast.matching.columnar.snapshot import Snapshot, programs_of
from wherecast.workloads.rule_filters import rules

pytest.importorskip("numba")

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


def made_programs(texts: list[str]) -> Programs:
    programs = programs_of(read_filters(pa.array(texts), SCHEMA))
    assert programs is not None
    return programs


def all_pairs(programs: Programs, rows: int) -> tuple[npt.NDArray[np.int64], ...]:
    filters = np.flatnonzero(programs.starts >= 0)
    return np.repeat(np.arange(rows), len(filters)), np.tile(filters, rows)


def run_of(programs: Programs, batch: pa.RecordBatch, is_compiled: bool) -> ProgramRun:
    publications, filters = all_pairs(programs, batch.num_rows)
    slots = SlotBatch(batch, programs.table)
    run = ProgramRun(programs, slots, publications, programs.starts[filters])
    run._advance = run._advance_compiled if is_compiled else run._advance_columns
    return run


@pytest.mark.parametrize("seed", range(4))
def test_kernel_twin_and_reference_decide_alike(seed: int) -> None:
    import wherecast.matching.columnar.kernels  # noqa: F401

    random = Random(seed)
    texts = [random_filter(random) for _ in range(80)]
    programs, batch = made_programs(texts), random_batch(random, 60)
    publications, filters = all_pairs(programs, batch.num_rows)
    reference = Index(SCHEMA, kind="scan")
    reference.add_all(enumerate(texts))
    found = [set(row) for row in reference.match(batch).to_pylist()]
    wanted = [f in found[p] for p, f in zip(publications.tolist(), filters.tolist(), strict=True)]

    by_columns = run_of(programs, batch, is_compiled=False).verdicts()
    by_kernel = run_of(programs, batch, is_compiled=True).verdicts()
    again = run_of(programs, batch, is_compiled=True).verdicts()  # with verdicts in memory

    assert len(filters) > 1_000
    assert by_columns.tolist() == wanted
    assert by_kernel.tolist() == wanted
    assert again.tolist() == wanted


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
    runs: list[ProgramRun] = []
    rounds: list[int] = []
    start, decided = ProgramRun.__init__, ProgramRun._decided

    def started(run: ProgramRun, *given: object) -> None:
        start(run, *given)  # type: ignore[arg-type]
        runs.append(run)

    def counted(run: ProgramRun, publications: npt.NDArray[np.int64], rows: object) -> object:
        rounds.append(len(publications))
        return decided(run, publications, rows)  # type: ignore[arg-type]

    monkeypatch.setattr(ProgramRun, "__init__", started)
    monkeypatch.setattr(ProgramRun, "_decided", counted)
    made.match(batch)
    assert sum(rounds) > 0
    rounds.clear()
    found = made.match(batch)

    candidates = len(runs[-1]._starts)
    assert sum(rounds) == 0, "no candidate leaves the kernel once the strings are known"
    assert candidates <= 0.04 * 2_000 * 100
    assert runs[-1].tests <= 5 * candidates
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
