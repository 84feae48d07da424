"""A real process beside this one: it is read while it writes, and killed at any point."""

import os
import signal
import subprocess
import sys
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from tests.contract.feed import GAP, SUBSCRIBERS, Feed, pull
from tests.contract.places import embedded
from tests.contract.stores import bodies_in
from tests.seeds import jobs, random_of
from tests.unit.store.embedded.victim import EACH, FILES, batch_at
from wherecast.store.contracts import Log
from wherecast.store.crash_points import POINTS
from wherecast.store.embedded.check.check_store import check_store
from wherecast.store.embedded.store import EmbeddedStore
from wherecast.store.position import Position
from wherecast.store.records import Progress
from wherecast.store.segments.merging import FAN_IN

ROOT = Path(__file__).parents[4]
FIRST = list({point.partition(".")[0]: point for point in reversed(POINTS)}.values())  # of a step


def start(path: Path, batches: int, crash_at: str = "") -> subprocess.Popen[str]:
    search = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, "-m", "tests.unit.store.embedded.victim", str(path), str(batches)],
        env={**os.environ, "WHERECAST_CRASH_AT": crash_at, "PYTHONPATH": search},
        stdout=subprocess.PIPE,
        text=True,
    )


def is_beyond(count: int, progress: Progress) -> bool:
    return progress.count > count


def acknowledged(output: str) -> dict[str, int]:
    """The last append, change, batch and cursor that returned."""
    last = {"log": 0, "change": 0, "batch": 0, "cursor": 0}
    for line in output.splitlines(keepends=True):
        if line.endswith("\n"):
            what, number = line.split()
            last[what] = int(number)
    return last


def check(path: Path, output: str) -> None:
    """What returned is there, what is there is right, and it goes on."""
    last = acknowledged(output)
    assert [one.problem for one in check_store(path) if one.problem] == []
    with closing(EmbeddedStore(path, "reader")) as store:
        written, start = [body.number for body in bodies_in(store.log, 0)], store.log.starts()[0]
        assert written == list(range(start, start + len(written)))
        assert start + len(written) >= last["log"]
        assert (start + len(written)) % EACH == 0
        assert store.log.changes_end() >= last["change"]
        check_marks(store.log)
    with embedded(path, settings=FILES) as opened:
        end = opened.batches.progress().count
        assert end >= last["batch"]
        assert end % EACH == 0
        cursor = opened.cursors.read("ana")
        assert (cursor.through if cursor else 0) >= last["cursor"] * GAP
        epoch = opened.batches.begin()
        opened.batches.commit(batch_at(end), epoch)
        while opened.mailboxes.merge():
            pass
        feed = Feed(1, order=[(0, offset) for offset in range(end + EACH)])
        for name in SUBSCRIBERS:
            assert list(pull(opened.mailboxes, name)) == feed.queue(name)
        opened.mailboxes.merge()
        opened.batches.begin()
        rows = opened.database.path.parent / "segments"
        with opened.database.reading() as connection:
            named = connection.execute("SELECT count(*) FROM segments").fetchone()
        assert named == (len(list(rows.iterdir())),)


def check_marks(log: Log) -> None:
    """The mark of the link and the counters of the publisher moved with the rows."""
    end = log.ends()[0]
    marks = log.link_marks()
    assert {name: mark.position for name, mark in marks.items()} == (
        {"hub": Position({0: end})} if end else {}
    )
    for entry in log.read(0, 0, end, headers=True):
        assert entry.source == "hub"
        assert entry.headers is not None
        counters = entry.headers.column("counter").to_pylist()
        assert counters == list(range(entry.first + 1, entry.end + 1))


def test_another_process_is_woken_and_reads_while_segments_are_merged(tmp_path: Path) -> None:
    batches = 10 * FAN_IN
    process = start(tmp_path / "store", batches)
    assert process.stdout is not None
    process.stdout.readline()  # the store is there
    feed = Feed(1, order=[(0, offset) for offset in range(batches * EACH)])
    with embedded(tmp_path / "store", "reader") as reader:
        at = 0
        while at < batches * EACH:
            assert reader.batches.wait(partial(is_beyond, at), 60)
            at = reader.batches.progress().count
            for name in SUBSCRIBERS:
                page = reader.mailboxes.queued(name, 0, 10_000)
                assert page.end >= at * GAP
                found = list(zip(page.sequences.tolist(), page.subscription_ids, strict=True))
                assert found == [one for one in feed.queue(name) if one[0] < page.end]
    process.communicate(timeout=60)
    assert process.returncode == 0


@pytest.mark.parametrize(
    "point",
    [*FIRST, *(pytest.param(one, marks=pytest.mark.release) for one in POINTS if one not in FIRST)],
)
def test_a_kill_at_a_point(tmp_path: Path, point: str) -> None:
    process = start(tmp_path / "store", 40, f"{point}:2")
    output, _ = process.communicate(timeout=120)
    assert process.returncode == -signal.SIGKILL
    check(tmp_path / "store", output)


@pytest.mark.slow
@pytest.mark.parametrize("job", jobs(5, in_make_test=1, in_release=3))
def test_a_kill_at_any_instant(tmp_path: Path, job: int) -> None:
    process = start(tmp_path / "store", 100_000)
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(random_of(job).randrange(1, 60))]
    process.kill()
    output, _ = process.communicate(timeout=120)
    check(tmp_path / "store", "".join(lines) + output)
