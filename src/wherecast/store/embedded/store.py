"""The embedded store: a directory, opened in a role."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from typing_extensions import override

from wherecast.store.blobs.blobs import Blobs
from wherecast.store.blobs.posix_blobs import PosixBlobs
from wherecast.store.clock import boot_us
from wherecast.store.contracts import (
    Batches,
    Cursors,
    Figures,
    Log,
    Mailboxes,
    Registry,
    Role,
    Store,
)
from wherecast.store.embedded.batches.batch_tables import LAYOUT
from wherecast.store.embedded.batches.batches import EmbeddedBatches
from wherecast.store.embedded.batches.mailboxes import EmbeddedMailboxes
from wherecast.store.embedded.batches.segment_rows import SegmentRows
from wherecast.store.embedded.cursors import EmbeddedCursors
from wherecast.store.embedded.database import damaged
from wherecast.store.embedded.directory import Directory
from wherecast.store.embedded.log.log import EmbeddedLog
from wherecast.store.embedded.share_figures import EmbeddedFigures
from wherecast.store.segments.segment_files import SegmentFiles
from wherecast.store.segments.segment_settings import DEFAULT_SEGMENTS, SegmentSettings
from wherecast.store.store_items import StoreItem, StoreResult


class EmbeddedStore(Store):
    """A store in a directory.

    Args:
        path: the directory.
        role: what this process does in the directory.
        segments: limits of the segments.
        accepts_loss: whether an owner goes on without commits that the log has lost.
        monotonic: a clock that nobody sets, in microseconds.

    Raises:
        ConfigError: the directory cannot be made, read or written, or is no store.
        StoreError: the directory is in use, damaged, or written by a newer version.
    """

    def __init__(
        self,
        path: str | Path,
        role: Role = "owner",
        segments: SegmentSettings = DEFAULT_SEGMENTS,
        accepts_loss: bool = False,
        monotonic: Callable[[], int] = boot_us,
    ) -> None:
        with ExitStack() as opened:
            directory = Directory(path, role)
            opened.callback(directory.close)
            log = EmbeddedLog(directory, accepts_loss=accepts_loss, monotonic=monotonic)
            opened.callback(log.close)
            # An owner makes it for the others to find, and mends what it cannot deliver.
            database = directory.database("batches.db", LAYOUT, role != "reader")
            opened.callback(database.close)
            rows = SegmentRows(database, SegmentFiles(directory.segments), segments)
            batches = EmbeddedBatches(directory, database, rows)
            opened.callback(batches.close)
            if role != "reader":
                _refuse_lost_batches(database.path, log, batches)
            if role == "owner":
                log.settle(batches.progress())
            self._write = log.write
            self.log: Log = log
            self.registry: Registry = log.registry
            self.batches: Batches = batches
            self.mailboxes: Mailboxes = EmbeddedMailboxes(database, rows)
            self.cursors: Cursors = EmbeddedCursors(log)
            self.snapshots: Blobs | None = PosixBlobs(directory.snapshots, is_private=True)
            self.figures: Figures = EmbeddedFigures(directory.figures)
            self._opened = opened.pop_all()

    @override
    def write(self, items: Sequence[StoreItem]) -> list[StoreResult]:
        return self._write(items)

    @override
    def close(self) -> None:
        self._opened.close()


def _refuse_lost_batches(path: Path, log: Log, batches: Batches) -> None:
    """Raises StoreError if the records of batches end before the start of the log.

    Only what was matched is ever trimmed, so records are lost then. A pipeline would wait for
    publications that are not in the log any more.
    """
    start = log.starts()[0]  # before the progress: both may move on meanwhile
    end = batches.progress().position[0]
    if end < start:
        raise damaged(path, f"its records end at {end}, but the log begins at {start}")
