"""Batches, notifications and cursors that were acknowledged are there after a cut at any write."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from tests.contract.feed import SUBSCRIBERS, Feed, commit_all, pull
from tests.contract.places import EmbeddedOpened, embedded
from tests.power_cut import Disk, Image, recorded_disk, scratch
from wherecast.store import folders
from wherecast.store.embedded.batches import batch_tables
from wherecast.store.embedded.log import log as embedded_log
from wherecast.store.records import Cursor
from wherecast.store.segments import segment_files
from wherecast.store.segments.segment_files import SegmentFiles
from wherecast.store.segments.segment_settings import SegmentSettings

# segments of a batch are rows, merged ones are files
SETTINGS = SegmentSettings(row_bytes_max=1500, dropped_kept_s=0)


@pytest.fixture(autouse=True)
def _short_write_ahead_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """Emptied every few commits, so that this is cut short, too."""
    for module in (batch_tables, embedded_log):
        monkeypatch.setattr(module, "LAYOUT", replace(module.LAYOUT, checkpoint_pages=12))


class RecordedFiles(SegmentFiles):
    """Files whose writes, syncs, names and removals are recorded."""

    def __init__(self, folder: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(folder)
        self.disk = disk
        self.monkeypatch = monkeypatch

    def write(self, name: str, data: pa.Buffer) -> None:
        with self.monkeypatch.context() as patched:
            for module in (segment_files, folders):
                patched.setattr(module, "os", RecordedSystem(self.disk))
            super().write(name, data)

    def remove(self, name: str) -> None:
        super().remove(name)
        self.disk.delete(name)


class RecordedSystem:
    """The calls of `os` that segment files need."""

    O_RDONLY = os.O_RDONLY
    open = staticmethod(os.open)
    close = staticmethod(os.close)
    fchmod = staticmethod(os.fchmod)

    def __init__(self, disk: Disk) -> None:
        self.disk = disk

    def fsync(self, descriptor: int) -> None:
        os.fsync(descriptor)
        path = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
        if path.is_dir():
            self.disk.sync_names()
        else:
            self.disk.write_file(path.name, path.read_bytes())
            self.disk.sync_file(path.name)

    def replace(self, old: Path, new: Path) -> None:
        os.replace(old, new)
        self.disk.rename(old.name, new.name)


def fill(disk: Disk, opened: EmbeddedOpened, count: int) -> None:
    """Commits, merges, trims and moves a cursor, and acknowledges each."""
    feed, epoch = Feed(1), opened.batches.begin()
    for number in range(count):
        commit_all(opened.batches, feed, [number % 4 + 2], epoch)
        disk.acknowledge(("batch", feed.end))
        opened.mailboxes.merge()
        opened.cursors.write({"ana": Cursor(number, frozenset({number + 2}))})
        disk.acknowledge(("cursor", number))
        if number % 8 == 7:
            opened.mailboxes.trim(feed.end // 3)


def check(image: Image, opened: EmbeddedOpened, count: int) -> None:
    told = dict(image.acknowledged)  # the last of each
    feed, progress = Feed(1), opened.batches.progress()
    for number in range(count):
        feed.batch(number % 4 + 2)
    end, start = progress.sequence, opened.mailboxes.starts_at()
    assert end >= told.get("batch", 0)
    assert end in (0, *feed.ends)
    cursor = opened.cursors.read("ana")
    if "cursor" in told:
        assert cursor is not None
        assert cursor.through >= told["cursor"]
    for name in SUBSCRIBERS:
        expected = [one for one in feed.queue(name, start) if one[0] < end]
        assert list(pull(opened.mailboxes, name, limit=1000)) == expected
    ends = [one for one in feed.ends if one <= end]
    feed = Feed(1, False, progress.position, feed.order[: progress.count], ends)
    commit_all(opened.batches, feed, [3], opened.batches.begin())
    opened.mailboxes.merge()
    assert list(pull(opened.mailboxes, "ana", limit=1000)) == feed.queue("ana", start)


@pytest.mark.parametrize(
    ("count", "each"), [(18, 1), pytest.param(40, 2, marks=pytest.mark.release)]
)
def test_after_power_cuts(count: int, each: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with scratch() as folder:
        with recorded_disk() as disk:

            def recorded(path: Path) -> RecordedFiles:
                disk.sync_names()
                return RecordedFiles(path, disk, monkeypatch)

            with embedded(folder / "store", "owner", SETTINGS, disk.vfs, recorded) as opened:
                disk.sync_names()
                fill(disk, opened, count)
        shown, with_files = 0, 0
        for image in disk.images(count, each):
            copy = folder / "copy"
            (copy / "segments").mkdir(parents=True)
            shutil.copy(folder / "store" / "format", copy)
            image.write(copy)
            for name in image.files:
                if not name.startswith(("batches.db", "log.db")):
                    (copy / name).rename(copy / "segments" / name)
                    with_files += 1
            with embedded(copy, settings=SETTINGS) as opened:
                check(image, opened, count)
            shutil.rmtree(copy)
            shown += 1
    assert shown > count * 10
    assert with_files
