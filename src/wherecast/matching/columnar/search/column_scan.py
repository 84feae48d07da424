"""Matching without trees: every conjunction on whole columns, in plain NumPy.

The obvious twin of the packed trees: their oracle, what serves where numba cannot be imported, and
for little work the faster of the two.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from wherecast.matching.columnar.layout import Exact
from wherecast.matching.columnar.predicates import Predicates
from wherecast.matching.columnar.slots import SlotColumn, keys_of

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
_RANGE, _SET, _NOT_SET, _MISSING = (  # NumPy compares with plain ints much sooner
    int(kind) for kind in (Exact.RANGE, Exact.SET, Exact.NOT_SET, Exact.MISSING)
)
_CHUNK = 1 << 20  # verdicts at a time
_SHORT = 1 << 16  # rows that a uint16 can number


def candidates(
    predicates: Predicates, columns: Sequence[SlotColumn], rows: int
) -> tuple[Ints, Ints]:
    """The pairs of publication and conjunction whose plain predicates hold.

    Shapes: two int64 [pairs], ordered by publication, then by conjunction.
    Cost: rows times predicates.
    """
    keys = [keys_of(column.values) for column in columns]
    present = [column.present() for column in columns]
    count = len(predicates.offsets) - 1
    step = max(1, _CHUNK // max(1, rows * (1 + len(predicates.kinds) // max(1, count))))
    none = np.zeros(0, np.int64)
    publications, conjunctions = [none], [none]
    for start in range(0, count, step):
        end = min(start + step, count)
        holds = _conjunctions(predicates, start, end, keys, present, rows)
        found, publication = np.nonzero(holds)
        conjunctions.append(found + start)
        publications.append(publication)
    pairs = np.concatenate(publications), np.concatenate(conjunctions)
    keyed = pairs[0].astype(np.uint16) if rows <= _SHORT else pairs[0]  # which sorts much sooner
    order = np.argsort(keyed, kind="stable")
    return pairs[0][order], pairs[1][order]


def _conjunctions(
    predicates: Predicates, start: int, end: int, keys: list[Ints], present: list[Bools], rows: int
) -> Bools:
    """Where some conjunctions hold, bool [conjunctions, rows]."""
    offsets = predicates.offsets[start : end + 1]
    first, last = int(offsets[0]), int(offsets[-1])
    each = np.empty((last - first, rows), bool)
    slots, kinds = predicates.slots[first:last], predicates.kinds[first:last]
    for slot in np.unique(slots).tolist():
        mine = np.flatnonzero(slots == slot)
        ranges = mine[kinds[mine] == _RANGE]
        lows, highs = predicates.lows[first + ranges], predicates.highs[first + ranges]
        within = (keys[slot] >= lows[:, None]) & (keys[slot] <= highs[:, None])
        each[ranges] = within if present[slot].all() else within & present[slot]
        others = mine[kinds[mine] != _RANGE]
        each[others] = present[slot]
        each[others[kinds[others] == _MISSING]] = ~present[slot]
        for place in others[(kinds[others] == _SET) | (kinds[others] == _NOT_SET)].tolist():
            low, high = predicates.lows[first + place], predicates.highs[first + place]
            inside = np.isin(keys[slot], predicates.keys[low:high])
            each[place] &= inside if kinds[place] == _SET else ~inside
    holds = np.ones((end - start, rows), bool)
    sizes = np.diff(offsets)
    for place in range(int(sizes.max(initial=0))):
        some = np.flatnonzero(sizes > place)
        holds[some] &= each[offsets[some] - first + place]
    return holds
