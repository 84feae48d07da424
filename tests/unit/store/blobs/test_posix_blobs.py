"""Blobs as files: what is on disk, and what the file system cannot do."""

import builtins
import errno
import multiprocessing
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from wherecast.model.errors import ConfigError
from wherecast.store.blobs.posix_blobs import PosixBlobs, path_of


@pytest.fixture
def blobs(tmp_path: Path) -> PosixBlobs:
    return PosixBlobs(tmp_path / "store")


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///a/b", "/a/b"),
        ("file:/a/b", "/a/b"),
        ("file://localhost/a/b", "/a/b"),
        ("file:///a%20b#c", "/a b#c"),
    ],
)
def test_file_uris(uri: str, path: str) -> None:
    assert path_of(uri) == Path(path)


def test_another_host_is_refused() -> None:
    with pytest.raises(ConfigError, match="names the host 'elsewhere'"):
        path_of("file://elsewhere/a")


def test_blobs_are_plain_files_that_others_may_read(blobs: PosixBlobs, tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        blobs.create("a/b", b"content")
        (tmp_path / "file").write_bytes(b"more")
        blobs.put_file("c", tmp_path / "file")
    finally:
        os.umask(before)
    files = {path for path in blobs.directory.rglob("*") if path.is_file()}
    assert files == {blobs.directory / "a/b", blobs.directory / "c"}
    assert {path.stat().st_mode & 0o777 for path in files} == {0o644}
    assert blobs.local_path("a/b") == blobs.directory / "a/b"


def test_unfinished_files_are_not_listed_and_go_after_a_day(
    blobs: PosixBlobs, tmp_path: Path
) -> None:
    blobs.create("a", b"")
    old, new = blobs.directory / ".old.tmp", blobs.directory / ".new.tmp"
    old.touch()
    new.touch()
    past = old.stat().st_mtime - 2 * 86_400
    os.utime(old, (past, past))
    assert blobs.names("") == ["a"]
    (tmp_path / "file").touch()
    blobs.put_file("b", tmp_path / "file")
    assert not old.exists()
    assert new.exists()


@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS])
def test_a_file_system_without_hard_links(
    blobs: PosixBlobs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(ConfigError, match=r"cannot create .*/store/a: .*no hard links") as caught:
        blobs.create("a", b"content")
    assert "\n" not in str(caught.value)
    assert list(blobs.directory.iterdir()) == []
    (tmp_path / "file").touch()
    blobs.put_file("a", tmp_path / "file")
    assert blobs.names("") == ["a"]


def test_a_link_whose_answer_was_lost_counts(
    blobs: PosixBlobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = os.link

    def lose(*paths: Path) -> None:
        link(*paths)
        raise FileExistsError(errno.EEXIST, "File exists")

    monkeypatch.setattr(os, "link", lose)
    assert blobs.create("a", b"content")


def test_folders_go_with_their_last_blob(blobs: PosixBlobs) -> None:
    for name in ("a/b/c", "a/b/d", "a/e", "f/g"):
        blobs.create(name, b"")
    blobs.delete("a/b/c")
    assert (blobs.directory / "a/b").is_dir()
    blobs.delete("a/b/d")
    assert sorted(path.name for path in blobs.directory.rglob("*")) == ["a", "e", "f", "g"]
    for name in ("a/e", "f/g", "f/g", "none/at/all"):
        blobs.delete(name)
    assert list(blobs.directory.iterdir()) == []
    assert blobs.create("a/b/c", b"")


@pytest.mark.parametrize("put", [True, False])
def test_a_folder_may_go_before_a_blob_is_in_it(
    blobs: PosixBlobs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, put: bool
) -> None:
    opened, gone = builtins.open, []

    def late(path: Path, mode: str, **options: Any) -> Any:
        if mode == "xb" and len(gone) < 2:
            gone.append(path.parent)
            path.parent.rmdir()
            path.parent.parent.rmdir()
        return opened(path, mode, **options)

    (tmp_path / "file").write_bytes(b"content")
    monkeypatch.setattr(builtins, "open", late)
    if put:
        blobs.put_file("a/b/c", tmp_path / "file")
    else:
        assert blobs.create("a/b/c", b"content")
    assert gone == [blobs.directory / "a/b"] * 2
    assert blobs.read("a/b/c") == b"content"


def delete_often(blobs: PosixBlobs, done: "multiprocessing.synchronize.Event") -> None:
    while not done.is_set():
        for name in blobs.names("a"):
            blobs.delete(name)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_writers_and_one_who_deletes(blobs: PosixBlobs, tmp_path: Path) -> None:
    forked = multiprocessing.get_context("fork")
    done = forked.Event()
    other = forked.Process(target=delete_often, args=(blobs, done))
    other.start()
    (tmp_path / "file").touch()
    try:
        for number in range(300):
            assert blobs.create(f"a/b{number}/c", b"")
            blobs.put_file(f"a/c{number}/d", tmp_path / "file")
    finally:
        done.set()
        other.join(60)
    assert other.exitcode == 0


def test_errors_name_the_path(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("in the way")
    blobs = PosixBlobs(tmp_path / "store")
    with pytest.raises(ConfigError, match=r"^cannot write .*/store/a/b: "):
        blobs.create("a/b", b"")
    with pytest.raises(ConfigError, match=r"^cannot write .*/store/a/b: "):
        blobs.put_file("a/b", tmp_path / "store")


def test_no_space_left(monkeypatch: pytest.MonkeyPatch, blobs: PosixBlobs) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ConfigError, match=r"store.*: No space left on device"):
        blobs.create("a", b"content")
    monkeypatch.undo()
    assert blobs.names("") == []


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_writer_that_is_killed_leaves_no_blob(
    blobs: PosixBlobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    forked = multiprocessing.get_context("fork")
    reached, hold = forked.Event(), forked.Event()

    def stall(*_: object) -> None:
        reached.set()
        hold.wait(60)

    with monkeypatch.context() as patch:
        patch.setattr(os, "link", stall)
        writer = forked.Process(target=blobs.create, args=("a", b"first"))
        writer.start()
        assert reached.wait(60)
        os.kill(writer.pid, signal.SIGKILL)
        writer.join(60)
    assert blobs.names("") == []
    assert blobs.create("a", b"second")
    assert blobs.read("a") == b"second"
