"""The check of `batches.db` and of the segments it names."""

from collections.abc import Iterator

from wherecast.model import StoreError
from wherecast.store.contracts import DamagedSegment
from wherecast.store.embedded.batches.batch_tables import (
    SegmentRow,
    batch_of,
    batch_rows,
    dead_letter_of,
    read_segments,
    read_state,
)
from wherecast.store.embedded.batches.segment_rows import SegmentRows, Swept
from wherecast.store.embedded.check.check_report import CheckFinding
from wherecast.store.embedded.database import Database
from wherecast.store.segments.segment_files import SegmentFiles
from wherecast.store.segments.segments import problem_of

_PAGE = 1000
_FILE = "batches.db"


def check_batches(database: Database) -> Iterator[CheckFinding]:
    """Every record, and that each begins where the one before it ended."""
    reached, expected, changes = -1, None, 0
    while True:
        with database.reading() as connection:
            rows = batch_rows(connection, reached, _PAGE)
        for row in rows:
            try:
                batch = batch_of(row, database.path)
            except StoreError as error:
                expected = None
                yield CheckFinding(_FILE, "batch", 1, str(error))
                continue
            problem = None
            if expected is not None and batch.first != expected:
                problem = f"the batches between {expected} and {batch.first} are missing"
            elif batch.changes < changes:
                problem = f"the batch at {batch.first} knows fewer changes than the one before it"
            expected, changes = batch.end, batch.changes
            yield CheckFinding(_FILE, "batch", 1, problem)
        if len(rows) < _PAGE:
            return
        reached = int(rows[-1][1])


def check_segments(database: Database, end: int) -> Iterator[CheckFinding]:
    """Every segment, read whole, and that none is missing before a sequence.

    Segments that are merged meanwhile are looked for again.
    """
    segments = SegmentRows(database, SegmentFiles(database.path.parent / "segments"))
    at = 0
    while True:
        with database.reading() as connection:
            at = max(at, read_state(connection, database.path)[1])
            rows = read_segments(connection, at, end)
        if at >= end:
            return
        if not rows:
            yield _missing(at, end)
            return
        for row in rows:
            if row.first > at:
                yield _missing(at, row.first)
            try:
                problem = _problem(segments, row)
            except Swept:
                break
            lost = None if problem is None else range(row.first, row.end)
            yield CheckFinding("segments", "segment", 1, problem, lost)
            at = row.end


def check_dead_letters(database: Database) -> Iterator[CheckFinding]:
    """Every dead letter."""
    after = -1
    while True:
        with database.reading() as connection:
            rows = connection.execute(
                f"SELECT * FROM dead_letters WHERE number > ? ORDER BY number LIMIT {_PAGE}",
                (after,),
            ).fetchall()
        for row in rows:
            problem = None
            try:
                dead_letter_of(row, database.path)
            except StoreError as error:
                problem = str(error)
            yield CheckFinding(_FILE, "dead letter", 1, problem)
        if len(rows) < _PAGE:
            return
        after = int(str(rows[-1][0]))


def _problem(segments: SegmentRows, row: SegmentRow) -> str | None:
    """The problem of a segment; None if it is intact.

    Raises:
        Swept: it was merged or trimmed since.
    """
    try:
        wrong = problem_of(segments.open(row), row.first, row.end)
    except DamagedSegment as damage:
        return f"{damage}; they are made again from the log"
    return wrong and str(DamagedSegment(row.first, row.end, wrong))


def _missing(first: int, end: int) -> CheckFinding:
    problem = str(DamagedSegment(first, end, "they are missing"))
    return CheckFinding("segments", "segment", 0, problem, range(first, end))
