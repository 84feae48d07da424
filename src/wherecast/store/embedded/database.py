"""One SQLite file: how it is opened, written, read and checked.

Durability. Write-ahead log and `synchronous=FULL`: a transaction that returned is on disk. A
transaction that raised is not there, and the next one can be tried at once: after a full disk the
file heals as soon as there is space.

Concurrency. One process writes a file, as a rule, from several threads, one transaction at a time;
where a second one writes, too, each waits for the transactions of the other. Any number of threads
and processes read beside it, each `reading` from one consistent state. Readings must be short:
while one lasts, the write-ahead log cannot be emptied. Connections do not survive a fork.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import apsw

from wherecast.model.errors import StoreError, reason_of
from wherecast.store.embedded.wal_growth import checkpoint_pages, grow_wal
from wherecast.store.folders import private_opener

APPLICATION_ID = 0x57434153  # the letters WCAS
_BUSY_MS = 10_000
_CHECKPOINT_PAGES = 4_000
_CACHE_KIB = 16_384
_WHOLE_CHECK_BYTES_MAX = 1 << 30  # reading more at each start would take too long
_NOT_DERIVED = ("log.db",)  # no other file tells its content
_DAMAGE_TEXTS = (
    *("no such table", "no such column", "malformed", "already exists", "values for"),
    "unsupported file format",
)
_FREE_BYTES_MIN = 1 << 16  # with less, an error of the disk is for want of space


@dataclass(frozen=True, slots=True)
class Layout:
    """What a database file holds.

    Attributes:
        version: of the tables; a file with a newer one is refused.
        tables: the statements that make them.
        checkpoint_pages: the write-ahead log is emptied at about this length.
        grown_pages: the length that a writer gives to the write-ahead log when it opens the file;
            None is a little more than `checkpoint_pages`.
    """

    version: int
    tables: str
    checkpoint_pages: int = _CHECKPOINT_PAGES
    grown_pages: int | None = None


class Database:
    """A database file, open for writing or for reading alone.

    Args:
        path: the file, in a directory that exists.
        layout: the tables of the file.
        is_writer: whether this process writes the file. A writer makes a missing file, and checks
            one that exists.
        vfs: the name of the layer that SQLite reaches its files through; empty is the usual one.

    Attributes:
        path: the file.
        transactions: number of transactions committed since the file was opened. While the number
            stays the same, this process has changed nothing.

    Raises:
        StoreError: the file is damaged, missing, or written by a newer version.
    """

    def __init__(self, path: Path, layout: Layout, is_writer: bool, vfs: str = "") -> None:
        self.path = path
        self.transactions = 0
        self._vfs = vfs
        self._layout = layout
        self._writing = threading.Lock()
        self._pool_lock = threading.Lock()
        self._pool: list[apsw.Connection] = []
        self._is_closed = False
        self._writer: apsw.Connection | None = None
        with sqlite_as_store_error(path):
            if is_writer:
                self._writer = self._opened_writer()
            else:
                with self.reading() as connection:
                    self._check_version(connection)

    @contextmanager
    def transaction(self) -> Iterator[apsw.Connection]:
        """A connection in a transaction, which is committed at the end or, on an error, undone."""
        with self._writing, sqlite_as_store_error(self.path):
            writer = self._writer
            if writer is None:
                raise StoreError(f"{self.path} is not open for writing")
            is_begun = False
            try:
                writer.execute("BEGIN IMMEDIATE")
                is_begun = True
                yield writer
                writer.execute("COMMIT")
                self.transactions += 1
            except BaseException:
                if writer.in_transaction:
                    writer.execute("ROLLBACK")
                elif is_begun:  # interrupted when it was committed, perhaps
                    self.transactions += 1
                raise

    @contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        """A connection that sees one state of the file, whatever is written meanwhile."""
        with sqlite_as_store_error(self.path):
            connection = self._borrowed()
            try:
                connection.execute("BEGIN")
                yield connection
            except BaseException:
                connection.close(True)
                raise
            connection.execute("COMMIT")
            self._give_back(connection)

    def close(self) -> None:
        """Closes the file; what is in the write-ahead log goes into it."""
        with self._writing, self._pool_lock:
            self._is_closed = True
            connections = [*self._pool, *([self._writer] if self._writer else [])]
            self._pool, self._writer = [], None
        with sqlite_as_store_error(self.path):
            for connection in connections:
                connection.close()

    def _borrowed(self) -> apsw.Connection:
        with self._pool_lock:
            if self._is_closed:
                raise StoreError(f"{self.path} is closed")
            if self._pool:
                return self._pool.pop()
        return self._connected(apsw.SQLITE_OPEN_READONLY)

    def _give_back(self, connection: apsw.Connection) -> None:
        with self._pool_lock:
            if not self._is_closed:
                self._pool.append(connection)
                return
        connection.close()

    def _opened_writer(self) -> apsw.Connection:
        with suppress(FileExistsError), self._as_unwritable():
            open(self.path, "xb", opener=private_opener).close()
        writer = self._connected(apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
        try:
            if writer.pragma("journal_mode", "wal") != "wal":
                raise StoreError(f"{self.path} is on a file system without shared memory files")
            writer.pragma("synchronous", "full")
            writer.pragma("journal_size_limit", 4 * self._layout.checkpoint_pages * 4096)
            writer.wal_autocheckpoint(checkpoint_pages(self.path, self._layout.checkpoint_pages))
            self._check_version(writer)
            if writer.pragma("user_version") == 0:
                self._make(writer)
            else:
                self._check(writer)
                # A writer that was killed may have left a transaction in the write-ahead log that
                # no reader sees, but that the next recovery would bring back. A write ends that.
                writer.pragma("user_version", self._layout.version)
            self._grow(writer)
        except BaseException:
            # The write-ahead log stays as it is, too: it may tell what happened.
            writer.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            writer.close(True)
            raise
        return writer

    def _grow(self, writer: apsw.Connection) -> None:
        limit = self._layout.checkpoint_pages
        pages = self._layout.grown_pages
        grow_wal(writer, self.path, limit + limit // 8 if pages is None else pages, self._vfs)

    @contextmanager
    def _as_unwritable(self) -> Iterator[None]:
        try:
            yield
        except FileExistsError:
            raise
        except OSError as error:
            raise StoreError(f"cannot write {self.path}: {reason_of(error)}") from error

    def _connected(self, flags: int) -> apsw.Connection:
        connection = apsw.Connection(str(self.path), flags, self._vfs or None)
        connection.set_busy_timeout(_BUSY_MS)
        connection.pragma("cache_size", -_CACHE_KIB)
        connection.pragma("cell_size_check", 1)
        connection.pragma("trusted_schema", 0)
        return connection

    def _make(self, writer: apsw.Connection) -> None:
        with writer:
            writer.execute(self._layout.tables)
            writer.pragma("application_id", APPLICATION_ID)
            writer.pragma("user_version", self._layout.version)

    def _check_version(self, connection: apsw.Connection) -> None:
        """Raises StoreError if the file is not Wherecast's, or written by a newer version."""
        found = connection.pragma("user_version")
        if found and connection.pragma("application_id") != APPLICATION_ID:
            raise StoreError(f"{self.path} is no file of Wherecast")
        if found and found != self._layout.version:
            who = "a newer" if found > self._layout.version else "an older"
            raise StoreError(
                f"{self.path} has version {found}, this Wherecast knows {self._layout.version}; "
                f"{who} one wrote it"
            )
        if not found and connection is not self._writer and connection.readonly("main"):
            raise StoreError(f"{self.path} is empty")

    def _check(self, writer: apsw.Connection) -> None:
        """Verifies SQLite's own pages, unless the file is so large that this takes long.

        Raises:
            StoreError: a page is damaged.
        """
        self.check_tables(writer)
        if self.path.stat().st_size > _WHOLE_CHECK_BYTES_MAX:
            return  # damage is then found where it is read
        found = writer.pragma("quick_check")
        if found != "ok":
            raise _damaged_pages(self.path, str(found))

    def check_tables(self, connection: apsw.Connection) -> None:
        """Raises StoreError if the tables of the file are not those of the layout."""
        statement = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name"
        expected = apsw.Connection(":memory:")
        expected.execute(self._layout.tables)
        rows = expected.execute(statement).fetchall()
        expected.close()
        if connection.execute(statement).fetchall() != rows:
            raise _damaged_pages(self.path, "its tables are not as they were made")


