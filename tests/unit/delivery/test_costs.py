"""What a queue costs, counted in steps and bytes: neither depends on how busy the machine is."""

import sys
import tracemalloc
from collections.abc import Callable
from random import Random
from types import FrameType
from typing import Any

import pytest

from wherecast.delivery import Cursor, LoadNotifications, Queue, QueueLimits

LIMITS = QueueLimits(held_max=20_000, in_flight_max=20_000, acknowledgements_max=10_000)


class Counted(int):
    """A sequence whose comparisons are counted: those of the built-in types too."""

    compared = 0

    def __lt__(self, other: int) -> bool:
        Counted.compared += 1
        return int(self) < int(other)

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return int(self) == other

    __hash__ = int.__hash__


def steps(work: Callable[[], object]) -> int:
    """How many lines of the queue's code a piece of work runs, and how much it compares."""
    lines = 0

    def trace(frame: FrameType, what: str, _: Any) -> Any:
        nonlocal lines
        if "delivery" not in frame.f_code.co_filename:
            return None
        lines += what == "line"
        return trace

    before, Counted.compared = sys.gettrace(), 0
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return lines + Counted.compared


def filled(size: int) -> tuple[Queue, list[Counted]]:
    queue = Queue(Cursor(), 0, limits=LIMITS)
    queue.take(1)
    sequences = [Counted(3 * number) for number in range(size)]
    queue.notified(0, 3 * size, [(sequence, ("s",)) for sequence in sequences])
    return queue, sequences


def in_order(sequences: list[Counted], order: str) -> list[Counted]:
    if order == "random":
        return Random(7).sample(sequences, len(sequences))
    return sequences[::-1] if order == "descending" else sequences


@pytest.mark.parametrize("order", ["ascending", "descending", "random"])
def test_single_acknowledgements_in_any_order(order: str) -> None:
    def cost(size: int) -> float:
        queue, sequences = filled(size)
        queue.take(size)
        wanted = in_order(sequences, order)

        def acknowledge() -> None:
            for sequence in wanted:
                queue.ack([sequence])

        count = steps(acknowledge)
        assert queue.cursor == Cursor(3 * size)
        return count / size

    assert cost(10_000) < 1.5 * cost(500)  # the heap's logarithm is in it


def test_push_with_a_small_window() -> None:
    def cost(size: int) -> float:
        queue, sequences = filled(size)
        queue.connect(1, window=2)

        def acknowledge() -> None:
            for sequence in sequences:
                queue.ack([sequence])

        return steps(acknowledge) / size

    assert cost(10_000) < 1.2 * cost(500)


def test_a_small_pull_and_a_reconnection_of_a_long_queue() -> None:
    def cost(size: int) -> float:
        queue, sequences = filled(size)
        queue.take(size)
        queue.ack(sequences[1 : size // 2])

        def use() -> None:
            queue.take(2)
            queue.connect(1, window=2)
            queue.disconnect(1)
            queue.notified(3 * size, 3 * size + 1, [])
            queue.committed(3 * size + 1)

        return steps(use)

    assert cost(10_000) <= cost(500)


@pytest.mark.parametrize("window", [1, 50, 60, 100])
def test_a_load_brings_many_however_slowly_they_are_acknowledged(window: int) -> None:
    size, loads, answers = 1_000, 0, 0
    queue = Queue(Cursor(), size, limits=QueueLimits(held_max=100, in_flight_max=window))
    effects = queue.connect(1)
    while queue.cursor.through < size:
        load = next((effect for effect in effects if isinstance(effect, LoadNotifications)), None)
        if load:
            loads += 1
            end = min(load.start + load.limit, size)
            sequences = range(load.start, end)
            effects = queue.loaded(load.start, sequences, [["s"]] * len(sequences), end)
        else:
            effects = queue.ack([queue.cursor.through])
            answers += 1
    assert answers == size
    assert loads <= size / 50


def test_an_idle_queue_is_small() -> None:
    count = 1_000
    tracemalloc.start()
    try:
        queues = [Queue(Cursor(10**6 + number), 10**7 + number) for number in range(count)]
        took, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert took / len(queues) < 400


def test_a_released_queue_is_as_small_as_an_idle_one() -> None:
    queue, _ = filled(100)
    assert queue.figures.queued == 100
    queue.release()
    fresh = Queue(Cursor(), 0)
    assert queue._backlog.held is fresh._backlog.held
    queue.committed(300)
    assert queue.take(1) == LoadNotifications(0, LIMITS.held_max)
