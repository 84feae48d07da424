"""Output of the commands: consoles, readable figures, a progress bar on terminals."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import Task as ProgressTask
from rich.progress_bar import ProgressBar
from rich.text import Text
from typing_extensions import override

from wherecast.pipeline.spark.session_settings import MASTER
from wherecast.pipeline.spark.session_status import Work

__all__ = ["MASTER", "console", "count", "progress", "rate", "seconds"]


def console(stderr: bool = False) -> Console:
    """A console, which writes plain text unless it is a terminal."""
    return Console(stderr=stderr, highlight=False)


def count(number: int, noun: str) -> str:
    """A number and what it counts: `1 match`, `2,000 matches`."""
    plural = noun if number == 1 else noun + ("es" if noun.endswith("ch") else "s")
    return f"{number:,} {plural}"


def seconds(duration: float) -> str:
    """A duration in seconds, to two decimals below 10 s."""
    return f"{duration:.2f} s" if duration < 10 else f"{duration:.0f} s"


def rate(number: int, duration: float) -> str:
    """A rate per second, to three digits."""
    value = number / duration if duration > 0 else 0.0
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


class _CurrentText(TextColumn):
    """A text that is computed whenever the bar is drawn."""

    def __init__(self, describe: Callable[[Work], str]) -> None:
        super().__init__("")
        self._describe = describe

    @override
    def render(self, task: ProgressTask) -> Text:
        return Text(self._describe(Work(int(task.completed), int(task.total or 0))))


class _Bar(BarColumn):
    """A bar of the running Spark tasks; without tasks it pulses."""

    def __init__(self, tasks: Callable[[], Work]) -> None:
        super().__init__(20)
        self._tasks = tasks

    @override
    def render(self, task: ProgressTask) -> ProgressBar:
        found = self._tasks()
        task.total, task.completed = found.total or None, found.finished
        return super().render(task)


@contextmanager
def progress(
    what: str,
    describe: Callable[[Work], str],
    tasks: Callable[[], Work] = Work,
    out: Console | None = None,
) -> Iterator[None]:
    """Shows a progress bar while the body runs, on a terminal only.

    Args:
        what: name of the work.
        describe: makes the text beside the bar from the tasks that the bar shows.
        tasks: returns the tasks that the bar shows; the thread that draws calls it.
        out: the console, on which other lines may be printed above the bar.
    """
    out = out or console()  # the start of Spark redirects standard error
    if not out.is_terminal:
        yield
        return
    columns = (
        SpinnerColumn(),
        TextColumn(what),
        _Bar(tasks),
        _CurrentText(describe),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=out, transient=True, refresh_per_second=5) as bar:
        bar.add_task(what, total=None)
        yield
