import threading
from collections.abc import Sequence

import pytest

from wherecast.model.errors import StoreError
from wherecast.store.embedded.log.group_commit import GroupCommit

LIMIT_S = 60


class Held:
    """Commits that wait until the test lets them go on."""

    def __init__(self) -> None:
        self.groups: list[list[int]] = []
        self.began = threading.Semaphore(0)
        self.go_on = threading.Semaphore(0)

    def __call__(self, items: Sequence[int]) -> list[int]:
        self.groups.append(list(items))
        self.began.release()
        assert self.go_on.acquire(timeout=LIMIT_S)
        if any(item < 0 for item in items):
            raise ValueError(f"{min(items)} is bad")
        return [item * 2 for item in items]


class Submitted(threading.Thread):
    def __init__(self, group: GroupCommit[int, int], item: int) -> None:
        super().__init__()
        self.result: int | None = None
        self.error: Exception | None = None
        self._group = group
        self._item = item
        self.start()

    def run(self) -> None:
        try:
            self.result = self._group.submit(self._item)
        except (ValueError, StoreError) as error:
            self.error = error


def wait_for(group: GroupCommit[int, int], count: int) -> None:
    """Until so many items wait for the next commit."""
    limit = threading.Event()
    for _ in range(LIMIT_S * 1000):
        if group.waiting == count:
            return
        limit.wait(0.001)
    raise AssertionError(f"{group.waiting} wait, not {count}")


def started(group: GroupCommit[int, int], held: Held, items: Sequence[int]) -> list[Submitted]:
    """Threads that hand items in: the first commits alone, the others wait meanwhile, in order."""
    threads = [Submitted(group, items[0])]
    assert held.began.acquire(timeout=LIMIT_S)
    for count, item in enumerate(items[1:], 1):
        threads.append(Submitted(group, item))
        wait_for(group, count)
    return threads


def ended(threads: Sequence[Submitted]) -> None:
    for thread in threads:
        thread.join(LIMIT_S)
        assert not thread.is_alive()


def test_who_comes_during_a_commit_shares_the_next_one() -> None:
    held = Held()
    group = GroupCommit(held)
    threads = started(group, held, [0, 1, 2, 3, 4])
    held.go_on.release(2)
    ended(threads)
    assert held.groups == [[0], [1, 2, 3, 4]]
    assert [thread.result for thread in threads] == [0, 2, 4, 6, 8]


def test_a_group_has_a_limit() -> None:
    held = Held()
    group = GroupCommit(held, items_max=2)
    threads = started(group, held, [0, 1, 2, 3, 4, 5])
    held.go_on.release(4)
    ended(threads)
    assert held.groups == [[0], [1, 2], [3, 4], [5]]


def test_a_bad_item_fails_alone() -> None:
    held = Held()
    group = GroupCommit(held)
    threads = started(group, held, [0, 1, -2, 3])
    held.go_on.release(5)
    ended(threads)
    assert [thread.result for thread in threads] == [0, 2, None, 6]
    assert [str(thread.error) for thread in threads if thread.error] == ["-2 is bad"]


def test_an_interrupted_leader_leaves_nobody_waiting() -> None:
    begin = threading.Event()
    calls: list[list[int]] = []

    def commit(items: Sequence[int]) -> list[int]:
        calls.append(list(items))
        if len(calls) == 1:
            assert begin.wait(LIMIT_S)
            return list(items)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return list(items)

    group = GroupCommit(commit)
    first = Submitted(group, 1)
    for _ in range(LIMIT_S * 1000):
        if calls:
            break
        threading.Event().wait(0.001)
    interrupted: list[bool] = []

    def lead() -> None:
        try:
            group.submit(2)
        except KeyboardInterrupt:
            interrupted.append(True)
        except StoreError:
            interrupted.append(False)

    threads = [threading.Thread(target=lead) for _ in range(2)]
    for count, thread in enumerate(threads, 1):
        thread.start()
        wait_for(group, count)
    begin.set()
    for thread in (first, *threads):
        thread.join(LIMIT_S)
        assert not thread.is_alive()
    assert sorted(interrupted) == [False, True]  # the leader, and who shared its commit
    assert group.submit(3) == 3


def test_the_result_of_one() -> None:
    group: GroupCommit[int, None] = GroupCommit(lambda items: [None] * len(items))
    assert group.submit(1) is None
    with pytest.raises(ZeroDivisionError):
        GroupCommit[int, float](lambda items: [1 / item for item in items]).submit(0)
