"""The trees without numba: the same kernels, not compiled."""

import subprocess
import sys

import pytest

PROGRAM = """
import sys
sys.modules["numba"] = None
import wherecast as wc
from wherecast.matching.trees.betree.parameters import TreeParameters
bounded = {"type": "float", "min": 0, "max": 9}
schema = wc.Schema.from_dict({"a": "int", "b": bounded, "s": "string"})
kind = sys.argv[1]
index = wc.Index(schema, kind, TreeParameters(4, 2) if kind == "betree" else None)
index.add_all({n: f"a > {n} AND b < {n % 9 + 0.5} AND s = 'x{n % 3}'" for n in range(60)})
index.add_all({100: "s LIKE 'x%'", 101: "a <> 5 OR b IS NULL", 102: "b NOT IN (1, 2)"})
index.remove_all(range(0, 60, 2))
rows = [{"a": 40, "b": 1.0, "s": "x0"}, {"a": 5}, {"b": 2.5, "s": "y"}]
reference = wc.Index(schema, "scan")
for each in (n for n in range(1, 60, 2)):
    reference.add(each, f"a > {each} AND b < {each % 9 + 0.5} AND s = 'x{each % 3}'")
reference.add_all({100: "s LIKE 'x%'", 101: "a <> 5 OR b IS NULL", 102: "b NOT IN (1, 2)"})
assert index.match(rows).to_pylist() == reference.match(rows).to_pylist()
index.remove_all(range(1, 60, 2))
print(index.kind, index.match(rows).to_pylist())
"""


@pytest.mark.parametrize("kind", ["betree", "forest"])
def test_it_works_without_numba(kind: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM, kind], capture_output=True, text=True
    )
    assert done.stderr == ""
    assert done.stdout.strip() == f"{kind} [[100, 101], [101], [102]]"
