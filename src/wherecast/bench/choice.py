"""The choice of the cases of an experiment."""

from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from wherecast.bench.progress import Doing, Row
from wherecast.model import ConfigError
from wherecast.model.names import did_you_mean

CaseRows = Callable[[int | None, int, Path], Iterator[Row | Doing]]
"""A function that yields the rows of a case, from a size, a seed and a directory of its own."""


def check_choice(noun: str, only: str | None, known: Collection[str]) -> None:
    """Raises ConfigError unless the choice is known; the error names similar choices, or all."""
    if only is not None and only not in known:
        hint = did_you_mean(only, known) or f"there are {', '.join(known)}"
        raise ConfigError(f"unknown {noun} {only}; {hint}")


def rows_of(
    cases: Mapping[str, CaseRows], only: str | None, size: int | None, seed: int
) -> Iterator[Row | Doing]:
    """The rows of one case, or of all cases, each with a temporary directory.

    Raises:
        ConfigError: the case is unknown.
    """
    check_choice("case", only, cases)
    for name, case in cases.items():
        if only in (None, name):
            with TemporaryDirectory(prefix="wherecast-bench-") as home:
                yield from case(size, seed, Path(home))
