import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.store.embedded.filled import add_batch, fill
from wherecast.model.errors import ConfigError, StoreError
from wherecast.store.embedded import directory as directories
from wherecast.store.embedded.backup import backup_store
from wherecast.store.embedded.directory import FORMAT, Directory
from wherecast.store.embedded.store import EmbeddedStore
from wherecast.store.records import ShareFigures
from wherecast.store.segments.segment_settings import SegmentSettings


def test_a_new_one(tmp_path: Path) -> None:
    opened = Directory(tmp_path / "a" / "store")
    assert opened.segments.is_dir()
    assert opened.snapshots.is_dir()
    opened.close()
    opened.close()
    again = Directory(tmp_path / "a" / "store")
    assert again.identity == opened.identity
    again.close()
    other = Directory(tmp_path / "b")
    assert other.identity != opened.identity
    other.close()


def test_a_second_owner_is_told_who_has_it(tmp_path: Path) -> None:
    first = Directory(tmp_path)
    with pytest.raises(StoreError) as caught:
        Directory(tmp_path)
    assert str(caught.value) == f"{tmp_path} is in use by process {os.getpid()}"
    code = "import sys; from wherecast.store.embedded.directory import Directory; "
    code += "Directory(sys.argv[1])"
    other = subprocess.run(
        [sys.executable, "-c", code, tmp_path], capture_output=True, text=True, check=False
    )
    assert f"is in use by process {os.getpid()}" in other.stderr
    first.close()
    Directory(tmp_path).close()


def test_the_lock_ends_with_its_process(tmp_path: Path) -> None:
    code = "import os, sys; from wherecast.store.embedded.directory import Directory; "
    code += "d = Directory(sys.argv[1]); os.kill(os.getpid(), 9)"
    assert subprocess.run([sys.executable, "-c", code, tmp_path], check=False).returncode == -9
    Directory(tmp_path).close()


