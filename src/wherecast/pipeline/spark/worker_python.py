"""Checks before any query that the Python of the Spark workers can run Wherecast.

The usual trap is `.venv/bin/python job.py` without an activated environment. Spark then starts its
workers with another Python, and the query fails with forty lines that name neither Python.
"""

import json
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from wherecast import __version__
from wherecast.model import ConfigError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_HOW_TO = "see docs/how-to/package-for-a-cluster.md"
_REMEDY = (
    "set spark.pyspark.python (or PYSPARK_PYTHON) to a Python that has the same packages as that"
    f" of the driver ({sys.executable}); {_HOW_TO}"
)
_NO_PROGRAM = "Cannot run program"
_MISMATCH = "PYTHON_VERSION_MISMATCH"
_asked: "WeakKeyDictionary[Any, WorkerPython | None]" = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class WorkerPython:
    """The Python of a worker.

    Attributes:
        executable: path of the interpreter.
        packages: the version of each relevant package, None if it is missing.
    """

    executable: str
    packages: dict[str, str | None]


def need_python(spark: "SparkSession") -> None:
    """Checks that the workers of a session can run Wherecast; runs one job per session.

    Raises:
        ConfigError: the workers lack a package, have another Wherecast, or run another Python.
    """
    found = worker_python(spark)
    if found is None:
        return
    where = f"the Python of the Spark workers ({found.executable})"
    missing = [name for name in ("wherecast", "pyarrow", "numpy") if found.packages[name] is None]
    if missing:
        raise ConfigError(f"{where} has no {', '.join(missing)}: {_REMEDY}")
    version = found.packages["wherecast"]
    if version != __version__:
        reason = f"has Wherecast {version}, the driver has {__version__}"
        raise ConfigError(f"{where} {reason}: install the same there; {_HOW_TO}")


def worker_python(spark: "SparkSession") -> WorkerPython | None:
    """The Python of the workers; None if it is the Python of this process.

    Raises:
        ConfigError: the workers have another minor version of Python, or cannot start.
    """
    context = getattr(spark, "_sc", None)
    if context is not None and _is_own(context.master, context.pythonExec):
        return None
    key = spark if context is None else context
    if key not in _asked:
        _asked[key] = _ask(spark)
    return _asked[key]


def _is_own(master: str, executable: str) -> bool:
    found = shutil.which(executable)
    return master.startswith("local") and found is not None and _same(found, sys.executable)


def _same(one: str, other: str) -> bool:
    return os.path.abspath(one) == os.path.abspath(other)


def _ask(spark: "SparkSession") -> WorkerPython | None:
    """The Python of one worker; None if the job fails for another reason."""
    import pyspark.sql.functions as fn

    asked = fn.udf(_probe(), "string", useArrow=False)
    try:
        (row,) = spark.range(0, 1, 1, 1).select(asked()).collect()
    except Exception as error:  # noqa: BLE001  # of Spark or of py4j, which Connect does not have
        for line in str(error).splitlines():
            if _MISMATCH in line:
                reason = line.partition("] ")[2].partition(", PySpark")[0]
                raise ConfigError(f"{reason}: {_REMEDY}") from None
            if _NO_PROGRAM in line:
                reason = line[line.index(_NO_PROGRAM) :].partition(" (in ")[0]
                raise ConfigError(f"Spark cannot start its workers: {reason}: {_REMEDY}") from None
        return None
    return WorkerPython(**json.loads(row[0]))


def _probe() -> Callable[[], str]:
    """A function that describes its Python and needs only the standard library."""

    def probe():  # type: ignore[no-untyped-def]  # type hints are pickled too
        import json
        import sys
        from importlib.metadata import PackageNotFoundError, version

        packages = dict.fromkeys(("wherecast", "pyarrow", "numpy", "numba", "pyspark"))
        for name in packages:
            try:
                packages[name] = version(name)
            except PackageNotFoundError:
                packages[name] = None
        try:
            import wherecast

            packages["wherecast"] = wherecast.__version__
        except ImportError:
            packages["wherecast"] = None
        return json.dumps({"executable": sys.executable, "packages": packages})

    return probe
