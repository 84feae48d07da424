"""The machine of a measurement: the processor, the versions and the commit."""

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

_LIBRARIES = (
    "wherecast", "numpy", "numba", "pyarrow", "sqlglot", "pyspark", "pandas", "duckdb", "polars",
    "nats-py", "redis",
)  # fmt: skip


def facts() -> dict[str, Any]:
    """The facts that every row of a benchmark carries."""
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in _LIBRARIES},
        "commit": _commit(),
    }


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _commit() -> str:
    """The commit of the source tree; empty if the source is not in a repository."""
    home = Path(__file__).parent
    try:
        found = subprocess.run(
            ["git", "describe", "--always", "--dirty"],
            cwd=home, capture_output=True, text=True, timeout=10, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return ""
    return found.stdout.strip()
