"""Sorted runs as one."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from wherecast.pipeline.stages.merge_runs import merged

SCHEMA = pa.schema([("row", pa.int64()), ("place", pa.int64())])
PAIRS = st.sets(st.tuples(st.integers(0, 30), st.integers(0, 4)), max_size=40)


@given(PAIRS, st.integers(1, 4), st.integers(1, 5))
def test_runs_are_merged(pairs: set[tuple[int, int]], runs: int, batch_rows: int) -> None:
    split = [sorted(pair for pair in pairs if pair[0] % runs == number) for number in range(runs)]
    tables = [
        pa.Table.from_pylist([{"row": r, "place": p} for r, p in run], schema=SCHEMA)
        for run in split
    ]

    batches = merged([iter(table.to_batches(batch_rows)) for table in tables])

    found = [tuple(row.values()) for batch in batches for row in batch.to_pylist()]
    assert found == sorted(pairs)


def test_no_runs_are_no_rows() -> None:
    assert list(merged([])) == []
