"""Latencies of single publications as columns of a row, and the lines of their distributions."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from wherecast.bench.progress import Row

SHARES = (0, 1, 2, 5, *range(10, 100, 5), 96, 97, 98, 99, 99.5, 99.9, 100)
"""The percentages of publications for which a row has the latency."""


def latency_columns(millis: Sequence[float]) -> Row:
    """The number of publications, their median, 99th percentile and worst, and the distribution.

    `quantiles ms` has pairs of a percentage and the latency within which so many arrived.
    """
    p50, p99 = np.percentile(millis, [50, 99]).tolist()
    quantiles = np.percentile(millis, SHARES).tolist()
    return {
        "publications": len(millis),
        "p50 ms": p50,
        "p99 ms": p99,
        "worst ms": max(millis),
        "quantiles ms": [list(pair) for pair in zip(SHARES, quantiles, strict=True)],
    }


def distributions(rows: Iterable[Row]) -> Mapping[str, Sequence[tuple[float, float]]]:
    """Points of latency and percentage for each row that has its distribution, by its name."""
    return {
        row["what"]: [(millis, share) for share, millis in row["quantiles ms"]]
        for row in rows
        if "quantiles ms" in row
    }
