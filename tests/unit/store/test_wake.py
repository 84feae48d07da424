import multiprocessing
import os
import select
import signal
import threading
from pathlib import Path

import pytest

from wherecast.store.wake import Waiter, wake

SPAWN = multiprocessing.get_context("spawn")


def count_file(path: Path) -> int:
    return len(path.read_bytes()) if path.exists() else 0


def wait_in_a_process(folder: Path, counter: Path, ready: object, limit: int) -> None:
    waiter = Waiter(folder)
    ready.set()  # type: ignore[attr-defined]
    for number in range(limit):
        if not waiter.wait(lambda number=number: count_file(counter) > number, 60):
            os._exit(1)
    waiter.close()


def test_another_process_is_woken(tmp_path: Path) -> None:
    counter, ready = tmp_path / "counter", SPAWN.Event()
    process = SPAWN.Process(target=wait_in_a_process, args=(tmp_path / "wake", counter, ready, 200))
    process.start()
    assert ready.wait(60)
    for _ in range(200):
        with counter.open("ab") as file:
            file.write(b"x")
        wake(tmp_path / "wake")
    process.join(60)
    assert process.exitcode == 0
    assert os.listdir(tmp_path / "wake") == []


def test_who_died_is_forgotten(tmp_path: Path) -> None:
    ready = SPAWN.Event()
    process = SPAWN.Process(
        target=wait_in_a_process, args=(tmp_path / "wake", tmp_path / "counter", ready, 1)
    )
    process.start()
    assert ready.wait(60)
    os.kill(process.pid or 0, signal.SIGKILL)
    process.join(60)
    assert len(os.listdir(tmp_path / "wake")) == 1
    wake(tmp_path / "wake")
    assert os.listdir(tmp_path / "wake") == []


def test_a_waiter_that_does_not_read_blocks_nobody(tmp_path: Path) -> None:
    waiter = Waiter(tmp_path / "wake")
    for _ in range(10_000):
        wake(tmp_path / "wake")
    assert waiter.wait(lambda: True, 0)
    waiter.close()


def test_every_thread_is_woken(tmp_path: Path) -> None:
    waiter = Waiter(tmp_path / "wake")
    state = {"count": 0}
    woken: list[bool] = []

    def wait() -> None:
        for number in range(100):
            woken.append(waiter.wait(lambda number=number: state["count"] > number, 60))  # noqa: PERF401

    threads = [threading.Thread(target=wait) for _ in range(5)]
    for thread in threads:
        thread.start()
    for _ in range(100):
        state["count"] += 1
        wake(tmp_path / "wake")
    for thread in threads:
        thread.join(60)
    assert woken == [True] * 500
    waiter.close()


def test_a_commit_between_look_and_sleep_is_not_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wherecast.store.wake._LOOK_AGAIN_S", 60)
    waiter = Waiter(tmp_path / "wake")
    looks: list[bool] = []

    def look() -> bool:
        seen = bool(looks)
        looks.append(seen)
        if not seen:
            wake(tmp_path / "wake")  # after this look has its answer
        return seen

    assert waiter.wait(look, 5)
    assert looks == [False, True]
    waiter.close()


def test_a_byte_that_another_thread_read_is_not_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wherecast.store.wake._LOOK_AGAIN_S", 60)
    waiter = Waiter(tmp_path / "wake")
    looks: list[bool] = []
    answers = iter([False, True])  # so it reads the byte that comes between
    sleeps: list[object] = []
    poll = select.poll
    monkeypatch.setattr("select.poll", lambda: sleeps.append(1) or poll())

    def look() -> bool:
        seen = bool(looks)
        looks.append(seen)
        if not seen:
            wake(tmp_path / "wake")
            reader = threading.Thread(target=waiter.wait, args=(lambda: next(answers), 30))
            reader.start()
            reader.join(60)
        return seen

    assert waiter.wait(look, 5)
    assert looks == [False, True]
    assert len(sleeps) == 1  # of the other thread
    waiter.close()


def test_no_folder_is_no_trouble(tmp_path: Path) -> None:
    wake(tmp_path / "nothing")
    waiter = Waiter(tmp_path / "not" / "there")
    assert not waiter.wait(lambda: False, 0.01)
    waiter.close()
