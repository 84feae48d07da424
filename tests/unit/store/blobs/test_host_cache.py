"""Copies are fetched and checked once per host, heal, and are removed when nobody uses them."""

import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from hashlib import blake2b
from pathlib import Path

import pytest

from wherecast import cache_dirs
from wherecast.model.errors import SnapshotError
from wherecast.store.blobs.host_cache import HostCache, blob_name, digest_of

CONTENT = b"a snapshot" * 1000
NAME = blake2b(CONTENT, digest_size=16).hexdigest() + ".index"
FULL_DISK = f"""
import sys
from pathlib import Path
from wherecast.model.errors import SnapshotError
from wherecast.store.blobs.host_cache import HostCache
cache = HostCache(Path(sys.argv[1]))
try:
    cache.path("{NAME}", lambda path: path.write_bytes(b"x" * 100_000))
except SnapshotError as error:
    print(error)
path = cache.path("{NAME}", lambda path: path.write_bytes({CONTENT[:10]!r} * 1000))
print(len(path.read_bytes()))
"""
FORKED = multiprocessing.get_context("fork")
pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


def write(path: Path) -> None:
    path.write_bytes(CONTENT)


def never(path: Path) -> None:
    raise AssertionError(f"nothing is to be fetched to {path}")


def named(content: bytes) -> tuple[str, Callable[[Path], None]]:
    """The name of a blob, and a source of it."""
    name = blake2b(content, digest_size=16).hexdigest() + ".index"
    return name, lambda path: path.write_bytes(content) and None


def counts(cache: HostCache) -> tuple[int, int]:
    return cache.fetches, cache.verifications


def age(directory: Path, name: str, hours: float) -> None:
    """Makes all files of a blob older."""
    for path in directory.glob(f"{name}*"):
        moved = path.stat().st_mtime - 3600 * hours
        os.utime(path, (moved, moved))
    seen = directory / f"{name}.seen"
    if seen.exists():  # it knows the copy as it is now
        stamp = (directory / name).stat()
        times = seen.stat()
        seen.write_text(
            f'{{"{directory / name}": [{stamp.st_size}, {stamp.st_mtime_ns}, {stamp.st_ino}]}}'
        )
        os.utime(seen, ns=(times.st_atime_ns, times.st_mtime_ns))


def copies(directory: Path) -> set[str]:
    return {path.name for path in directory.glob("*.index")}


def test_names_are_made_from_the_bytes(tmp_path: Path) -> None:
    write(tmp_path / "file")
    assert blob_name(tmp_path / "file", "index") == NAME == f"{digest_of(tmp_path / 'file')}.index"


class TestCopies:
    def test_a_copy_is_fetched_and_checked_once(self, tmp_path: Path) -> None:
        cache = HostCache(tmp_path)
        path = cache.path(NAME, write)
        assert path.read_bytes() == CONTENT
        assert counts(cache) == (1, 1)
        assert cache.path(NAME, never) == path
        assert counts(cache) == (1, 1)

        another = HostCache(tmp_path)
        assert another.path(NAME, never) == path
        assert counts(another) == (0, 0)

    def test_a_copy_without_its_record_is_checked_not_fetched(self, tmp_path: Path) -> None:
        HostCache(tmp_path).path(NAME, write)
        for damage in (lambda path: path.unlink(), lambda path: path.write_text("[nonsense")):
            damage(tmp_path / f"{NAME}.seen")
            cache = HostCache(tmp_path)
            cache.path(NAME, never)
            assert counts(cache) == (0, 1)

    @pytest.mark.parametrize("damaged", [b"", CONTENT[:-1], b"A" + CONTENT[1:]])
    def test_a_damaged_copy_heals(self, tmp_path: Path, damaged: bytes) -> None:
        cache = HostCache(tmp_path)
        path = cache.path(NAME, write)
        os.utime(path, (0, 0))
        path.write_bytes(damaged)
        assert cache.path(NAME, write).read_bytes() == CONTENT
        assert cache.fetches == 2
        assert HostCache(tmp_path).path(NAME, never).read_bytes() == CONTENT

    def test_a_deleted_directory_is_made_again(self, tmp_path: Path) -> None:
        cache = HostCache(tmp_path / "cache")
        cache.path(NAME, write)
        shutil.rmtree(tmp_path / "cache")
        assert cache.path(NAME, write).read_bytes() == CONTENT

    def test_a_damaged_source_is_named_in_one_line(self, tmp_path: Path) -> None:
        cache = HostCache(tmp_path)
        with pytest.raises(SnapshotError, match="is damaged") as caught:
            cache.path(NAME, lambda path: path.write_bytes(b"x") and None, origin="s3://b/k")
        assert NAME in str(caught.value)
        assert "s3://b/k" in str(caught.value)
        assert "\n" not in str(caught.value)
        assert cache.path(NAME, write).read_bytes() == CONTENT

    def test_a_source_that_fails_leaves_nothing(self, tmp_path: Path) -> None:
        def fail(path: Path) -> None:
            path.write_bytes(CONTENT[:10])
            raise SnapshotError("the store is away")

        with pytest.raises(SnapshotError, match="the store is away"):
            HostCache(tmp_path).path(NAME, fail)
        assert {path.suffix for path in tmp_path.iterdir()} == {".lock"}

    @pytest.mark.parametrize("name", ["../x.index", "x.index", NAME.upper(), f"{NAME}/x", ""])
    def test_other_names_are_refused(self, tmp_path: Path, name: str) -> None:
        with pytest.raises(SnapshotError, match="not the name of a snapshot"):
            HostCache(tmp_path).path(name, never)


