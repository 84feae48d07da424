"""Compiled code is kept where it can be written, never beside the sources."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

numba = pytest.importorskip("numba")

import wherecast  # noqa: E402
from wherecast import cache_dirs as parents  # noqa: E402
from wherecast.matching.columnar import layout  # noqa: E402
from wherecast.matching.columnar.kernels import compile_cache_dir as places  # noqa: E402
from wherecast.matching.columnar.kernels.compile_cache_dir import place  # noqa: E402

NOWHERE = "/dev/null/nowhere"  # cannot be made, not even by root
SETTINGS = ("WHERECAST_CACHE_DIR", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME")
PROGRAM = """
import numpy as np
from numba import config
from wherecast.matching.columnar import kernels
from wherecast.matching.columnar.kernels.compile_cache import PLACE
boxes = np.array([[1], [3]], np.uint16), np.array([[2], [4]], np.uint16)
blocks = np.zeros(128, np.uint16)
kernels.fill_leaves(*boxes, np.arange(2), blocks, 0)
stats = kernels.fill_leaves.stats
print(PLACE, sum(stats.cache_hits.values()), sum(stats.cache_misses.values()), sep="|")
assert blocks[:2].tolist() == [1, 3] and blocks[64:66].tolist() == [2, 4]
assert config.CACHE_DIR == %r
"""


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """No place can be written but `tmp_path`, which is made before that."""
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", NOWHERE)
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setattr(parents.tempfile, "tempdir", NOWHERE)
    return monkeypatch


def compiled(source: Path, numba_cache: str = "", **settings: str) -> tuple[str, int, int]:
    """The place, hits and misses of a process that runs a kernel of the package in a directory."""
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


def test_the_order_of_places(nowhere: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert place() is None
    nowhere.setattr(parents.tempfile, "tempdir", str(tmp_path))
    assert place().parent == tmp_path / f"wherecast-{os.geteuid()}" / "kernels"
    nowhere.setenv("HOME", str(tmp_path / "home"))
    assert place().parent == tmp_path / "home/.cache/wherecast/kernels"
    nowhere.setenv("XDG_CACHE_HOME", "relative")
    assert place().parent == tmp_path / "home/.cache/wherecast/kernels"
    nowhere.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert place().parent == tmp_path / "xdg/wherecast/kernels"
    nowhere.setattr(numba.config, "CACHE_DIR", str(tmp_path / "numba"))
    assert place().parent == tmp_path / "numba/wherecast/kernels"
    nowhere.setenv("WHERECAST_CACHE_DIR", str(tmp_path / "own"))
    assert place().parent == tmp_path / "own/kernels"
    nowhere.setenv("WHERECAST_CACHE_DIR", NOWHERE)
    assert place().parent == tmp_path / "numba/wherecast/kernels"


def test_the_place_is_named_after_what_made_the_code(
    nowhere: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    nowhere.setenv("WHERECAST_CACHE_DIR", str(tmp_path))
    assert place().name.startswith(f"{wherecast.__version__}-numba{numba.__version__}-")
    before = place()
    nowhere.setattr(places, "source_digest", lambda: "of another source")
    assert place() != before


SOURCES = (
    "columnar/kernels/matching.py", "columnar/kernels/simd.py", "columnar/kernels/another.py",
    "columnar/layout.py", "trees/items.py", "trees/exact_kernels.py", "trees/key_slots.py",
    "trees/betree/kernels/insertion.py", "trees/betree/layout.py",
    "trees/forest/kernels/nodes.py", "trees/forest/layout.py",
)  # fmt: skip


def test_every_source_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    matching = Path(layout.__file__).parents[1]
    shutil.copytree(matching, tmp_path / "matching")
    monkeypatch.setattr(places, "files", lambda name: tmp_path / "matching")
    seen = {places.source_digest()}
    for name in SOURCES:
        with (tmp_path / "matching" / name).open("a") as file:
            file.write("# changed\n")
        seen.add(places.source_digest())
    assert len(seen) == len(SOURCES) + 1


@pytest.mark.parametrize("kind", ["link", "others", "file"])
def test_a_temporary_place_of_somebody_else_is_left_alone(
    nowhere: pytest.MonkeyPatch, tmp_path: Path, kind: str
) -> None:
    nowhere.setattr(parents.tempfile, "tempdir", str(tmp_path))
    there = tmp_path / f"wherecast-{os.geteuid()}"
    if kind == "link":
        (tmp_path / "target").mkdir(mode=0o700)
        there.symlink_to(tmp_path / "target")
    elif kind == "others":
        there.mkdir()
        there.chmod(0o777)
    else:
        there.write_text("")
    assert place() is None


def test_another_owner_is_noticed(nowhere: pytest.MonkeyPatch, tmp_path: Path) -> None:
    nowhere.setattr(parents.tempfile, "tempdir", str(tmp_path))
    assert place() is not None
    [made] = tmp_path.iterdir()
    assert made.stat().st_mode & 0o777 == 0o700
    user = os.geteuid() + 1
    made.rename(tmp_path / f"wherecast-{user}")
    nowhere.setattr(parents, "_user", lambda: user)
    assert place() is None


def test_a_filled_place_need_not_be_writable(nowhere: pytest.MonkeyPatch, tmp_path: Path) -> None:
    nowhere.setenv("WHERECAST_CACHE_DIR", str(tmp_path))
    filled = place()

    def refuse(**_: object) -> None:
        raise PermissionError

    nowhere.setattr(parents.tempfile, "TemporaryFile", refuse)
    assert place() is None
    (filled / "kernel.nbi").touch()
    assert place() == filled


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

    def test_kernels_work_without_any_place(self, source: Path, tmp_path: Path) -> None:
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
