"""Cheaper garbage collection in Spark's Python workers.

PySpark's daemon runs a full collection after every task. A collection visits every object that the
collector tracks, so a task of a few rows would pay for all modules, filters and subscriptions of
its process. After a task that loaded something, this module collects once and then freezes the
remaining objects: later collections visit only newer objects.

Freezing hides reference cycles that become garbage afterwards. All other objects are freed as
usual, with their last reference. Two rules bound the hidden garbage: the next task that loads
something, and every thousandth task, unfreeze all objects, collect, and freeze again.

Concurrency: one thread at a time.
"""

import gc
import sys
from collections.abc import Hashable

TASKS_MAX = 1_000  # between two collections of all objects


class WorkerGarbage:
    """The state of freezing in one process.

    Args:
        tasks_max: number of tasks after which all objects are collected again.
    """

    def __init__(self, tasks_max: int = TASKS_MAX) -> None:
        self._tasks_max = tasks_max
        self._mark: Hashable = None
        self._tasks = 0

    def end_task(self, loaded: Hashable) -> bool:
        """Freezes the objects of the process if the task loaded something; returns whether so.

        Args:
            loaded: a value that changes whenever a task loads something.
        """
        mark = loaded, len(sys.modules)  # modules hold most objects of a young worker
        self._tasks += 1
        if mark == self._mark and self._tasks < self._tasks_max:
            return False
        self._mark, self._tasks = mark, 0
        gc.unfreeze()
        gc.collect()
        gc.freeze()
        return True


_garbage = WorkerGarbage()


def end_task(loaded: Hashable) -> None:
    """Freezes the objects of this process if it is a Spark worker whose task loaded something.

    Args:
        loaded: a value that changes whenever a task loads something.
    """
    from pyspark import TaskContext

    if TaskContext.get() is not None:  # only workers collect after every task
        _garbage.end_task(loaded)
