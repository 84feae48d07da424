import itertools
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from wherecast.model.errors import StoreError
from wherecast.store.embedded.database import Database, Layout

LAYOUT = Layout(3, "CREATE TABLE things (number INTEGER PRIMARY KEY, data BLOB) STRICT;", 10)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "things.db"


@pytest.fixture
def database(path: Path) -> Iterator[Database]:
    database = Database(path, LAYOUT, is_writer=True)
    yield database
    database.close()


def add(database: Database, *numbers: int, size: int = 10) -> None:
    with database.transaction() as connection:
        for number in numbers:
            connection.execute("INSERT INTO things VALUES (?, zeroblob(?))", (number, size))


def numbers(database: Database) -> list[Any]:
    with database.reading() as connection:
        rows = connection.execute("SELECT number FROM things ORDER BY number").fetchall()
    return [number for (number,) in rows]


class TestTransactions:
    def test_all_or_nothing(self, database: Database) -> None:
        add(database, 1, 2)
        with pytest.raises(apsw.ConstraintError):
            add(database, 3, 1)
        with pytest.raises(apsw.SQLError), database.transaction() as connection:
            connection.execute("DELETE FROM things; no statement")
        assert numbers(database) == [1, 2]
        assert database.transactions == 1

    def test_one_that_is_interrupted_when_it_was_committed_counts(
        self, database: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        writer = database._writer
        assert writer is not None

        class Interrupted:
            """As after Ctrl-C: what was asked for is done, and then it is raised."""

            in_transaction = property(lambda _: writer.in_transaction)

            def execute(self, statement: str, *values: object) -> object:
                done = writer.execute(statement, *values)
                if statement == "COMMIT":
                    raise KeyboardInterrupt
                return done

        with monkeypatch.context() as patched:
            patched.setattr(database, "_writer", Interrupted())
            with pytest.raises(KeyboardInterrupt):
                add(database, 1)
        assert numbers(database) == [1]
        assert database.transactions == 1

    def test_readers_see_one_state(self, path: Path, database: Database) -> None:
        add(database, 1)
        reader = Database(path, LAYOUT, is_writer=False)
        with reader.reading() as connection:
            first = connection.execute("SELECT count(*) FROM things").get
            add(database, 2)
            assert connection.execute("SELECT count(*) FROM things").get == first == 1
        assert numbers(reader) == numbers(database) == [1, 2]
        reader.close()

    def test_threads(self, database: Database) -> None:
        def run(thread: int) -> None:
            for number in range(20):
                add(database, thread * 100 + number)
                assert thread * 100 + number in numbers(database)

        threads = [threading.Thread(target=run, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert len(numbers(database)) == 160

    def test_a_reader_cannot_write(self, path: Path, database: Database) -> None:
        reader = Database(path, LAYOUT, is_writer=False)
        with pytest.raises(StoreError, match="is not open for writing"):
            add(reader, 1)
        with pytest.raises(StoreError, match="cannot write"), reader.reading() as connection:
            connection.execute("DELETE FROM things")
        assert numbers(reader) == []
        reader.close()

    def test_a_second_writing_process_waits_and_gives_up(
        self, path: Path, database: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("wherecast.store.embedded.database._BUSY_MS", 1)
        other = Database(path, LAYOUT, is_writer=True)
        with database.transaction() as connection:
            connection.execute("INSERT INTO things VALUES (1, NULL)")
            with pytest.raises(StoreError, match="is in use by another process"):
                add(other, 2)
        add(other, 2)
        assert numbers(database) == [1, 2]
        other.close()

    def test_nothing_after_it_was_closed(self, database: Database) -> None:
        database.close()
        with pytest.raises(StoreError, match="is closed"):
            numbers(database)
        with pytest.raises(StoreError, match="is not open for writing"):
            add(database, 1)

    def test_the_write_ahead_log_is_emptied(self, path: Path, database: Database) -> None:
        for number in range(300):
            add(database, number, size=4000)
        assert path.with_name("things.db-wal").stat().st_size < 200_000


class TestVersions:
    def test_a_newer_one_is_refused(self, path: Path, database: Database) -> None:
        database.close()
        for is_writer in (True, False):
            with pytest.raises(StoreError, match="a newer one wrote it"):
                Database(path, Layout(2, ""), is_writer)

    def test_the_file_of_another_program(self, path: Path) -> None:
        other = apsw.Connection(str(path))
        other.execute("CREATE TABLE mine (a); PRAGMA user_version = 1")
        other.close()
        with pytest.raises(StoreError, match="is no file of Wherecast"):
            Database(path, LAYOUT, is_writer=True)

    def test_a_reader_makes_nothing(self, path: Path) -> None:
        with pytest.raises(StoreError, match=r"things\.db"):
            Database(path, LAYOUT, is_writer=False)
        assert not path.exists()


class TestDamage:
    @pytest.mark.parametrize("place", [0, 20, 100, 4096])
    def test_it_is_found_when_it_is_opened(
        self, path: Path, database: Database, place: int
    ) -> None:
        add(database, *range(500), size=100)
        database.close()
        content = bytearray(path.read_bytes())
        content[place : place + 16] = b"\xaa" * 16
        path.write_bytes(content)
        with pytest.raises(StoreError) as caught:
            Database(path, LAYOUT, is_writer=True)
        text = str(caught.value)
        assert text.startswith(f"{path} is damaged: ")
        assert text.endswith(f"; run: wherecast store check --repair {path.parent}")
        assert "\n" not in text

    def test_a_flipped_byte_in_the_header_that_sqlite_takes_for_another_format(
        self, path: Path, database: Database
    ) -> None:
        database.close()
        content = bytearray(path.read_bytes())
        content[47] ^= 176
        path.write_bytes(content)
        for is_writer in (True, False):
            with pytest.raises(StoreError, match="is damaged: unsupported file format"):
                numbers(Database(path, LAYOUT, is_writer))

    def test_no_database_at_all(self, path: Path) -> None:
        path.write_bytes(b"Dear diary, " * 1000)
        for is_writer in (True, False):
            with pytest.raises(StoreError, match="is damaged"):
                Database(path, LAYOUT, is_writer)

    def test_a_file_cut_short(self, path: Path, database: Database) -> None:
        add(database, *range(500), size=100)
        database.close()
        path.write_bytes(path.read_bytes()[:-8192])
        with pytest.raises(StoreError, match="is damaged"):
            Database(path, LAYOUT, is_writer=True)


class SmallDisk(apsw.VFS):
    """A disk with so much space left, in bytes: files that grow take it."""

    numbers = itertools.count()

    def __init__(self) -> None:
        self.name = f"small-{next(self.numbers)}"
        self.left = 10**9
        super().__init__(self.name, "")

    def xOpen(self, name: Any, flags: list[int]) -> "SmallDiskFile":  # noqa: N802
        return SmallDiskFile(self, name, flags)


class SmallDiskFile(apsw.VFSFile):
    def __init__(self, disk: SmallDisk, name: Any, flags: list[int]) -> None:
        self._disk = disk
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        growth = max(0, offset + len(data) - super().xFileSize())
        if growth > self._disk.left:
            raise apsw.FullError("no space")
        self._disk.left -= growth
        super().xWrite(data, offset)


@pytest.mark.parametrize("left", [0, 10, 5000, 50_000])
def test_a_full_disk_heals_by_itself(path: Path, left: int) -> None:
    disk = SmallDisk()
    database = Database(path, LAYOUT, is_writer=True, vfs=disk.name)
    add(database, 1)
    disk.left = left
    for number in (2, 3):
        with pytest.raises(StoreError) as caught:
            add(database, number, size=200_000)
        assert str(caught.value).startswith(f"disk full: cannot write {path}")
    assert numbers(database) == [1]
    disk.left = 10**9
    add(database, 2, size=200_000)
    assert numbers(database) == [1, 2]
    database.close()
    disk.unregister()
    again = Database(path, LAYOUT, is_writer=True)
    assert numbers(again) == [1, 2]
    again.close()


def test_what_a_killed_writer_left_unseen_does_not_come_back(tmp_path: Path) -> None:
    """A kill between the frames of a commit and the index of the write-ahead log.

    Whoever keeps the file open meanwhile keeps that index, so the commit stays unseen until the
    last one closes the file, and the next one recovers it.
    """
    path = tmp_path / "some.db"
    layout = Layout(1, "CREATE TABLE t (n INTEGER)")
    Database(path, layout, is_writer=True).close()
    code = f"""
import sys
from pathlib import Path
from wherecast.store.embedded.database import Database, Layout
database = Database(Path({str(path)!r}), Layout(1, "CREATE TABLE t (n INTEGER)"), is_writer=True)
for number in (1, 2):
    with database.transaction() as connection:
        connection.execute("INSERT INTO t VALUES (?)", (number,))
    print(number, flush=True)
    sys.stdin.readline()
"""
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", code], stdin=pipe, stdout=pipe) as writer:
        assert writer.stdin is not None
        assert writer.stdout is not None
        writer.stdout.readline()
        reader = apsw.Connection(str(path), apsw.SQLITE_OPEN_READONLY)
        assert list(reader.execute("SELECT n FROM t")) == [(1,)]
        index = path.with_name("some.db-shm").read_bytes()[:136]
        writer.stdin.write(b"\n")
        writer.stdin.flush()
        writer.stdout.readline()
        writer.kill()
    with path.with_name("some.db-shm").open("r+b") as file:
        file.write(index)
    assert list(reader.execute("SELECT n FROM t")) == [(1,)]
    Database(path, layout, is_writer=True)._writer = None  # killed, too
    reader.close()
    last = apsw.Connection(str(path))
    assert list(last.execute("SELECT n FROM t")) == [(1,)]
    last.close()
