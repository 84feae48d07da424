"""Processes share compiled code, and none of it is written beside the sources."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytest.importorskip("numba")

import wherecast

NOWHERE = "/dev/null/nowhere"  # cannot be made, not even by root
SETTINGS = ("WHERECAST_CACHE_DIR", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME")
PROGRAM = """
import numpy as np
from numba import config
from wherecast.matching.columnar import kernels
from wherecast.matching.compile_cache.cached_njit import DIRECTORY
boxes = np.array([[1], [3]], np.uint16), np.array([[2], [4]], np.uint16)
blocks = np.zeros(128, np.uint16)
kernels.fill_leaves(*boxes, np.arange(2), blocks, 0)
stats = kernels.fill_leaves.stats
print(DIRECTORY, sum(stats.cache_hits.values()), sum(stats.cache_misses.values()), sep="|")
assert blocks[:2].tolist() == [1, 3] and blocks[64:66].tolist() == [2, 4]
assert config.CACHE_DIR == %r
"""


def compiled(source: Path, numba_cache: str = "", **settings: str) -> tuple[str, int, int]:
    """The directory, hits and misses of a process that runs a kernel of a copy of the package."""
    kept = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    given = {"PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1", **settings}
    if numba_cache:
        given["NUMBA_CACHE_DIR"] = numba_cache
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM % numba_cache],
        capture_output=True, text=True, check=True, env=kept | given,
    )  # fmt: skip
    found, hits, misses = done.stdout.strip().split("|")
    return found, int(hits), int(misses)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package, without anything compiled."""
    directory = tmp_path_factory.mktemp("site-packages")
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(wherecast.__file__).parent, directory / "wherecast", ignore=ignored)
    return directory


@pytest.mark.slow
class TestProcesses:
    def test_the_second_compiles_nothing(self, source: Path, tmp_path: Path) -> None:
        before = sorted(source.rglob("*"))
        there = {"WHERECAST_CACHE_DIR": str(tmp_path / "cache"), "HOME": NOWHERE}

        with ThreadPoolExecutor(2) as pool:
            first = list(pool.map(lambda _: compiled(source, **there), range(2)))
        assert {found for found, _, _ in first} == {str(next(tmp_path.glob("cache/kernels/*")))}
        assert compiled(source, **there)[1:] == (1, 0)
        assert sorted(source.rglob("*")) == before

    def test_settings_of_numba_are_respected(self, source: Path, tmp_path: Path) -> None:
        there = str(tmp_path / "numba")
        found, _, misses = compiled(source, there, HOME=str(tmp_path))
        assert found.startswith(there)
        assert misses == 1
        assert [path.name for path in tmp_path.iterdir()] == ["numba"]

    def test_kernels_work_without_any_directory(self, source: Path, tmp_path: Path) -> None:
        before = sorted(source.rglob("*"))
        nowhere = {"HOME": NOWHERE, "TMPDIR": str(tmp_path)}
        (tmp_path / f"wherecast-{os.geteuid()}").write_text("in the way")

        assert compiled(source, **nowhere) == ("None", 0, 1)
        assert sorted(source.rglob("*")) == before

    def test_damage_costs_time_only(self, source: Path, tmp_path: Path) -> None:
        there = {"WHERECAST_CACHE_DIR": str(tmp_path)}
        compiled(source, **there)
        for suffix, kept in (("nbi", 0), ("nbc", -9)):
            [damaged] = tmp_path.rglob(f"*.{suffix}")
            damaged.write_bytes(damaged.read_bytes()[:kept])
            assert compiled(source, **there)[1:] == (0, 1)
            assert compiled(source, **there)[1:] == (1, 0)

    def test_what_cannot_be_saved_costs_time_only(self, source: Path, tmp_path: Path) -> None:
        there = {"WHERECAST_CACHE_DIR": str(tmp_path)}
        found = Path(compiled(source, **there)[0])
        for path in found.iterdir():
            path.unlink()
        (found / "lock").mkdir()  # so it cannot be opened
        assert compiled(source, **there)[1:] == (0, 1)
        assert compiled(source, **there)[1:] == (0, 1)
