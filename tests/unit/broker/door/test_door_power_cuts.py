"""What was said at the door holds after a power cut at any write, and what was received was stored.

The log and the batch records are cut at once: what passed the door is told before its record is
written, so a cut may leave the one without the other.
"""

import shutil
from contextlib import closing
from dataclasses import replace
from functools import partial
from threading import Event

import pytest

from tests.power_cut import Disk, Image, recorded_disk, scratch
from tests.seeds import random_of
from tests.unit.broker.feeding import SCHEMA, opened
from wherecast import Publication, Subscription
from wherecast.broker.dispatch.acknowledgement import Acknowledgement
from wherecast.broker.dispatch.courier import Courier
from wherecast.broker.door.door import Door
from wherecast.broker.door.door_calls import PendingRow
from wherecast.broker.inline_source import InlineSource
from wherecast.broker.intake.single_publication import SingleIntake
from wherecast.delivery import Cursor
from wherecast.store.contracts import Store
from wherecast.store.embedded import store as embedded_store
from wherecast.store.embedded.log import log as embedded_log
from wherecast.store.embedded.store import EmbeddedStore
from wherecast.store.sequences import moment_of

INTAKE = SingleIntake("default", SCHEMA)


class Life:
    """A door, a queue and a source, as a broker has them."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.courier = Courier(store, lambda first, end: None)
        self.courier.open("ana")
        self.source = InlineSource(store, self.courier, lambda: 0)
        self.door = Door(store, self.courier.cursors, self.source.follow)

    def publish(self, value: float) -> int:
        single = INTAKE.read(Publication({"no2": value}, f"id-{value}"), "p")
        assert single is not None
        offset: int = self.door.write(PendingRow(single, 0)).offset
        return offset

    def received(self) -> list[int]:
        return [one.sequence for one in self.courier.take("ana", 10_000, 0)]

    def match_all(self) -> None:
        self.source.wake()
        self.source.step(Event())


def fill(disk: Disk, store: Store, count: int) -> None:
    """Publishes, receives, acknowledges and records, and says what is durable."""
    random, life = random_of("door power cuts"), Life(store)
    assert not life.received()  # the queue knows now that nothing lies before
    with life.courier.listening("ana", lambda: None):
        for value in range(1, count + 1):
            disk.acknowledge(("published", life.publish(float(value)) + 1))
            got = life.received()
            if got:  # else they come once they have their record
                disk.acknowledge(("received", got[-1]))
            if got and random.random() < 0.4:
                through = random.choice(got)
                life.courier.acknowledge([("ana", Acknowledgement(through))])
                if random.random() < 0.5:
                    life.door.save_cursors()
                    disk.acknowledge(("acked", through))
            if random.random() < 0.3:
                life.match_all()


def check(image: Image, store: Store) -> None:
    told = dict(image.acknowledged)  # the last of each
    end = store.log.ends()[0]
    wanted = [moment_of(offset) for offset in range(end)]
    assert end >= told.get("published", 0)
    assert told.get("received", -1) <= max(wanted, default=-1)  # what was received was stored
    assert store.batches.progress().position[0] <= end
    cursor = store.cursors.read("ana") or Cursor()
    assert told.get("acked", -1) < cursor.through <= told.get("received", -1) + 1
    life = Life(store)
    life.match_all()
    assert life.received() == [one for one in wanted if one >= cursor.through]
    if end:
        assert life.publish(float(end)) == -1  # its id is known
    assert life.publish(float(end + 1)) == end


@pytest.fixture(autouse=True)
def _short_write_ahead_logs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Grown to a few pages, so that images are small, and emptied often."""
    for module in (embedded_log, embedded_store):
        layout = replace(module.LAYOUT, grown_pages=24, checkpoint_pages=12)
        monkeypatch.setattr(module, "LAYOUT", layout)


@pytest.mark.parametrize(
    ("count", "each"), [(4, 1), pytest.param(20, 2, marks=pytest.mark.release)]
)
def test_what_passed_the_door_after_power_cuts(
    count: int, each: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with scratch() as folder:
        with recorded_disk() as disk, monkeypatch.context() as patched:
            directory = partial(embedded_store.Directory, vfs=disk.vfs)
            patched.setattr(embedded_store, "Directory", directory)
            with closing(EmbeddedStore(folder / "store")) as store:
                disk.sync_names()
                registrar = opened(store)
                registrar.register("ana", 0)
                registrar.subscribe(Subscription("s1", "no2 > 0", "ana"), 0)
                ready = len(disk)
                fill(disk, store, count)
        shown = 0
        for image in disk.images(count, each):
            if image.point <= ready:
                continue
            copy = folder / "copy"
            copy.mkdir()
            shutil.copy(folder / "store" / "format", copy)
            image.write(copy)
            with closing(EmbeddedStore(copy)) as store:
                check(image, store)
            shutil.rmtree(copy)
            shown += 1
        assert shown > count * 4
        assert {"published", "received"} <= dict(image.acknowledged).keys()
