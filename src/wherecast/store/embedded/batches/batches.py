"""Batch records on disk, in `batches.db`: one partition, whose moments are numbered.

Concurrency: safe from several threads and processes. Whoever commits does so in one transaction;
the epoch in it tells pipelines apart. Large segments are written before it, beside other commits.
"""

from collections.abc import Callable

import apsw
import numpy as np
import numpy.typing as npt
from typing_extensions import override

from wherecast.model import ConflictError, StoreError
from wherecast.store.contracts import DEAD_LETTERS_MOST, Batches
from wherecast.store.crash_points import reached
from wherecast.store.embedded.batches.batch_tables import (
    dead_letter_of,
    dead_letter_row,
    insert_batch,
    read_batches,
    read_progress,
    read_state,
    write_state,
)
from wherecast.store.embedded.batches.segment_rows import PreparedSegment, SegmentRows, Swept
from wherecast.store.embedded.database import Database
from wherecast.store.embedded.directory import Directory
from wherecast.store.embedded.log.log_mark import MarkSync
from wherecast.store.position import Position
from wherecast.store.records import Batch, DeadLetter, Progress
from wherecast.store.sequences import (
    SLOT_BITS,
    MomentNumbering,
    SequenceNumbering,
    after,
    continues,
    numbered,
    offsets_of_moments,
)
from wherecast.store.wake import Bell

_TRIES = 5


class EmbeddedBatches(Batches):
    """Batch records and the epoch of the pipeline, in `batches.db`."""

    def __init__(self, directory: Directory, database: Database, segments: SegmentRows) -> None:
        self._database = database
        self._segments = segments
        self._bell = Bell(directory.path / "wake")
        self._mark_sync = MarkSync(directory.path)
        self.numbering: SequenceNumbering = MomentNumbering()
        self._known_end = 0  # everything before this sequence is committed

    @override
    def begin(self) -> int:
        """The epoch of a new pipeline; from now on no earlier one can commit.

        Files that an earlier one left unfinished, or wrote for a batch that it did not commit, are
        deleted.
        """
        with self._database.transaction() as connection:
            epoch, starts_at = read_state(connection, self._database.path)
            write_state(connection, epoch + 1, starts_at)
            self._segments.sweep_unnamed(connection)
        return epoch + 1

    @override
    def progress(self) -> Progress:
        with self._database.reading() as connection:
            progress = read_progress(connection, self._database.path)
        self._known_end = max(self._known_end, progress.sequence)
        return progress

    @override
    def commit(self, batch: Batch, epoch: int) -> Progress:
        for _ in range(_TRIES):
            try:
                progress = self._commit(batch, epoch)
            except Swept:
                continue  # by a pipeline that began meanwhile, as the next look will tell
            reached("commit.after")
            self._known_end = progress.sequence
            self._bell.ring()
            self._mark_sync.run()
            return progress
        raise StoreError("the files of a batch were deleted while it was committed")

    @override
    def wait(self, is_enough: Callable[[Progress], bool], timeout_s: float) -> bool:
        return self._bell.wait(lambda: is_enough(self.progress()), timeout_s)

    @override
    def locate(
        self, sequences: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        if len(sequences) and (sequences.min() < 0 or not self._reaches(int(sequences.max()))):
            raise StoreError("a sequence that no batch has has no place")
        offsets = offsets_of_moments(sequences.astype(np.int64))
        return np.zeros(len(sequences), np.int32), offsets

    def _reaches(self, sequence: int) -> bool:
        """Whether a sequence is committed, looked up where it was not known to be."""
        return sequence < self._known_end or sequence < self.progress().sequence

    @override
    def records(self, start: int, end: int) -> list[tuple[int, Batch]]:
        if start >= end:
            return []
        first, last = start >> SLOT_BITS, (end - 1) >> SLOT_BITS
        with self._database.reading() as connection:
            return read_batches(connection, first, last + 1, self._database.path)

    @override
    def position_at(self, sequence: int) -> Position:
        found = self.records(sequence, sequence + 1)
        return Position({0: found[0][1].first}) if found else self.progress().position

    @override
    def dead_letters(self, after: int = -1, limit: int = 1000) -> list[tuple[int, DeadLetter]]:
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT * FROM dead_letters WHERE number > ? ORDER BY number LIMIT ?",
                (after, limit),
            ).fetchall()
        return [dead_letter_of(row, self._database.path) for row in rows]

    def close(self) -> None:
        """Waits for nothing any more."""
        self._bell.close()

    def _commit(self, batch: Batch, epoch: int) -> Progress:
        prepared: PreparedSegment | None = None
        if batch.notifications is not None and self._segments.is_large(batch.notifications):
            # Files are written before the transaction that names them; but none in vain.
            with self._database.reading() as connection:
                now = self._checked(connection, epoch)
            if not continues(batch, now):
                return now
            prepared = self._prepared(batch)
        with self._database.transaction() as connection:
            now = self._checked(connection, epoch)
            if not continues(batch, now):
                return now  # another thread committed it; its files are these files
            if prepared is None:
                prepared = self._prepared(batch)
            insert_batch(connection, batch)
            self._segments.insert(connection, [prepared])
            if batch.dead_letters:
                _add_dead_letters(connection, batch)
            reached("commit.before")
        return after(batch, now, self.numbering)

    def _prepared(self, batch: Batch) -> PreparedSegment:
        first = batch.first << SLOT_BITS
        return self._segments.prepare(numbered(batch, first, self.numbering), tier=0)

    def _checked(self, connection: apsw.Connection, epoch: int) -> Progress:
        """The progress, where no later pipeline has begun.

        Raises:
            ConflictError: one has.
        """
        current, _ = read_state(connection, self._database.path)
        if epoch != current:
            raise ConflictError(f"pipeline {epoch} was replaced by pipeline {current}")
        return read_progress(connection, self._database.path)


def _add_dead_letters(connection: apsw.Connection, batch: Batch) -> None:
    last = connection.execute("SELECT max(number) FROM dead_letters").fetchone()
    number = -1 if last is None or last[0] is None else last[0]
    for letter in batch.dead_letters:
        number += 1
        connection.execute(
            "INSERT INTO dead_letters VALUES (?, ?, ?, ?, ?, ?, ?)",
            dead_letter_row(number, letter),
        )
    connection.execute("DELETE FROM dead_letters WHERE number <= ?", (number - DEAD_LETTERS_MOST,))
