"""After a power cut at any write, a link's mark stands where its rows end, and counters go on."""

import shutil
from dataclasses import replace

import pytest

from tests.contract.stores import Body, Place, embedded_place, publications, withdrawals
from tests.power_cut import Disk, Image, recorded_disk, scratch
from wherecast.store.embedded.log import log as embedded_log
from wherecast.store.position import Position
from wherecast.store.records import LinkMark

CALLS = 18


@pytest.fixture(autouse=True)
def _short_write_ahead_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """Emptied every few commits, so that this is cut short, too."""
    layout = replace(embedded_log.LAYOUT, checkpoint_pages=12)
    monkeypatch.setattr(embedded_log, "LAYOUT", layout)


def fill(disk: Disk, place: Place) -> None:
    """Appends rows of a link, each call with its mark, and between them rows without one."""
    for number in range(CALLS):
        mark = LinkMark("hub", "other", "1", Position({0: number + 1}))
        if number % 3 == 2:
            place.log.withdraw(withdrawals(f"{number}"), number, mark)
        else:
            bodies = [Body(number, f"{number}-{row}", bytes(300), "p") for row in range(3)]
            place.log.append(publications(bodies), number, mark)
        disk.acknowledge(("mark", number + 1))
        if number % 4 == 3:
            place.log.tick(number)
            place.log.append(publications([Body(-1, "old-1", None, "p")]), number)


def check(image: Image, place: Place) -> None:
    log = place.log
    told = dict(image.acknowledged).get("mark", 0)
    entries = list(log.read(0, 0, log.ends()[0], headers=True, payloads=True))
    assert not any(entry.damage for entry in entries)
    calls = [entry.accepted_at for entry in entries if entry.source == "hub"]
    assert calls == list(range(len(calls)))
    assert told <= len(calls)
    marks = log.link_marks()
    assert (marks["hub"].position[0] if marks else 0) == len(calls)
    counters = []
    for entry in entries:
        assert entry.headers is not None
        if entry.kind == "publication":
            counters += entry.headers.column("counter").to_pylist()
    assert counters == list(range(1, len(counters) + 1))
    receipt = log.append(publications([Body(0, None, None, "p")]), CALLS)
    [entry] = log.read(0, int(receipt.offsets[0]), log.ends()[0], headers=True)
    assert entry.headers is not None
    assert entry.headers.column("counter").to_pylist() == [len(counters) + 1]
    assert entry.accepted_at == CALLS


def test_marks_and_counters_after_power_cuts() -> None:
    shown = 0
    with scratch() as folder:
        with recorded_disk() as disk:
            place = embedded_place(folder / "store", vfs=disk.vfs)
            disk.sync_names()
            fill(disk, place)
            place.close()
        for image in disk.images(CALLS, 3):
            copy = folder / "copy"
            copy.mkdir()
            shutil.copy(folder / "store" / "format", copy)
            image.write(copy)
            place = embedded_place(copy)
            check(image, place)
            place.close()
            shutil.rmtree(copy)
            shown += 1
    assert shown > CALLS * 20
