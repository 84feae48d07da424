"""Write-ahead logs are grown before they are needed, and nothing in them is read as new."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tests.power_cut import recorded_disk
from tests.unit.store.embedded.test_database import LAYOUT, SmallDisk, add, numbers
from wherecast.store.embedded import wal_growth
from wherecast.store.embedded.database import Database

GROWN = replace(LAYOUT, checkpoint_pages=100, grown_pages=200)
FULL = 32 + 200 * 4120


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "things.db"


def wal(path: Path) -> Path:
    return path.with_name("things.db-wal")


def test_commits_write_inside_of_the_file(path: Path) -> None:
    for _ in range(2):  # a clean close removes it
        with closing(Database(path, GROWN, is_writer=True)) as database:
            assert wal(path).stat().st_size == FULL
            first = len(numbers(database))
            for number in range(first, first + 300):
                add(database, number)
                assert wal(path).stat().st_size == FULL
        assert not wal(path).exists()


def test_a_second_writer_leaves_it(path: Path) -> None:
    with closing(Database(path, GROWN, is_writer=True)) as database:
        add(database, 1)
        content = wal(path).read_bytes()
        with closing(Database(path, GROWN, is_writer=True)) as other:
            add(other, 2)
            assert len(wal(path).read_bytes()) == len(content)
        assert numbers(database) == [1, 2]


def test_the_length_follows_the_limit_of_the_layout(path: Path) -> None:
    with closing(Database(path, LAYOUT, is_writer=True)):
        assert wal(path).stat().st_size > 32 + LAYOUT.checkpoint_pages * 4120


def test_what_a_kill_leaves_is_read(path: Path, tmp_path: Path) -> None:
    """Zeros and frames of a log that was emptied follow the last commit."""
    database = Database(path, GROWN, is_writer=True)
    add(database, *range(3))
    for count in range(3, 250):
        add(database, count)
        if count % 50 == 7:
            copy = tmp_path / f"{count}"
            copy.mkdir()
            for name in ("things.db", "things.db-wal"):
                (copy / name).write_bytes((tmp_path / name).read_bytes())
            with closing(Database(copy / "things.db", GROWN, is_writer=True)) as again:
                assert numbers(again) == list(range(count + 1))
    database.close()


def test_a_disk_that_is_nearly_full_is_left_alone(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wal_growth, "_FREE_SHARE", 10**12)
    with closing(Database(path, GROWN, is_writer=True)) as database:
        assert wal(path).stat().st_size < FULL
        add(database, 1)


def test_a_small_disk_has_its_log_emptied_sooner(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or the log would fill the disk, and could not be emptied any more."""
    monkeypatch.setattr(wal_growth, "_FREE_SHARE", 10**12)
    with closing(
        Database(path, replace(LAYOUT, checkpoint_pages=4_000), is_writer=True)
    ) as database:
        for number in range(200):
            add(database, number)
        assert wal(path).stat().st_size < 60 * 4120
        assert numbers(database) == list(range(200))


def test_a_disk_that_refuses_is_no_error(path: Path) -> None:
    disk = SmallDisk()
    disk.left = 300_000
    with closing(Database(path, GROWN, is_writer=True, vfs=disk.name)) as database:
        assert disk.left < 1 << 16
        add(database, 1)
        assert numbers(database) == [1]
    disk.unregister()


def test_it_is_synced_when_it_is_grown(path: Path) -> None:
    """The first commit does not pay for it."""
    with (
        recorded_disk() as disk,
        closing(Database(path, GROWN, is_writer=True, vfs=disk.vfs)) as database,
    ):
        before = disk.syncs["things.db-wal"]
        add(database, 1)
        assert disk.syncs["things.db-wal"] == before + 1
