"""Counters: the publications of each publisher in a stream, numbered from 1 on without a gap."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from wherecast.arrays.vectors import array_of, filled, has_one_value, values_of
from wherecast.store.records import HEADERS

Ints = npt.NDArray[np.int64]
_COUNTER = HEADERS.get_field_index("counter")


def numbered(
    headers: pa.RecordBatch, last_of: Callable[[Sequence[str]], Sequence[int]]
) -> tuple[pa.RecordBatch, dict[str, int]]:
    """Headers with a counter for every publication of a publisher.

    A counter that a row has already, since the publication came over a link, stays; those of the
    same publisher go on behind it.

    Args:
        headers: of publications of one stream that are appended.
        last_of: gives the last counter of each of some publishers, 0 for a new one.

    Returns:
        The headers, and the last counter of each publisher that they name.

    Cost: arrays over rows; a loop over publishers only.
    """
    publishers = headers.column("publisher")
    count = len(publishers)
    if publishers.null_count == count:
        return headers, {}
    if headers.column("counter").null_count == count and has_one_value(publishers):
        name = publishers[0].as_py()  # as in most calls
        last = last_of([name])[0]
        counters = (
            pa.array(range(last + 1, last + count + 1), pa.int64())
            if count == 1
            else (array_of(np.arange(last + 1, last + count + 1)))
        )
        return _with(headers, counters), {name: last + count}
    encoded = publishers.dictionary_encode()
    names: list[str] = encoded.dictionary.to_pylist()
    codes = filled(encoded.indices, -1).astype(np.int64)
    lasts = np.array(last_of(names), np.int64)
    given = headers.column("counter")
    counters, is_given = filled(given, 0).copy(), values_of(given.is_valid())
    is_named = codes >= 0
    carried = is_named & is_given
    if carried.any():
        np.maximum.at(lasts, codes[carried], counters[carried])
    new = np.flatnonzero(is_named & ~is_given)
    counters[new] = lasts[codes[new]] + 1 + _ranks(codes[new])
    lasts += np.bincount(codes[new], minlength=len(names))
    column = array_of(counters)
    if not (is_named | is_given).all():
        column = pc.if_else(array_of(is_named | is_given), column, pa.scalar(None, pa.int64()))
    return _with(headers, column), dict(zip(names, lasts.tolist(), strict=True))


def _with(headers: pa.RecordBatch, counters: pa.Array) -> pa.RecordBatch:
    columns = headers.columns
    columns[_COUNTER] = counters
    return pa.RecordBatch.from_arrays(columns, schema=HEADERS)


def _ranks(codes: Ints) -> Ints:
    """The place of each row among the rows with the same code."""
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    starts = np.searchsorted(ordered, ordered)
    ranks = np.empty(len(codes), np.int64)
    ranks[order] = np.arange(len(codes)) - starts
    return ranks
