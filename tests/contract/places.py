"""Where the contract tests of batches, mailboxes and cursors open their stores."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from wherecast.store.contracts import Batches, Cursors, Mailboxes
from wherecast.store.embedded.batches import batch_tables
from wherecast.store.embedded.batches.batches import EmbeddedBatches
from wherecast.store.embedded.batches.mailboxes import EmbeddedMailboxes
from wherecast.store.embedded.batches.segment_rows import SegmentRows
from wherecast.store.embedded.cursors import EmbeddedCursors
from wherecast.store.embedded.database import Database
from wherecast.store.embedded.directory import Directory, Role
from wherecast.store.embedded.log.log import EmbeddedLog
from wherecast.store.memory.batches import MemoryBatches
from wherecast.store.memory.committed import Committed
from wherecast.store.memory.cursors import MemoryCursors
from wherecast.store.memory.mailboxes import MemoryMailboxes
from wherecast.store.segments.segment_files import SegmentFiles
from wherecast.store.segments.segment_settings import DEFAULT_SEGMENTS, SegmentSettings

KINDS = ("memory-1", "memory-3", "memory-sparse-1", "memory-sparse-3", "embedded", "embedded-files")


@dataclass
class Opened:
    batches: Batches
    mailboxes: Mailboxes
    cursors: Cursors
    partitions: int
    is_sparse: bool


@dataclass
class EmbeddedOpened(Opened):
    segments: SegmentRows
    database: Database
    log: EmbeddedLog


def in_memory(partitions: int, is_sparse: bool = False) -> Opened:
    committed = Committed(partitions)
    batches, mailboxes = MemoryBatches(committed), MemoryMailboxes(committed)
    return Opened(batches, mailboxes, MemoryCursors(), partitions, is_sparse)


@contextmanager
def embedded(
    path: Path,
    role: Role = "owner",
    settings: SegmentSettings = DEFAULT_SEGMENTS,
    vfs: str = "",
    files: Callable[[Path], SegmentFiles] = SegmentFiles,
) -> Iterator[EmbeddedOpened]:
    with ExitStack() as stack:
        directory = stack.enter_context(closing(Directory(path, role, vfs)))
        log = stack.enter_context(closing(EmbeddedLog(directory)))
        database = stack.enter_context(
            closing(directory.database("batches.db", batch_tables.LAYOUT, role != "reader"))
        )
        segments = SegmentRows(database, files(directory.segments), settings)
        batches = stack.enter_context(closing(EmbeddedBatches(directory, database, segments)))
        mailboxes = EmbeddedMailboxes(database, segments)
        cursors = EmbeddedCursors(log)
        yield EmbeddedOpened(batches, mailboxes, cursors, 1, False, segments, database, log)


@contextmanager
def open_kind(kind: str, path: Path) -> Iterator[Opened]:
    if kind.startswith("embedded"):
        # even a small segment is a file, and an old file goes at once
        files = SegmentSettings(row_bytes_max=1, opened_max=4, dropped_kept_s=0)
        with embedded(
            path, settings=files if kind == "embedded-files" else DEFAULT_SEGMENTS
        ) as opened:
            yield opened
    else:
        yield in_memory(int(kind[-1]), "sparse" in kind)
