"""`import wherecast` is light: what only some users need is loaded when it is used."""

import subprocess
import sys

SHOW = "import sys, wherecast; print(*sorted({name.split('.')[0] for name in sys.modules}))"


BROKER = "import wherecast; wherecast.Broker;" + SHOW
OPENED = "import wherecast; wherecast.Broker().publisher('p').publish({'a': 1});" + SHOW
SPARK = {"pyspark", "py4j"}
HEAVY = SPARK | {"numba", "llvmlite", "pandas", "polars", "duckdb"}


def test_import_leaves_heavy_libraries_alone() -> None:
    assert not loaded(SHOW) & HEAVY


def test_a_broker_is_light_and_never_needs_spark() -> None:
    assert not loaded(BROKER) & HEAVY
    assert not loaded(OPENED) & SPARK


def loaded(code: str) -> set[str]:
    """The packages that a new process has imported after some code."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found = set(done.stdout.split())
    assert "wherecast" in found
    return found


def test_every_public_name_is_loaded_from_its_home() -> None:
    import wherecast

    assert {"Broker", "Filter", "Index", "Schema", "WherecastError"} < set(wherecast.__all__)
    for name in wherecast.__all__:
        value = getattr(wherecast, name)
        assert name == "__version__" or value.__name__ == name
    assert dir(wherecast) == sorted(wherecast.__all__)
