"""A runner steps through its source, tells what hinders it, and ends with it."""

from threading import Event

import pytest

from wherecast import ConflictError, StoreError, WherecastError
from wherecast.broker.core_limits import Retention
from wherecast.broker.dispatch.courier import Courier
from wherecast.broker.runner import Runner
from wherecast.broker.tending import Tending
from wherecast.store.open_store import open_store

LIMIT_S = 60.0


class ScriptedSource:
    """Each step does what a script says; after its end the source waits to be woken."""

    task = "testing"
    figures = None

    def __init__(self, *script: StoreError | BaseException | None) -> None:
        self.problem: StoreError | None = None
        self.is_finished = False
        self.steps = list(script)
        self.is_through, self._wake = Event(), Event()

    def step(self, stopped: Event) -> None:
        if not self.steps:
            self.is_through.set()
            assert self._wake.wait(LIMIT_S)
            return
        done = self.steps.pop(0)
        if isinstance(done, BaseException) and not isinstance(done, StoreError):
            raise done
        self.problem = done

    def wake(self) -> None:
        self._wake.set()

    def hurry(self) -> None:
        raise AssertionError("nobody waits")

    def finish(self) -> None:
        self.is_finished = True


def runner_of(source: ScriptedSource, failed: Event) -> Runner:
    store = open_store("memory:")
    courier = Courier(store, lambda first, end: None)
    return Runner(source, Tending(store, courier, Retention(), lambda: None, lambda: 0), failed.set)


def test_a_problem_is_told_and_the_source_tries_again() -> None:
    source, failed = ScriptedSource(StoreError("full"), StoreError("still full")), Event()
    runner = runner_of(source, failed)
    runner.start()
    assert source.is_through.wait(LIMIT_S)
    assert str(runner.problem) == "still full"
    source.problem = None
    assert runner.problem is None
    runner.check()
    runner.stop()
    assert not failed.is_set()


@pytest.mark.parametrize(
    ("error", "kind", "text"),
    [
        (ValueError("a mistake"), WherecastError, "testing failed: a mistake"),
        (ConflictError("another broker took over"), ConflictError, "another broker took over"),
    ],
)
def test_an_error_ends_the_runner(error: Exception, kind: type[Exception], text: str) -> None:
    source, failed = ScriptedSource(None, error), Event()
    runner = runner_of(source, failed)
    runner.start()
    assert failed.wait(LIMIT_S)
    with pytest.raises(kind, match=text):
        runner.check()
    runner.stop()
