"""Deep random filters: none is refused for its shape, and matches are those of DuckDB.

The index of kind `columnar` matches as without numba, and by trees and compiled programs.
"""

import gc
import tracemalloc
from random import Random
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from tests.property.deep_filters import DEPTH_MAX, PREDICATES_MAX, DeepFilter, DeepFilters
from tests.property.formulas import SCHEMA, make_formula_row
from tests.property.strategies import typed_column
from tests.property.test_formulas_duckdb import table_of
from tests.seeds import jobs, random_of
from tests.ways import take
from wherecast import Index
from wherecast.columns import arrow_schema

FILTERS, ROWS = 500, 40
TOGETHER = 100  # filters in a query of DuckDB
MEASURED = 150  # filters whose memory is measured
# of a filter, of 23 predicates and 770 characters on average; measured: 1,180, 3,900 and 15,500
ARRAY_BYTES_MAX, HELD_BYTES_MAX, PEAK_BYTES_MAX = 2_000, 7_000, 25_000


def answers(filters: list[DeepFilter], rows: list[dict[str, Any]]) -> npt.NDArray[np.bool_]:
    """Where DuckDB's WHERE holds, bool [rows, filters]."""
    found = []
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        connection.execute("PRAGMA disable_optimizer")  # slow on such wide queries
        connection.register("publications", table_of(rows))
        for start in range(0, len(filters), TOGETHER):
            some = filters[start : start + TOGETHER]
            listed = ", ".join(f"coalesce(({each.duck}), FALSE) AS c{n}" for n, each in
                               enumerate(some))  # fmt: skip
            found += connection.execute(f"SELECT {listed} FROM publications").fetchnumpy().values()
    return np.stack(found, axis=1)


def matched(index: Index, table: pa.Table, filters: int) -> npt.NDArray[np.bool_]:
    """Which filters match which publications, bool [rows, filters]."""
    found = np.zeros((len(table), filters), bool)
    for row, ids in enumerate(index.match(table).to_pylist()):
        found[row, ids] = True
    return found


def deep_filters(rng: Random, count: int) -> list[DeepFilter]:
    draw = DeepFilters(rng)
    return [draw.draw() for _ in range(count)]


def typed_table(rows: list[dict[str, Any]]) -> pa.Table:
    schema = arrow_schema(SCHEMA)
    return pa.table([typed_column(rows, field) for field in schema], schema=schema)


@pytest.mark.parametrize("job", jobs(20, in_make_test=1, in_release=4))
def test_deep_filters_match_as_in_duckdb(job: int) -> None:
    """A release tries 10,000 filters."""
    rng = random_of(f"deep filters {job}")
    filters = deep_filters(rng, FILTERS)
    rows = [make_formula_row(rng) for _ in range(ROWS)]
    table, expected = typed_table(rows), answers(filters, rows)
    index = Index(SCHEMA)
    index.add_all(enumerate(each.ours for each in filters))

    for way in ("columns", "trees", "trees again"):
        with pytest.MonkeyPatch.context() as patch:
            take(way.split()[0], patch)
            wrong = np.argwhere(matched(index, table, FILTERS) != expected)
        shown = [(way, filters[f], rows[row], expected[row, f]) for row, f in wrong[:3]]
        assert not len(wrong), "\n".join(map(str, shown))

    stats = index.stats()
    array_bytes = (stats["table_bytes"] + stats["tree_bytes"]) / FILTERS
    print(f"{array_bytes:.0f} bytes of arrays per filter")
    assert array_bytes <= ARRAY_BYTES_MAX
    assert len(index) == FILTERS
    assert max(each.depth for each in filters) == DEPTH_MAX
    assert PREDICATES_MAX * 0.8 < max(each.predicates for each in filters) <= PREDICATES_MAX
    assert 0.05 < expected.mean() < 0.95


def test_deep_filters_hold_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that Python allocates, the patterns and formulas of filters too, without numba."""
    take("columns", monkeypatch)
    rng = random_of("deep filters in memory")
    table = typed_table([make_formula_row(rng) for _ in range(5)])
    texts = [each.ours for each in deep_filters(rng, MEASURED)]
    first = Index(SCHEMA)
    first.add_all(enumerate(each.ours for each in deep_filters(rng, 20)))
    first.match(table)  # loads modules

    gc.collect()
    tracemalloc.start()
    index = Index(SCHEMA)
    index.add_all(enumerate(texts))
    index.match(table)
    gc.collect()
    held, peak = (size / MEASURED for size in tracemalloc.get_traced_memory())
    tracemalloc.stop()

    print(f"{held:.0f} bytes held per filter, {peak:.0f} at the peak")
    assert held <= HELD_BYTES_MAX
    assert peak <= PEAK_BYTES_MAX