class TestInPlace:
    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        write(tmp_path / "file")
        return tmp_path / "file"

    def test_a_right_file_is_used_and_checked_once(self, tmp_path: Path, file: Path) -> None:
        first, second = HostCache(tmp_path / "cache"), HostCache(tmp_path / "cache")
        assert first.path(NAME, never, in_place=file) == file
        assert first.path(NAME, never, in_place=file) == file
        assert second.path(NAME, never, in_place=file) == file
        assert counts(first) == (0, 1)
        assert counts(second) == (0, 0)
        os.utime(file, (0, 0))
        assert second.path(NAME, never, in_place=file) == file
        assert counts(second) == (0, 1)

    def test_a_wrong_file_gives_way_to_the_source(self, tmp_path: Path, file: Path) -> None:
        cache = HostCache(tmp_path / "cache")
        file.write_bytes(b"damaged")
        assert cache.path(NAME, write, in_place=file) == tmp_path / "cache" / NAME
        assert cache.path(NAME, never, in_place=tmp_path / "missing").read_bytes() == CONTENT

    def test_a_wrong_file_and_a_wrong_source(self, tmp_path: Path, file: Path) -> None:
        file.write_bytes(b"damaged")
        cache = HostCache(tmp_path / "cache")
        with pytest.raises(SnapshotError, match=f"is damaged: {file} "):
            cache.path(NAME, lambda path: shutil.copy(file, path) and None, in_place=file)

    def test_it_needs_no_directory_to_write_to(self, tmp_path: Path, file: Path) -> None:
        (tmp_path / "cache").write_text("in the way")
        cache = HostCache(tmp_path / "cache")
        assert cache.path(NAME, never, in_place=file) == file
        assert cache.path(NAME, never, in_place=file) == file
        assert counts(cache) == (0, 1)


