"""The planner: which entries share a tree, and on which dimensions.

Entries on the same set of attributes share a group where they are many, or where there are few
such sets. The others are keyed by their two most selective predicates; what a key leaves out is
decided on exact keys, for the entries that its box lets pass.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wherecast.matching.columnar.entries import Entries
from wherecast.matching.columnar.layout import DIMS_MAX, Exact
from wherecast.matching.columnar.predicates import Predicates

Ints = npt.NDArray[np.int64]
_OWN_MIN = 1_024
_SETS_MAX = 64
_KEY = 2


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """The groups of a forest.

    Attributes:
        group: int64 [entries], the group of each entry.
        is_dim: bool [sides], whether a side is a dimension of its entry's group.
        count: the number of groups.
    """

    group: Ints
    is_dim: npt.NDArray[np.bool_]
    count: int


def whole_sets(predicates: Predicates) -> npt.NDArray[np.bool_]:
    """The conjunctions whose group has all their attributes as dimensions, bool [conjunctions].

    Those are on a set of attributes that many others share, or one of few sets, or a small one.
    """
    sizes = np.diff(predicates.offsets)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    marks = predicates.slots.astype(np.int64) * 2 + (predicates.kinds == Exact.MISSING)
    every = np.ones(len(marks), bool)
    sets = _signatures(owner, marks, every, np.zeros(len(sizes), np.int64))
    _, of_set, members = np.unique(sets, return_inverse=True, return_counts=True)
    shared = (members[of_set] >= _OWN_MIN) | (len(members) <= _SETS_MAX)
    return (shared & (sizes <= DIMS_MAX)) | (sizes <= _KEY)


def plan_groups(
    entries: Entries,
    whole: npt.NDArray[np.bool_],
    selectivity: npt.NDArray[np.float64],
    extra: npt.NDArray[np.bool_],
) -> Plan:
    """The groups of entries.

    Args:
        entries: what is grouped.
        whole: bool [entries], those whose group has all their sides as dimensions.
        selectivity: float64 [sides], the chance that a publication satisfies each side.
        extra: bool [entries], those whose matches take the longer way.
    """
    owner = np.repeat(np.arange(len(entries)), np.diff(entries.offsets))
    marks = entries.slots.astype(np.int64) * 2 + entries.missing
    kinds = entries.check * 2 + extra
    rank = _ranks(owner, selectivity, entries.offsets)
    is_dim = np.where(whole[owner], rank < DIMS_MAX, rank < _KEY)
    keyed = _signatures(owner, marks, is_dim, kinds * 2 + ~whole)
    found, group = np.unique(keyed, return_inverse=True)
    return Plan(group.astype(np.int64), is_dim, len(found))


def _signatures(
    owner: Ints, marks: Ints, used: npt.NDArray[np.bool_], kinds: Ints
) -> npt.NDArray[np.uint64]:
    """A 64-bit hash per entry of the set of marks that it uses, and of its kind."""
    mixed = _mix(marks.astype(np.uint64) + np.uint64(1))
    total = _mix(kinds.astype(np.uint64) + np.uint64(0x5851F42D4C957F2D))
    np.add.at(total, owner[used], mixed[used])
    return total


def _mix(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """A bijection that spreads small numbers over 64 bits."""
    mixed = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def _ranks(owner: Ints, selectivity: npt.NDArray[np.float64], offsets: Ints) -> Ints:
    """The place of each side among those of its entry, the most selective first."""
    order = np.lexsort((selectivity, owner))
    ranks = np.empty(len(owner), np.int64)
    ranks[order] = np.arange(len(owner)) - offsets[:-1][owner[order]]
    return ranks
