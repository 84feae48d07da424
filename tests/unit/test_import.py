"""`import wherecast` is light: what only some users need is loaded when it is used."""

import subprocess
import sys

SHOW = "import sys, wherecast; print(*sorted({name.split('.')[0] for name in sys.modules}))"


def test_import_leaves_heavy_libraries_alone() -> None:
    done = subprocess.run([sys.executable, "-c", SHOW], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "wherecast" in loaded
    assert not loaded & {"pyspark", "py4j", "numba", "llvmlite", "pandas", "polars", "duckdb"}
