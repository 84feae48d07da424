"""What tasks of the pipeline on Spark do with their shares; the query itself is tested on Spark."""

import pytest

pytest.importorskip("pyspark")

import json
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import apsw
from pyspark.sql.datasource import InputPartition

import wherecast as wc
from wherecast.broker.broker_core import BrokerCore
from wherecast.broker.intake.intake import prepare
from wherecast.matching.kinds import KINDS
from wherecast.model import StoreError
from wherecast.pipeline.live import log_source
from wherecast.pipeline.live.batch_plan import Range
from wherecast.pipeline.live.log_source import LogReader
from wherecast.pipeline.live.micro_batch import SliceTask, TaskRange
from wherecast.pipeline.live.pipeline_figures import PipelineFigures
from wherecast.pipeline.live.slice import NotStoredError
from wherecast.store.contracts import Batches
from wherecast.store.open_store import open_store
from wherecast.store.position import Position

GAP = 2**24  # sequences between two offsets
SCHEMA = wc.Schema.from_dict({"no2": "int"})


class Shares:
    """A store with ten publications that are all for Ana, and tasks that match them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.index = "columnar"
        self.store = open_store(path)
        core = BrokerCore(self.store, SCHEMA, runs_pipeline=False)
        core.registrar.register("ana", 0)
        core.registrar.subscribe(wc.Subscription("s1", "no2 >= 0", "ana"), 0)
        given = [wc.Publication({"no2": number}) for number in range(10)]
        self.store.log.append(prepare(given, "default", SCHEMA).good, 0)
        self.epoch = self.store.batches.begin()

    def run(self, first: int, end: int, start: int | None = None, epoch: int | None = None) -> None:
        """What one task does."""
        begin = Position({0: first if start is None else start}).to_json()
        share = TaskRange(Range(0, first, end), begin, self.store.log.changes_end())
        own = self.epoch if epoch is None else epoch
        options = {"path": str(self.path), "epoch": str(own), "index": self.index}
        assert list(LogReader(options).read(share)) == []

    def queued(self) -> list[int]:
        """The offsets that Ana is notified of."""
        return [one // GAP for one in self.store.mailboxes.queued("ana", 0, 100).sequences.tolist()]

    def close(self) -> None:
        for stores in (log_source._planner_stores, log_source._worker_stores):
            store = stores.pop(str(self.path), None)
            if store is not None:
                store.close()
        for key in [key for key in log_source._caches if key[0] == str(self.path)]:
            del log_source._caches[key]
        self.store.close()


@pytest.fixture
def shares(tmp_path: Path) -> Iterator[Shares]:
    made = Shares(tmp_path / "store")
    yield made
    made.close()


def test_a_task_commits_what_it_matches(shares: Shares) -> None:
    shares.run(0, 4)
    assert shares.store.batches.progress().position[0] == 4
    assert shares.queued() == [0, 1, 2, 3]
    shares.run(4, 10)
    assert shares.queued() == list(range(10))


def test_a_worker_opens_one_store(shares: Shares) -> None:
    shares.run(0, 4)
    assert str(shares.path) in log_source._worker_stores
    assert str(shares.path) not in log_source._planner_stores


def test_what_the_stage_made_is_not_looked_into_again(
    shares: Shares, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise AssertionError("the store looks into it")

    monkeypatch.setattr("wherecast.store.sequences.problem_of", refused)
    shares.run(0, 4)
    assert shares.queued() == [0, 1, 2, 3]


def test_a_task_that_is_tried_again_commits_nothing_twice(shares: Shares) -> None:
    for _ in range(2):
        shares.run(0, 4)
    assert shares.queued() == [0, 1, 2, 3]
    assert len(shares.store.batches.records(0, 10 * GAP)) == 1


def test_a_share_waits_for_the_one_before_it(
    shares: Shares, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits, await_turn = Event(), log_source.await_turn

    def told(batches: Batches, range_: Range, within_s: float) -> None:
        waits.set()
        await_turn(batches, range_, within_s)

    monkeypatch.setattr(log_source, "await_turn", told)
    with ThreadPoolExecutor(1) as pool:
        second = pool.submit(shares.run, 4, 10, 0)
        assert waits.wait(60)
        shares.run(0, 4)
        second.result()
    assert shares.queued() == list(range(10))


def test_a_share_does_not_wait_without_end(shares: Shares, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_source, "_TURN_WITHIN_S", 0.01)
    with pytest.raises(StoreError, match="before publication 4 was not committed in time") as told:
        shares.run(4, 10, start=0)
    assert not isinstance(told.value, NotStoredError)  # that would be tried without an end
    assert shares.store.batches.progress().sequence == 0


def test_a_pipeline_that_was_replaced_commits_nothing(shares: Shares) -> None:
    shares.store.batches.begin()
    with pytest.raises(wc.ConflictError, match="pipeline 1 was replaced by pipeline 2"):
        shares.run(0, 4)
    assert shares.queued() == []


def test_what_cannot_be_stored_is_told_apart(
    shares: Shares, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise apsw.FullError("no space")

    monkeypatch.setattr("wherecast.store.embedded.batches.batches.insert_batch", full)
    with pytest.raises(NotStoredError, match=re.escape("disk full")):
        shares.run(0, 4)


def done(shares: Shares) -> PipelineFigures:
    """What whoever reads the store sees that was done."""
    return PipelineFigures.of_parts(shares.store.figures.read())


def test_the_store_has_what_was_done(shares: Shares) -> None:
    shares.run(0, 4)
    shares.run(4, 10)
    figures = done(shares)
    counted = figures.batches, figures.publications, figures.matches, figures.filters
    assert counted == (2, 10, 10, 1)
    assert {"subscriptions", "decode", "match", "group", "commit"} <= figures.seconds.keys()
    assert [part.part for part in shares.store.figures.read()] == ["share-0"]


def test_where_figures_cannot_be_written_a_batch_is_committed_all_the_same(shares: Shares) -> None:
    (shares.path / "figures").write_text("no folder")
    shares.run(0, 4)
    assert shares.queued() == [0, 1, 2, 3]
    assert done(shares).batches == 0


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_index_matches_alike(shares: Shares, kind: str) -> None:
    shares.index = kind
    shares.run(0, 10)
    assert shares.queued() == list(range(10))


class Planner:
    """What plans the micro-batches of a query; offsets go through JSON, as Spark has them."""

    def __init__(self, shares: Shares, **options: str) -> None:
        given = {"path": str(shares.path), "epoch": str(shares.epoch), **options}
        self.reader = LogReader(given)
        self.start: dict[str, Any] = self.reader.initialOffset()

    def next(self) -> list[InputPartition] | None:
        """The tasks of the next micro-batch; None if there is none for now."""
        end = self.reader.latestOffset(self.start, self.reader.getDefaultReadLimit())
        if json.dumps(end) == json.dumps(self.start):
            return None
        start, self.start = self.start, json.loads(json.dumps(end))
        return list(self.reader.partitions(start, self.start))


def ranges(tasks: Sequence[InputPartition] | None) -> list[tuple[int, int]]:
    """The offsets of tasks that are no slices."""
    assert tasks is not None
    assert all(isinstance(task, TaskRange) for task in tasks)
    return [(task.range.first, task.range.end) for task in tasks if isinstance(task, TaskRange)]


def test_batches_are_planned_from_what_is_committed(shares: Shares) -> None:
    planner = Planner(shares, maxRows="4")
    for first, end in ((0, 4), (4, 8), (8, 10)):
        assert ranges(planner.next()) == [(first, end)]
        shares.run(first, end)
    assert planner.next() is None


def test_slices_follow_one_another(shares: Shares, tmp_path: Path) -> None:
    stop = tmp_path / "stop"
    planner = Planner(shares, sliceS="600", backlog="1", stopFile=str(stop))
    for _ in range(2):  # with one task a backlog does not matter
        assert [type(task) for task in planner.next() or ()] == [SliceTask]
    stop.touch()
    assert planner.next() is None


def test_a_backlog_is_cut_into_the_ranges_of_several_tasks(
    shares: Shares, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_source, "_TASK_MIN", 2)
    planner = Planner(shares, sliceS="600", backlog="6", tasks="2", maxRows="8")
    assert ranges(planner.next()) == [(0, 4), (4, 8)]
    shares.run(0, 8)
    assert [type(task) for task in planner.next() or ()] == [SliceTask]
    shares.run(8, 10)


def test_a_query_to_the_end_of_the_log_has_positions(shares: Shares) -> None:
    planner = Planner(shares, sliceS="600", maxRows="6")
    planner.reader.prepareForTriggerAvailableNow()
    shares.store.log.tick(0)  # comes too late
    assert ranges(planner.next()) == [(0, 6)]
    shares.run(0, 6)
    assert ranges(planner.next()) == [(6, 10)]
    shares.run(6, 10)
    assert planner.next() is None


def test_a_task_that_stays_commits_what_it_matches(shares: Shares, tmp_path: Path) -> None:
    stop = tmp_path / "stop"
    options = {"path": str(shares.path), "epoch": str(shares.epoch), "sliceS": "600"}
    reader = LogReader({**options, "stopFile": str(stop), "maxRows": "3"})
    with ThreadPoolExecutor(1) as pool:
        staying = pool.submit(reader.read, SliceTask())
        assert shares.store.batches.wait(lambda progress: progress.position[0] == 10, 60)
        stop.touch()
        shares.store.log.wake()
        assert list(staying.result(60)) == []
    assert shares.queued() == list(range(10))
    assert len(shares.store.batches.records(0, 10 * GAP)) == 4
    figures = done(shares)
    assert (figures.batches, figures.publications, figures.matches) == (4, 10, 10)
