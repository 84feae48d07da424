"""The one door to `log.db`: each transaction is counted, and what it adds or removes is chained.

The chain hash of a commit is the hash of the chain before it and of the checksums of all rows that
it adds or removes. So two logs with the same number of commits and the same chain have the same
history. Rows carry checksums of their own; payloads are not read a second time. After a commit its
bounds go to the second place, too; see `log_mark`.

Concurrency: one transaction at a time; any number of threads.
"""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

import apsw

from wherecast.model.errors import StoreError, reason_of
from wherecast.store.embedded.database import Database
from wherecast.store.embedded.log.log_mark import NAME, LogMark
from wherecast.store.embedded.log.log_tables import CHAIN_BYTES, KnownMarks, Marks


class LogCommit:
    """One transaction of the log.

    Attributes:
        connection: is in the transaction.
        marks: the bounds of the log; whoever adds or removes rows sets new ones.
    """

    def __init__(self, connection: apsw.Connection, marks: Marks) -> None:
        self.connection = connection
        self.marks = self._found = marks
        self._hash = blake2b(marks.chain, digest_size=CHAIN_BYTES)
        self._is_chained = False

    def chain(self, kind: str, *checksums: int) -> None:
        """Takes rows that were added or removed into the chain.

        Args:
            kind: what was done with the rows, such as `entry` or `trim`.
            checksums: of the rows, or numbers that tell which rows.
        """
        name = kind.encode()
        self._hash.update(
            struct.pack(f"<qq{len(checksums)}q", len(name), len(checksums), *checksums)
        )
        self._hash.update(name)
        self._is_chained = True

    def finish(self) -> None:
        """Writes the bounds if anything was changed; the last step before the commit."""
        if self._is_chained or self.marks != self._found:
            self._hash.update(replace(self.marks, commits=0).packed())
            count = self.marks.commits + 1
            self.marks = replace(self.marks, commits=count, chain=self._hash.digest())
            self.marks.write(self.connection)


class LogCommits:
    """The transactions of a log.

    Args:
        database: of the log.
        known: the bounds of the log as this process knows them.
        floor: bounds that the second place knew. The next commit follows their number, time and
            chain where those of the log are damaged.
    """

    def __init__(self, database: Database, known: KnownMarks, floor: Marks | None = None) -> None:
        self._database = database
        self._known = known
        self._floor = floor
        self._mark: LogMark | None = None

    def open_mark(self, folder: Path, marks: Marks) -> None:
        """Opens the second place for writing.

        Args:
            folder: the directory of the store.
            marks: the bounds of the log.

        Raises:
            StoreError: the file cannot be written.
        """
        try:
            self._mark = LogMark(folder, self._above_floor(marks))
        except OSError as error:
            raise StoreError(f"cannot write {folder / NAME}: {reason_of(error)}") from error

    @contextmanager
    def begin(self) -> Iterator[LogCommit]:
        """A transaction, which is committed at the end or, on an error, undone."""
        with self._database.transaction() as connection:
            number = self._database.transactions + 1
            commit = LogCommit(connection, self._above_floor(self._known.within(connection)))
            yield commit
            commit.finish()
        self._known.wrote(number, commit.marks)
        mark = self._mark  # another thread may close it now
        if mark is not None:
            mark.write(commit.marks)

    def close(self) -> None:
        """Syncs and closes the second place."""
        if self._mark is not None:
            self._mark.close()
            self._mark = None

    def _above_floor(self, marks: Marks) -> Marks:
        if self._floor is None or marks.commits >= self._floor.commits:
            return marks
        floor = self._floor
        last_at = max(marks.last_at, floor.last_at)
        return replace(marks, last_at=last_at, commits=floor.commits, chain=floor.chain)
