"""The directory of a process: locked while it runs, kept for a week after that."""

import fcntl
import os
import time
from pathlib import Path

import pytest

from wherecast import ConfigError
from wherecast.pipeline.filters import process_blobs

WEEK_S = 7 * 24 * 3600


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WHERECAST_CACHE_DIR", str(tmp_path))
    process_blobs._made.cache_clear()
    yield tmp_path / "filters"
    process_blobs._made.cache_clear()


def age(path: Path, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(path, (then, then))


def other(home: Path, name: str) -> Path:
    """The directory of another process."""
    (home / name).mkdir(parents=True)
    (home / name / ".lock").touch()
    return home / name


def test_a_process_has_one(home: Path) -> None:
    found = process_blobs.own_directory()
    assert found.parent == home
    assert process_blobs.own_directory() == found


def test_others_are_kept_for_a_week_after_they_were_found_to_have_ended(home: Path) -> None:
    ended, long_ago = other(home, "ended"), other(home, "long ago")
    age(ended, 3 * WEEK_S)  # it may have run until now
    (long_ago / ".ended").touch()
    age(long_ago / ".ended", WEEK_S + 60)

    process_blobs.own_directory()

    assert (ended / ".ended").exists()
    assert not long_ago.exists()


def test_one_that_runs_is_left_alone(home: Path) -> None:
    running = other(home, "running")
    (running / ".ended").touch()
    age(running / ".ended", 2 * WEEK_S)
    handle = os.open(running / ".lock", os.O_RDWR)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        process_blobs.own_directory()
    finally:
        os.close(handle)
    assert running.exists()


def test_one_that_has_no_lock_yet_is_new(home: Path) -> None:
    (home / "new").mkdir(parents=True)
    process_blobs.own_directory()
    assert list((home / "new").iterdir()) == []


def test_one_that_was_marked_before_it_had_its_lock(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = fcntl.flock

    def late(handle: int, how: int) -> None:
        if how == fcntl.LOCK_EX:  # that of a process for itself
            monkeypatch.setattr(fcntl, "flock", lock)
            process_blobs._remove_old(home)
            assert [path.name for path in home.glob("*/.ended")] == [".ended"]
        lock(handle, how)

    monkeypatch.setattr(fcntl, "flock", late)
    found = process_blobs.own_directory()
    assert [path.name for path in found.iterdir()] == [".lock"]


def test_no_place_to_write(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_blobs, "cache_parents", lambda: [Path("/proc/none")])
    process_blobs._made.cache_clear()
    with pytest.raises(ConfigError, match="no place for filters: set WHERECAST_CACHE_DIR"):
        process_blobs.own_directory()
