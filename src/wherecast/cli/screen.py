"""What commands share: consoles, figures for people, a progress bar on terminals."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import Task as ProgressTask
from rich.text import Text

from wherecast.pipeline.spark_settings import MASTER

__all__ = ["MASTER", "console", "count", "progress", "rate", "seconds"]


def console(stderr: bool = False) -> Console:
    """A console that writes plain text where it is not a terminal."""
    return Console(stderr=stderr, highlight=False)


def count(number: int, noun: str) -> str:
    """A number and what it counts: `1 match`, `2,000 matches`."""
    plural = noun if number == 1 else noun + ("es" if noun.endswith("ch") else "s")
    return f"{number:,} {plural}"


def seconds(duration: float) -> str:
    """A duration for people."""
    return f"{duration:.2f} s" if duration < 10 else f"{duration:.0f} s"


def rate(number: int, duration: float) -> str:
    """How many per second, to three digits."""
    value = number / duration if duration > 0 else 0.0
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


class _Told(TextColumn):
    """A text that is asked for whenever the bar is drawn."""

    def __init__(self, tell: Callable[[], str]) -> None:
        super().__init__("")
        self._tell = tell

    def render(self, task: ProgressTask) -> Text:
        """What there is to tell now."""
        return Text(self._tell())


@contextmanager
def progress(what: str, tell: Callable[[], str]) -> Iterator[None]:
    """A progress bar on a terminal, nothing elsewhere; `tell` gives what is beside it."""
    out = console()  # starting Spark takes standard error away for a while
    if not out.is_terminal:
        yield
        return
    columns = (SpinnerColumn(), TextColumn(what), BarColumn(20), _Told(tell), TimeElapsedColumn())
    with Progress(*columns, console=out, transient=True) as bar:
        bar.add_task(what, total=None)
        yield
