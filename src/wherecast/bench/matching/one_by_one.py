"""Publications one by one: calls of `match_one` per second of processor time."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from time import process_time
from typing import Any

import numpy as np

from wherecast.bench.case import Case, batch_of, filters_of
from wherecast.bench.measured import WrongResult, pair_hash, pairs_of
from wherecast.bench.progress import Doing, Row
from wherecast.matching import Index

ONE_BY_ONE = "one by one"
NO_NUMBA = "no numba"
_SIZES = (10_000, 100_000, 1_000_000)
_NO_NUMBA_FILTERS = 10_000
_PUBLICATIONS, _LISTED = 2_000, 200  # for each call of `match_one`, and of `match` of a list of one
_REPEATS = 7
_SCRIPT = """
import sys
sys.modules["numba"] = None
from wherecast.bench.matching.one_by_one import print_row
print_row({filters}, {seed})
"""


def one_by_one(size: int | None, seed: int) -> Iterator[Row | Doing]:
    """A row for each size of the alerts, and one of a process that cannot import numba.

    Raises:
        WrongResult: `match_one` and `match` disagree.
    """
    for filters in sorted({min(each, size or each) for each in _SIZES}):
        yield Doing(f"{ONE_BY_ONE}, {filters:,} filters")
        yield row_of(filters, seed, "match_one")
    filters = min(_NO_NUMBA_FILTERS, size or _NO_NUMBA_FILTERS)
    yield Doing(f"{ONE_BY_ONE}, {filters:,} filters, {NO_NUMBA}")
    run = subprocess.run(
        [sys.executable, "-c", _SCRIPT.format(filters=filters, seed=seed)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    yield json.loads(run.stdout)


def print_row(filters: int, seed: int) -> None:
    """Prints the row of this process, which cannot import numba, as JSON."""
    print(json.dumps(row_of(filters, seed, f"match_one, {NO_NUMBA}")))


def row_of(filters: int, seed: int, engine: str) -> Row:
    """The row of one size.

    Raises:
        WrongResult: `match_one` and `match` disagree.
    """
    case = Case("alerts", filters, _PUBLICATIONS, ONE_BY_ONE)
    workload = case.make(seed)
    index, batch = Index(workload.schema), batch_of(workload, _PUBLICATIONS)
    index.add_all(filters_of(workload, filters))
    matches = index.match(batch)
    rows = [{n: v for n, v in row.items() if v is not None} for row in batch.to_pylist()]
    found = _hash_of([index.match_one(row) for row in rows])
    expected = pair_hash(*pairs_of(matches.offsets, matches.indices.astype(np.int64)))
    if found != expected:
        raise WrongResult(f"{case.about}: match_one found {found}, match {expected}")
    seconds = _seconds(index.match_one, rows, _REPEATS)
    listed = _seconds(lambda row: index.match([row]), rows[:_LISTED], 3)
    return {
        **case.columns(engine),
        "publications": len(rows),
        "matches": len(matches.indices),
        "matches/publication": len(matches.indices) / len(rows),
        "calls/s": 1 / seconds,
        "CPU µs/call": seconds * 1e6,
        "CPU µs/call of match": listed * 1e6,
        "times match": seconds / listed,
        "hash": found,
    }


def _hash_of(found: Sequence[Sequence[Any]]) -> str:
    """The hash of the ids of each publication; the id of a filter is its number."""
    offsets = np.concatenate([[0], np.cumsum([len(ids) for ids in found])])
    numbers = np.array([id for ids in found for id in ids], np.int64)
    return pair_hash(*pairs_of(offsets, numbers))


def _seconds(
    call: Callable[[dict[str, Any]], Any], rows: Sequence[dict[str, Any]], repeats: int
) -> float:
    """The processor time of a call, the median of several rounds."""
    every = []
    for _ in range(repeats):
        started = process_time()
        for row in rows:
            call(row)
        every.append((process_time() - started) / len(rows))
    return median(every)
