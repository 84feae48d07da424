"""A loss of power finds the old files or the new ones: each name lasts before the next step."""

import os
from pathlib import Path

import pytest

from tests.upgrade.old_directory import unpack
from wherecast.store.embedded.directory import Directory

Step = tuple[str, str]


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[Step]:
    """Syncs and new names, in order, each with the path; SQLite's own are not among them."""
    found: list[Step] = []
    fsync, replace, rename = os.fsync, os.replace, os.rename

    def synced(descriptor: int) -> None:
        fsync(descriptor)
        found.append(("sync", os.readlink(f"/proc/self/fd/{descriptor}")))

    def replaced(source: Path, target: Path) -> None:
        replace(source, target)
        found.append(("name", str(target)))

    def renamed(source: Path, target: Path) -> None:
        rename(source, target)
        found.append(("name", str(target)))

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", replaced)
    monkeypatch.setattr(os, "rename", renamed)
    return found


def test_the_order_of_syncs_and_names(tmp_path: Path, steps: list[Step]) -> None:
    path = unpack(tmp_path)
    Directory(path).close()
    at = {what: place for place, what in enumerate(steps) if what[0] == "name"}

    def place(name: str) -> int:
        return at["name", str(path / name)]

    def is_synced(name: str, start: int, end: int) -> bool:
        return ("sync", str(path / name)) in steps[start:end]

    names = ["layout-1", "log.db", "log.mark", "batches.db", "format"]
    assert sorted(names, key=place) == names
    for name in ("layout-1.new", "layout-1.new/segments", "layout-1.new/format"):
        assert is_synced(name, 0, place("layout-1")), name
    for name in ("log.db", "log.mark", "batches.db"):
        assert is_synced(f"upgrade.new/{name}", place("layout-1"), place("log.db")), name
    assert is_synced("upgrade.new", place("layout-1"), place("log.db"))
    assert is_synced("", place("layout-1"), place("log.db"))
    assert is_synced("", place("log.db"), place("log.mark"))
    assert is_synced("", place("batches.db"), place("format"))
    assert is_synced("", place("format"), len(steps))


def test_a_file_system_without_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(source: Path, target: Path) -> None:
        raise PermissionError(1, "Operation not permitted")

    path = unpack(tmp_path)
    monkeypatch.setattr(os, "link", refuse)
    Directory(path).close()
    for name in ("log.db", "batches.db", "cursors.db"):
        assert (path / "layout-1" / name).stat().st_size
    (path / "layout-1").rename(tmp_path / "before")
    Directory(tmp_path / "before").close()
