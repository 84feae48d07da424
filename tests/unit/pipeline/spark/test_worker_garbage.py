"""Only what is new is frozen, and what freezing hides is found again."""

import gc
import weakref
from collections.abc import Iterator

import pytest

from wherecast.pipeline.spark import worker_garbage
from wherecast.pipeline.spark.worker_garbage import WorkerGarbage


@pytest.fixture(autouse=True)
def _thawed() -> Iterator[None]:
    yield
    gc.unfreeze()


class Node:
    """One end of a cycle of references."""

    def __init__(self) -> None:
        self.self = self


def test_what_is_left_after_a_collection_is_frozen_once() -> None:
    garbage, dead = WorkerGarbage(), weakref.ref(Node())
    assert garbage.end_task(1)
    assert dead() is None
    frozen = gc.get_freeze_count()
    assert frozen > 1_000
    newer = [Node() for _ in range(1_000)]
    assert not garbage.end_task(1)
    assert gc.get_freeze_count() < frozen + len(newer)  # another thread may free some


def test_a_cycle_that_was_frozen_is_found_when_something_is_loaded() -> None:
    garbage, node = WorkerGarbage(), Node()
    hidden = weakref.ref(node)
    garbage.end_task(1)
    del node
    gc.collect()
    assert hidden() is not None
    assert garbage.end_task(2)
    assert hidden() is None


def test_a_cycle_that_was_frozen_is_found_after_so_many_tasks() -> None:
    garbage, node = WorkerGarbage(tasks_max=3), Node()
    hidden = weakref.ref(node)
    garbage.end_task(1)
    del node
    assert [garbage.end_task(1) for _ in range(3)] == [False, False, True]
    assert hidden() is None


def test_a_process_that_is_no_worker_is_left_alone() -> None:
    pytest.importorskip("pyspark")
    before = gc.get_freeze_count()
    worker_garbage.end_task("anything")
    assert gc.get_freeze_count() == before
