"""A new process imports only what matching needs, and compiles nothing twice."""

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from wherecast import Index, Schema

SCHEMA = Schema.from_dict({"a": {"type": "float", "min": 0, "max": 9}, "n": "int", "s": "string"})
FILTERS = {
    **{f"f{n}": f"a > {n} AND n <> {n}" for n in range(9)},
    "g": "s IN ('x', 'é')",
    "h": "s = 'y'",
}
BATCH = pa.record_batch({"a": [1.5, None, 8.0], "n": [1, 2, None], "s": ["x", None, "z"]})
START = """
import sys
import pyarrow as pa
from wherecast import Index, Schema
batch = pa.ipc.open_file(pa.memory_map("batch.arrow")).get_batch(0)
"""
LOAD = 'index = Index.load("filters.index")\n'
ADD = f"""
index = Index(Schema.from_dict({SCHEMA.to_dict()!r}))
index.add_all({FILTERS!r})
"""
MATCH = "found = index.match(batch).to_pylist()\n"
SHOW = "print(found, sorted({'numba', 'pandas', 'sqlglot'} & set(sys.modules)), sep='|')\n"


@pytest.fixture
def expected(tmp_path: Path) -> str:
    """Matches of the batch, which lies in a file beside that of the index."""
    with pa.ipc.new_file(tmp_path / "batch.arrow", BATCH.schema) as file:
        file.write_batch(BATCH)
    index = Index(SCHEMA)
    index.add_all(FILTERS)
    index.save(tmp_path / "filters.index")
    return repr(index.match(BATCH).to_pylist())


def run(program: str, directory: Path, **settings: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True, text=True, check=True, cwd=directory, env={**os.environ, **settings},
    )  # fmt: skip
    return done.stdout.strip().split("|")


def test_a_loaded_index_needs_no_parser(expected: str, tmp_path: Path) -> None:
    assert run(START + LOAD + MATCH + SHOW, tmp_path) == [expected, "[]"]


def test_reading_filters_leaves_pandas_alone(expected: str, tmp_path: Path) -> None:
    assert run(START + ADD + MATCH + SHOW, tmp_path) == [expected, "[]"]


@pytest.mark.slow
def test_the_second_process_compiles_nothing(expected: str, tmp_path: Path) -> None:
    pytest.importorskip("numba")
    program = f"""
from wherecast.matching.columnar import snapshot
snapshot._PLAIN_MAX = 0
{START + ADD + MATCH}
from wherecast.matching.columnar import kernels
used = [getattr(kernels, name).stats for name in kernels.__all__]
print(found, sum(sum(stats.cache_misses.values()) for stats in used), sep="|")
"""
    there = {"WHERECAST_CACHE_DIR": str(tmp_path / "cache")}
    first, second = (run(program, tmp_path, **there) for _ in range(2))

    assert first[0] == second[0] == expected
    assert int(first[1]) > 0
    assert second[1] == "0"
