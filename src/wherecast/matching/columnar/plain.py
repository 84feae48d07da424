"""Matching without trees: every conjunction on whole columns, in plain NumPy.

The obvious twin of the forest. It is its oracle, it serves where numba cannot be imported, and
for little work it is the faster of the two.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from wherecast.language.keys import float_keys
from wherecast.matching.columnar.layout import Exact
from wherecast.matching.columnar.predicates import Predicates
from wherecast.matching.columnar.slots import Column

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


def candidates(predicates: Predicates, columns: Sequence[Column], rows: int) -> tuple[Ints, Ints]:
    """The pairs of publication and conjunction whose plain predicates hold.

    Shapes: two int64 [pairs], ordered by conjunction.
    Cost: rows times predicates.
    """
    keys = [_keys(column) for column in columns]
    present = [_present(column, rows) for column in columns]
    publications, conjunctions = [], []
    offsets = predicates.offsets.tolist()
    for conjunction in range(len(offsets) - 1):
        holds = np.ones(rows, bool)
        for place in range(offsets[conjunction], offsets[conjunction + 1]):
            slot = int(predicates.slots[place])
            holds &= _holds(predicates, place, keys[slot], present[slot])
            if not holds.any():
                break
        found = np.flatnonzero(holds)
        publications.append(found)
        conjunctions.append(np.full(len(found), conjunction, np.int64))
    none = np.zeros(0, np.int64)
    return np.concatenate([none, *publications]), np.concatenate([none, *conjunctions])


def _keys(column: Column) -> Ints:
    if column.values.dtype == np.float64:
        return float_keys(column.values)  # type: ignore[arg-type]
    return column.values  # type: ignore[return-value]


def _present(column: Column, rows: int) -> Bools:
    return column.valid > 0 if len(column.valid) else np.ones(rows, bool)


def _holds(predicates: Predicates, place: int, keys: Ints, present: Bools) -> Bools:
    """Where one predicate holds."""
    kind, low, high = predicates.kinds[place], predicates.lows[place], predicates.highs[place]
    if kind == Exact.MISSING:
        return ~present
    if kind == Exact.RANGE:
        within: Bools = (keys >= low) & (keys <= high)
        return present & within
    if kind in (Exact.SET, Exact.NOT_SET):
        inside: Bools = np.isin(keys, predicates.keys[low:high])
        return present & (inside if kind == Exact.SET else ~inside)
    return present
