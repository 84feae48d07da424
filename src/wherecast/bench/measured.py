"""Measurements of an engine on a case: times, and the matches that prove the result right."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from wherecast.bench.case import Case
from wherecast.bench.progress import Row

_T = TypeVar("_T")
Ints = npt.NDArray[np.int64]


class WrongResult(AssertionError):
    """Two engines found different matches, or a system lost or invented results."""


@dataclass(frozen=True, eq=False)
class Measured:
    """The result of an engine on a case.

    Attributes:
        offsets: the boundaries of the matches of each publication; int64, shape
            (publications + 1,).
        numbers: the numbers of the matched filters, publication by publication; int64.
        row: the figures.
    """

    offsets: Ints
    numbers: Ints
    row: Row

    def pairs(self, rows: int) -> tuple[Ints, Ints]:
        """The pairs of publication and filter number of the first publications."""
        return pairs_of(self.offsets[: rows + 1], self.numbers)

    def hash_of(self, rows: int) -> str:
        """The hash of the matches of the first publications."""
        return pair_hash(*self.pairs(rows))


def pairs_of(offsets: Ints, numbers: Ints) -> tuple[Ints, Ints]:
    """Publications and filter numbers of all matches up to the last offset."""
    publications = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    return publications, numbers[: int(offsets[-1])]


def pair_hash(publications: Ints, numbers: Ints) -> str:
    """A hash of pairs of publication and filter number that does not depend on their order."""
    with np.errstate(over="ignore"):
        mixed = (publications.astype(np.uint64) << np.uint64(32)) | numbers.astype(np.uint64)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
        total = (mixed ^ (mixed >> np.uint64(31))).sum(dtype=np.uint64)
    return f"{int(total):016x}"


def timed_row(case: Case, engine: str, rows: int, seconds: list[float], matches: int) -> Row:
    """The figures of several runs of an engine on the same publications, from the median."""
    middle = median(seconds)
    return {
        **case.columns(engine),
        "publications": rows,
        "matches": int(matches),
        "matches/publication": int(matches) / rows,
        "publications/s": rows / middle,
        "matches/s": int(matches) / middle,
        "µs/publication": middle / rows * 1e6,
        "best µs/publication": min(seconds) / rows * 1e6,
        "repeats": len(seconds),
    }


def timed(call: Callable[[], _T]) -> tuple[float, _T]:
    """The seconds of a call, and its result."""
    started = perf_counter()
    result = call()
    return perf_counter() - started, result


def repeated(call: Callable[[], _T], times: int) -> tuple[list[float], _T]:
    """The seconds of each of `times` calls, and the result of the last."""
    seconds, result = timed(call)
    every = [seconds]
    for _ in range(times - 1):
        seconds, result = timed(call)
        every.append(seconds)
    return every, result