def test_others_work_beside_the_owner(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is no store"):
        Directory(tmp_path, "pipeline")
    with pytest.raises(ConfigError, match="is no store"):
        Directory(tmp_path / "missing", "reader")
    owner = Directory(tmp_path)
    for role in ("pipeline", "reader"):
        beside = Directory(tmp_path, role)
        assert beside.identity == owner.identity
        beside.close()
    with pytest.raises(StoreError, match="is in use"):
        Directory(tmp_path)
    owner.close()


def test_a_directory_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(ConfigError, match=r"is no store, and not empty: it has thesis\.txt"):
        Directory(tmp_path)
    assert [one.name for one in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_store_whose_making_was_cut_short(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text("1\n")
    (tmp_path / ".format.new").write_text("{")
    Directory(tmp_path).close()


def test_what_is_no_directory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError) as caught:
        Directory(tmp_path / "file" / "store")
    assert "\n" not in str(caught.value)
    with pytest.raises(ConfigError, match="cannot use"):
        Directory(tmp_path / "file")


@pytest.mark.skipif(os.getuid() == 0, reason="requires a user who may not write everywhere")
def test_an_unwritable_one(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(ConfigError, match="Permission denied"):
            Directory(tmp_path)
    finally:
        tmp_path.chmod(0o700)


class TestFormat:
    def test_a_newer_one_is_refused(self, tmp_path: Path) -> None:
        Directory(tmp_path).close()
        set_version(tmp_path, FORMAT + 1)
        for role in ("owner", "reader"):
            with pytest.raises(StoreError, match="a newer one wrote it"):
                Directory(tmp_path, role)

    def test_an_older_one_is_brought_here_by_its_owner(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        Directory(tmp_path).close()
        identity = json.loads((tmp_path / "format").read_text())["identity"]
        done: list[int] = []
        steps = {
            FORMAT - 2: lambda path: done.append(FORMAT - 2) or {},
            FORMAT - 1: lambda path: done.append(FORMAT - 1) or {"unscoped_ids": [7, 8]},
        }
        monkeypatch.setattr(directories, "MIGRATIONS", steps)
        set_version(tmp_path, FORMAT - 2)
        with pytest.raises(StoreError, match="first, which upgrades it"):
            Directory(tmp_path, "pipeline")
        opened = Directory(tmp_path)
        assert done == [FORMAT - 2, FORMAT - 1]
        assert opened.identity == identity
        assert opened.unscoped_ids == (7, 8)
        opened.close()
        Directory(tmp_path).close()
        assert len(done) == 2

    def test_one_without_a_way_here(self, tmp_path: Path) -> None:
        Directory(tmp_path).close()
        set_version(tmp_path, -7)
        with pytest.raises(StoreError, match="it cannot be brought to that one here"):
            Directory(tmp_path)

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"{",
            b"\xff",
            b"[]",
            b'{"version": "1", "identity": "a"}',
            b'{"version": 1}',
            b'{"version": 2, "identity": "a", "unscoped_ids": [1]}',
        ],
    )
    def test_a_damaged_one(self, tmp_path: Path, content: bytes) -> None:
        Directory(tmp_path).close()
        (tmp_path / "format").write_bytes(content)
        with pytest.raises(StoreError, match="run: wherecast store check"):
            Directory(tmp_path)


def set_version(path: Path, version: int) -> None:
    found = json.loads((path / "format").read_text())
    (path / "format").write_text(json.dumps(found | {"version": version}))


class TestIncarnation:
    def test_it_stays_as_long_as_the_directory(self, tmp_path: Path) -> None:
        first = Directory(tmp_path / "a")
        first.close()
        again = Directory(tmp_path / "a")
        again.close()
        assert first.incarnation == again.incarnation
        other = Directory(tmp_path / "b")
        other.close()
        assert len({first.incarnation, other.incarnation, first.identity}) == 3

    def test_a_backup_gets_a_new_one_when_it_is_opened_first(self, tmp_path: Path) -> None:
        fill(tmp_path / "store")
        list(backup_store(tmp_path / "store", tmp_path / "copy"))
        before = Directory(tmp_path / "store", "reader")
        unopened = Directory(tmp_path / "copy", "reader")
        assert unopened.incarnation == ""
        found = []
        for _ in range(2):
            restored = Directory(tmp_path / "copy")
            restored.close()
            found.append(restored.incarnation)
        assert restored.identity == before.identity
        assert found[0] == found[1] not in ("", before.incarnation)


class TestRights:
    def test_everything_in_a_store_is_private(self, tmp_path: Path) -> None:
        old = os.umask(0)
        try:
            fill(tmp_path / "made" / "store")
            store = EmbeddedStore(tmp_path / "made" / "store", segments=SegmentSettings(1))
            add_batch(store, store.batches.begin())
            store.batches.wait(lambda progress: True, 0)
            store.figures.add(1, ShareFigures("part", {}, {}))
            assert store.snapshots is not None
            store.snapshots.create("a/b", b"c")
            list(backup_store(tmp_path / "made" / "store", tmp_path / "copy"))
            assert rights(tmp_path / "made" / "store") == {"-rw-------", "drwx------"}
            store.close()
        finally:
            os.umask(old)
        assert rights(tmp_path / "copy") == {"-rw-------", "drwx------"}

    def test_an_existing_one_is_tightened_by_its_owner(self, tmp_path: Path) -> None:
        fill(tmp_path / "store")
        for folder, _, names in os.walk(tmp_path / "store"):
            os.chmod(folder, 0o755)
            for name in names:
                os.chmod(Path(folder, name), 0o644)
        Directory(tmp_path / "store", "reader").close()
        assert "drwxr-xr-x" in rights(tmp_path / "store")
        Directory(tmp_path / "store").close()
        assert rights(tmp_path / "store") == {"-rw-------", "drwx------"}


def rights(path: Path) -> set[str]:
    return {stat.filemode(one.stat().st_mode) for one in (path, *path.rglob("*"))}
