"""Compiled code is kept where it can be written, never beside the sources."""

import ast
import os
import shutil
from pathlib import Path

import pytest

numba = pytest.importorskip("numba")

import wherecast  # noqa: E402
from wherecast import cache_dirs as parents  # noqa: E402
from wherecast.matching.columnar import layout  # noqa: E402
from wherecast.matching.compile_cache import cache_directory as module  # noqa: E402
from wherecast.matching.compile_cache.cache_directory import cache_directory  # noqa: E402

NOWHERE = "/dev/null/nowhere"  # cannot be made, not even by root
SETTINGS = ("WHERECAST_CACHE_DIR", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME")


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """No directory can be written but `tmp_path`, which is made before that."""
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", NOWHERE)
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setattr(parents.tempfile, "tempdir", NOWHERE)
    return monkeypatch


def test_the_order_of_directories(nowhere: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert cache_directory() is None
    nowhere.setattr(parents.tempfile, "tempdir", str(tmp_path))
    assert cache_directory().parent == tmp_path / f"wherecast-{os.geteuid()}" / "kernels"
    nowhere.setenv("HOME", str(tmp_path / "home"))
    assert cache_directory().parent == tmp_path / "home/.cache/wherecast/kernels"
    nowhere.setenv("XDG_CACHE_HOME", "relative")
    assert cache_directory().parent == tmp_path / "home/.cache/wherecast/kernels"
    nowhere.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_directory().parent == tmp_path / "xdg/wherecast/kernels"
    nowhere.setattr(numba.config, "CACHE_DIR", str(tmp_path / "numba"))
    assert cache_directory().parent == tmp_path / "numba/wherecast/kernels"
    nowhere.setenv("WHERECAST_CACHE_DIR", str(tmp_path / "own"))
    assert cache_directory().parent == tmp_path / "own/kernels"
    nowhere.setenv("WHERECAST_CACHE_DIR", NOWHERE)
    assert cache_directory().parent == tmp_path / "numba/wherecast/kernels"


def test_the_directory_is_named_after_what_made_the_code(
    nowhere: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    nowhere.setenv("WHERECAST_CACHE_DIR", str(tmp_path))
    assert cache_directory().name.startswith(f"{wherecast.__version__}-numba{numba.__version__}-")
    before = cache_directory()
    nowhere.setattr(module, "source_digest", lambda: "of another source")
    assert cache_directory() != before


SOURCES = (
    "columnar/kernels/matching.py", "columnar/kernels/simd.py", "columnar/kernels/another.py",
    "columnar/layout.py", "compile_cache/cached_njit.py", "compile_cache/kernel_decorators.py",
    "scatter_kernels.py",
    "trees/items.py", "trees/exact_kernels.py", "trees/key_slots.py", "trees/row_layout.py",
    "trees/betree/kernels/insertion.py", "trees/betree/layout.py",
    "trees/forest/kernels/nodes.py", "trees/forest/layout.py",
)  # fmt: skip


def test_every_source_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    matching = Path(layout.__file__).parents[1]
    shutil.copytree(matching, tmp_path / "matching")
    monkeypatch.setattr(module, "files", lambda name: tmp_path / "matching")
    seen = {module.source_digest()}
    for name in SOURCES:
        with (tmp_path / "matching" / name).open("a") as file:
            file.write("# changed\n")
        seen.add(module.source_digest())
    assert len(seen) == len(SOURCES) + 1


def test_every_module_of_matching_that_a_source_imports_is_a_source() -> None:
    sources = {name: file.read_text() for name, file in module._sources()}
    for name, text in sources.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and node.module.startswith("wherecast.matching."):
                path = node.module.removeprefix("wherecast.matching.").replace(".", "/")
                here = {f"{path}.py", f"{path}/__init__.py"} & sources.keys()
                submodules = {f"{path}/{alias.name}.py" for alias in node.names}
                assert here or submodules <= sources.keys(), f"{node.module} in {name}"


@pytest.mark.parametrize("kind", ["link", "others", "file"])
def test_a_temporary_directory_of_somebody_else_is_left_alone(
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
    assert cache_directory() is None


def test_another_owner_is_noticed(nowhere: pytest.MonkeyPatch, tmp_path: Path) -> None:
    nowhere.setattr(parents.tempfile, "tempdir", str(tmp_path))
    assert cache_directory() is not None
    [made] = tmp_path.iterdir()
    assert made.stat().st_mode & 0o777 == 0o700
    user = os.geteuid() + 1
    made.rename(tmp_path / f"wherecast-{user}")
    nowhere.setattr(parents, "_user", lambda: user)
    assert cache_directory() is None


def test_a_filled_directory_need_not_be_writable(
    nowhere: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    nowhere.setenv("WHERECAST_CACHE_DIR", str(tmp_path))
    filled = cache_directory()

    def refuse(**_: object) -> None:
        raise PermissionError

    nowhere.setattr(parents.tempfile, "TemporaryFile", refuse)
    assert cache_directory() is None
    (filled / "kernel.nbi").touch()
    assert cache_directory() == filled