def damaged(path: Path, what: str) -> StoreError:
    """The error for damaged records, with the command that rebuilds what can be rebuilt."""
    line = " ".join(what.split())
    return StoreError(
        f"{path} is damaged: {line}; run: wherecast store check --repair {path.parent}"
    )


def backup_advice(name: str) -> str | None:
    """What helps if pages of a file are damaged that nothing rebuilds; None for other files."""
    if name not in _NOT_DERIVED:
        return None
    return f"nothing rebuilds {name}: go back to a copy that wherecast store backup made"


def _damaged_pages(path: Path, what: str) -> StoreError:
    """The error for a file whose pages SQLite cannot read."""
    advice = backup_advice(path.name)
    if advice is None:
        return damaged(path, what)
    return StoreError(f"{path} is damaged: {' '.join(what.split())}; {advice}")


@contextmanager
def sqlite_as_store_error(path: Path) -> Iterator[None]:
    """Errors of SQLite, as one line that names the file and what to do."""
    try:
        yield
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise _damaged_pages(path, str(error)) from error
    except UnicodeDecodeError as error:
        raise damaged(path, "a text in it is no UTF-8") from error
    except apsw.FullError as error:
        raise _disk_full(path) from error
    except (apsw.IOError, apsw.CantOpenError) as error:
        if _free_bytes(path) < _FREE_BYTES_MIN:
            raise _disk_full(path) from error
        raise StoreError(f"cannot read or write {path}: {error}") from error
    except apsw.SQLError as error:
        if not _tells_damage(str(error)):
            raise
        raise _damaged_pages(path, str(error)) from error
    except (apsw.PermissionsError, apsw.ReadOnlyError) as error:
        raise StoreError(f"cannot write {path}: {error}") from error
    except (apsw.BusyError, apsw.LockedError) as error:
        raise StoreError(f"{path} is in use by another process") from error


def _tells_damage(text: str) -> bool:
    """Whether an error of a statement comes from tables that are not as they were made."""
    return any(part in text for part in _DAMAGE_TEXTS)


def _disk_full(path: Path) -> StoreError:
    return StoreError(f"disk full: cannot write {path}; nothing was stored")


def _free_bytes(path: Path) -> int:
    try:
        status = os.statvfs(path.parent)
    except OSError:
        return _FREE_BYTES_MIN
    return status.f_bavail * status.f_frsize