class TestDirectories:
    def test_the_default_is_beside_the_kernels(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("WHERECAST_CACHE_DIR", str(tmp_path))
        assert HostCache().path(NAME, write) == tmp_path / "snapshots" / NAME

    def test_no_place_at_all(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("WHERECAST_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
            monkeypatch.setenv(name, "/dev/null/nowhere")
        monkeypatch.setattr(cache_dirs.tempfile, "tempdir", "/dev/null/nowhere")
        with pytest.raises(SnapshotError, match=r"/dev/null/nowhere.*WHERECAST_CACHE_DIR"):
            HostCache().path(NAME, write)

    def test_a_directory_that_cannot_be_written(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        with pytest.raises(SnapshotError, match="WHERECAST_CACHE_DIR") as caught:
            HostCache(tmp_path / "file").path(NAME, write)
        assert str(tmp_path / "file") in str(caught.value)

    def test_a_full_disk(self, tmp_path: Path) -> None:
        mounted = 'mount -t tmpfs -o size=64k none "$3" || exit 77; exec "$1" -c "$2" "$3"'
        command = ["unshare", "-rm", "sh", "-c", mounted, "sh", sys.executable, FULL_DISK]
        done = subprocess.run([*command, str(tmp_path)], capture_output=True, text=True)
        if done.returncode == 77 or "unshare:" in done.stderr:
            pytest.skip(f"no mount namespace here: {done.stderr.strip()}")
        error, healed = done.stdout.splitlines()
        assert error.startswith(f"cannot keep {NAME} in {tmp_path}: No space left on device; ")
        assert "WHERECAST_CACHE_DIR" in error
        assert int(healed) == len(CONTENT)


class TestProcesses:
    def test_many_ask_at_once_and_one_fetches(self, tmp_path: Path) -> None:
        begin, results = FORKED.Barrier(6), FORKED.Queue()

        def ask() -> None:
            cache = HostCache(tmp_path)
            begin.wait(60)
            right = cache.path(NAME, write).read_bytes() == CONTENT
            results.put((right, *counts(cache)))

        workers = [FORKED.Process(target=ask) for _ in range(6)]
        for worker in workers:
            worker.start()
        found = [results.get(timeout=60) for _ in workers]
        for worker in workers:
            worker.join(60)
        assert all(right for right, _, _ in found)
        assert sum(fetches for _, fetches, _ in found) == 1
        assert sum(verifications for _, _, verifications in found) == 1

    def test_a_fetch_that_is_killed_is_done_again(self, tmp_path: Path) -> None:
        reached, hold = FORKED.Event(), FORKED.Event()

        def stall(path: Path) -> None:
            path.write_bytes(CONTENT[:100])
            reached.set()
            hold.wait(60)

        worker = FORKED.Process(target=HostCache(tmp_path).path, args=(NAME, stall))
        worker.start()
        assert reached.wait(60)
        os.kill(worker.pid, signal.SIGKILL)
        worker.join(60)
        assert copies(tmp_path) == set()
        assert HostCache(tmp_path).path(NAME, write).read_bytes() == CONTENT
        assert not list(tmp_path.glob("*.part"))


class TestRemoval:
    def fill(self, cache: HostCache, hours: dict[bytes, float]) -> dict[bytes, str]:
        """Copies that were used some hours ago, and their names."""
        names = {}
        for content, past in hours.items():
            names[content], source = named(content * 1000)
            cache.path(names[content], source)
            age(cache.directory, names[content], past)
        return names

    def test_by_age(self, tmp_path: Path) -> None:
        cache = HostCache(tmp_path)
        names = self.fill(cache, {b"old": 8 * 24, b"new": 6 * 24})
        cache.path(NAME, write)
        assert copies(tmp_path) == {names[b"new"], NAME}
        assert not list(tmp_path.glob(f"{names[b'old']}*"))

    def test_files_in_place_make_room_too(self, tmp_path: Path) -> None:
        cache = HostCache(tmp_path / "cache")
        names = self.fill(cache, {b"old": 8 * 24})
        write(tmp_path / "file")
        cache.path(NAME, never, in_place=tmp_path / "file")
        assert not list((tmp_path / "cache").glob(f"{names[b'old']}*"))

    def test_what_is_used_stays(self, tmp_path: Path) -> None:
        names = self.fill(HostCache(tmp_path), {b"old": 8 * 24, b"used": 8 * 24})
        HostCache(tmp_path).path(names[b"used"], never)
        HostCache(tmp_path).path(NAME, write)
        assert copies(tmp_path) == {names[b"used"], NAME}

    def test_use_is_noted_once_an_hour(self, tmp_path: Path) -> None:
        cache = HostCache(tmp_path)
        cache.path(NAME, write)
        os.utime(tmp_path / f"{NAME}.seen", (0, 0))
        cache.path(NAME, never)
        assert (tmp_path / f"{NAME}.seen").stat().st_mtime == 0
        HostCache(tmp_path).path(NAME, never)
        assert (tmp_path / f"{NAME}.seen").stat().st_mtime > 0

    def test_by_size_the_least_recently_used_first(self, tmp_path: Path) -> None:
        names = self.fill(HostCache(tmp_path), {b"1111": 3, b"2222": 1, b"3333": 2})
        HostCache(tmp_path, bytes_max=16_000).path(NAME, write)
        assert copies(tmp_path) == {names[b"2222"], NAME}

    def test_the_one_just_fetched_stays_however_large(self, tmp_path: Path) -> None:
        self.fill(HostCache(tmp_path), {b"1111": 3})
        HostCache(tmp_path, bytes_max=1, unused_max=timedelta(0)).path(NAME, write)
        assert copies(tmp_path) == {NAME}

    def test_what_another_is_fetching_stays(self, tmp_path: Path) -> None:
        reached, hold = FORKED.Event(), FORKED.Event()
        other, source = named(b"other")

        def slowly(path: Path) -> None:
            source(path)
            age(tmp_path, other, 100 * 24)
            reached.set()
            assert hold.wait(60)

        worker = FORKED.Process(target=HostCache(tmp_path).path, args=(other, slowly))
        worker.start()
        assert reached.wait(60)
        HostCache(tmp_path, bytes_max=1).path(NAME, write)
        hold.set()
        worker.join(60)
        assert worker.exitcode == 0
        assert copies(tmp_path) == {NAME, other}

    def test_other_files_are_left_alone(self, tmp_path: Path) -> None:
        (tmp_path / "notes.txt").write_text("mine")
        os.utime(tmp_path / "notes.txt", (0, 0))
        HostCache(tmp_path, bytes_max=1).path(NAME, write)
        assert (tmp_path / "notes.txt").exists()

    def test_who_mapped_a_copy_keeps_it(self, tmp_path: Path) -> None:
        names = self.fill(HostCache(tmp_path), {b"1111": 3})
        with HostCache(tmp_path).path(names[b"1111"], never).open("rb") as file:
            HostCache(tmp_path, bytes_max=1).path(NAME, write)
            assert copies(tmp_path) == {NAME}
            assert len(file.read()) == 4000
