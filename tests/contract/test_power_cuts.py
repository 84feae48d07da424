"""What was acknowledged is there after a power cut at any write."""

import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.contract.stores import Body, Place, bodies_in, changes, embedded_place, publications
from tests.power_cut import Disk, Image, recorded_disk, scratch
from wherecast.store.changes import compaction
from wherecast.store.changes.projection import replay
from wherecast.store.embedded.log import log as embedded_log
from wherecast.store.embedded.log import log_mark
from wherecast.store.embedded.log.log import EmbeddedLog
from wherecast.store.embedded.log.log_mark import MarkSync, read_mark
from wherecast.store.position import Position


@pytest.fixture(autouse=True)
def _short_write_ahead_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """Emptied every few commits, so that this is cut short, too."""
    monkeypatch.setattr(compaction, "CHANGES_MIN", 4)
    monkeypatch.setattr(compaction, "ROWS_MAX", 2)
    layout = replace(embedded_log.LAYOUT, checkpoint_pages=12)
    monkeypatch.setattr(embedded_log, "LAYOUT", layout)


def calls(count: int) -> list[Sequence[Body]]:
    """What is appended, call by call."""
    return [
        [
            Body(number * 10 + row, f"{number}-{row}", bytes(number % 7 * 200))
            for row in range(number % 3 + 1)
        ]
        for number in range(count)
    ]


def place_folder(place: Place) -> Path:
    log = place.log
    assert isinstance(log, EmbeddedLog)
    return log.database.path.parent


class RecordedMark:
    """The calls of `os` that the second place needs, recorded beside what SQLite does."""

    def __init__(self, disk: Disk) -> None:
        self.disk = disk

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def pwrite(self, descriptor: int, data: bytes, offset: int) -> int:
        self.disk.write_at("log.mark", offset, bytes(data))
        return os.pwrite(descriptor, data, offset)

    def sync(self, descriptor: int) -> None:
        os.fsync(descriptor)
        self.disk.sync_file("log.mark")


def fill(disk: Disk, place: Place, given: Sequence[Sequence[Body]]) -> None:
    """Appends, changes and trims, and acknowledges each."""
    for number, bodies in enumerate(given):
        receipt = place.log.append(publications(bodies), at=number)
        disk.acknowledge(("append", int(receipt.offsets[-1]) + 1))
        row = ("subscribe", "default", "ana", f"s{number % 2}", f"no2 > {number}")
        accepted = place.log.change(changes(row), at=number)
        disk.acknowledge(("change", accepted.version + 1))
        if number % 4 == 3:
            MarkSync(place_folder(place), every_s=0).run()
        if number % 5 == 4:
            to = place.log.ends()[0] // 2
            place.log.trim(Position({0: to}))


def check(image: Image, place: Place, given: Sequence[Sequence[Body]]) -> None:
    log = place.log
    told = dict(image.acknowledged)  # the last of each
    end, version = log.ends()[0], log.changes_end()
    assert end >= told.get("append", 0)
    assert version >= told.get("change", 0)
    bounds, expected = {0}, []
    for bodies in given:
        expected += bodies
        bounds.add(len(expected))
    assert end in bounds  # whole entries only
    start = log.starts()[0]
    assert start in bounds
    assert list(bodies_in(log, 0)) == expected[start:end]
    assert log.registry.subscriptions("ana") == replay(log, version).subscriptions("ana")
    filters = {f"s{number % 2}": f"no2 > {number}" for number in range(version)}
    assert {one.id: one.filter for one in log.registry.subscriptions("ana")} == filters
    assert not any(entry.damage for entry in log.changes(0, version))
    if start < end:
        again = log.append(publications([expected[end - 1], Body(-1)]), at=10**6)
        assert again.duplicates.tolist() == [True, False]
        assert again.offsets.tolist() == [-1, end]


@pytest.mark.parametrize(
    ("count", "each"), [(20, 3), pytest.param(60, 4, marks=pytest.mark.release)]
)
def test_the_log_after_power_cuts(count: int, each: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second place is cut short, too; a log is never refused for that."""
    given = calls(count)
    with scratch() as folder:
        with recorded_disk() as disk, monkeypatch.context() as patched:
            system = RecordedMark(disk)
            patched.setattr(log_mark, "os", system)
            patched.setattr(log_mark, "sync", system.sync)
            place = embedded_place(folder / "store", vfs=disk.vfs)
            disk.sync_names()
            fill(disk, place, given)
            assert next(place.log.changes(0, 1)).compacted_to
            place.close()
        shown, with_mark = 0, 0
        for image in disk.images(count, each):
            copy = folder / "copy"
            copy.mkdir()
            shutil.copy(folder / "store" / "format", copy)
            image.write(copy)
            with_mark += read_mark(copy) is not None
            place = embedded_place(copy)
            check(image, place, given)
            place.close()
            shutil.rmtree(copy)
            shown += 1
    assert shown > count * 20
    assert with_mark > shown // 2
