"""The planner: which entries share a tree, and on which dimensions.

Entries on the same set of attributes share a group where they are many, or where there are few
such sets. The others are keyed by the two sides that a publication satisfies least often, given how
often it has the attribute at all, or by one where few entries of the two would pass it: a group
costs a publication more than a few entries do. Their other sides are compared one by one. Where
even such a key lets many publications pass, a key would ruin the index: those entries share one
tree on the attributes that most of them name, and leave open what they do not name.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wherecast.matching.columnar.layout import DIMS_MAX, Exact
from wherecast.matching.columnar.packing.entries import Entries
from wherecast.matching.columnar.predicates import Predicates

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
_OWN_MIN = 1_024
_SETS_MAX = 64
_KEY = 2
_PAIR_PASSING_MIN = 2.0  # entries that pass a first side; for fewer a second is no dimension
_KEY_CHANCE_MAX = 1 / 64  # of a publication to pass a key; above it, the key is a bad one


@dataclass(frozen=True, slots=True, eq=False)
class GroupPlan:
    """Which group each entry goes to, and on which dimensions the groups are.

    Attributes:
        group: int64 [entries], the group of each entry.
        is_dim: bool [sides], whether a side is a dimension of its entry's group.
        shared: bool [groups], those whose entries do not all name the same attributes.
    """

    group: Ints
    is_dim: Bools
    shared: Bools


def whole_sets(predicates: Predicates) -> Bools:
    """The conjunctions whose group has all their attributes as dimensions, bool [conjunctions].

    Those are on a set of attributes that many others share, or one of few sets, or a single one.
    """
    sizes = np.diff(predicates.offsets)
    marks = predicates.slots.astype(np.int64) * 2 + (predicates.kinds == Exact.MISSING)
    of_set, count = classes_of(sizes, marks, np.zeros(len(sizes), np.int64))
    return (are_shared(of_set, count) & (sizes <= DIMS_MAX)) | (sizes <= 1)


def are_shared(of_class: Ints, count: int) -> Bools:
    """Which of many things are in a class that is worth a group: a large one, or one of few."""
    members = np.bincount(of_class, minlength=count)
    return (members[of_class] >= _OWN_MIN) | (count <= _SETS_MAX)


def plan_groups(
    entries: Entries, whole: Bools, chance: npt.NDArray[np.float64], kinds: Ints
) -> GroupPlan:
    """The groups of entries.

    Args:
        entries: what is grouped.
        whole: bool [entries], those whose group has all their sides as dimensions.
        chance: float64 [sides], how likely a publication satisfies each side.
        kinds: int64 [entries]; only entries of the same kind share a group.
    """
    owner = np.repeat(np.arange(len(entries)), np.diff(entries.offsets))
    is_dim, shared = np.ones(len(owner), bool), np.zeros(len(entries), bool)
    kinds = kinds * 8 + entries.check * 2 + ~whole
    if not whole.all():
        rank = _ranks(owner, chance, entries.offsets)
        is_dim = whole[owner] | (rank < _KEY)
        passing = np.zeros(len(entries))
        np.add.at(passing, owner[is_dim], np.log(np.maximum(chance[is_dim], 1e-300)))
        shared = ~whole & (passing > np.log(_KEY_CHANCE_MAX))
        is_dim[shared[owner]] = _are_common(entries.slots[shared[owner]])
        group, count = _groups(entries, is_dim & ~shared[owner], kinds + 4 * shared)
        firsts = np.flatnonzero(rank == 0)
        first = np.bincount(owner[firsts], chance[firsts], len(entries))
        few = np.bincount(group, first, count)[group] < _PAIR_PASSING_MIN
        few &= ~whole & ~shared
        is_dim[few[owner]] = rank[few[owner]] == 0
    group, count = _groups(entries, is_dim & ~shared[owner], kinds + 4 * shared)
    of_group = np.zeros(count, bool)
    of_group[group] = shared
    return GroupPlan(group, is_dim, of_group)


def _are_common(slots: npt.NDArray[np.int32]) -> Bools:
    """Which sides are on the most used slots."""
    counts = np.bincount(slots, minlength=1)
    chosen = np.zeros(len(counts), bool)
    chosen[np.argsort(-counts, kind="stable")[:DIMS_MAX]] = True
    return chosen[slots]


def _groups(entries: Entries, used: Bools, kinds: Ints) -> tuple[Ints, int]:
    """The groups of entries of one kind with the same used slots, and their number."""
    owner = np.repeat(np.arange(len(entries)), np.diff(entries.offsets))[used]
    marks = entries.slots[used].astype(np.int64) * 2 + entries.missing[used]
    return classes_of(np.bincount(owner, minlength=len(entries)), marks, kinds)


def classes_of(sizes: Ints, marks: Ints, kinds: Ints) -> tuple[Ints, int]:
    """The class of each list of marks and its kind, and the number of classes.

    Lists are compared by a hash, and then with the first of their class; those that differ from it
    are classes of their own.
    """
    starts = np.cumsum(sizes) - sizes
    hashes = _hashes(sizes, starts, marks, kinds)
    _, first, found = np.unique(hashes, return_index=True, return_inverse=True)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    place = np.arange(len(marks)) - starts[owner]
    while True:
        model = first[found]
        same = (sizes == sizes[model]) & (kinds == kinds[model])
        rows = same[owner]
        others = starts[model[owner[rows]]] + place[rows]
        same[owner[rows][marks[rows] != marks[others]]] = False
        odd = np.flatnonzero(~same)
        if not len(odd):
            return found, len(first)
        _, more, again = np.unique(hashes[odd], return_index=True, return_inverse=True)
        found[odd] = len(first) + again
        first = np.concatenate([first, odd[more]])


def _hashes(sizes: Ints, starts: Ints, marks: Ints, kinds: Ints) -> npt.NDArray[np.uint64]:
    """A 64-bit hash of each list of marks and its kind."""
    total = _mix(kinds.astype(np.uint64) + np.uint64(0x5851F42D4C957F2D))
    some = np.flatnonzero(sizes)
    if len(some):
        mixed = _mix(marks.astype(np.uint64) + np.uint64(1))
        total[some] += np.add.reduceat(mixed, starts[some])
    return total


def _mix(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """A bijection that spreads small numbers over 64 bits."""
    mixed = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def _ranks(owner: Ints, chance: npt.NDArray[np.float64], offsets: Ints) -> Ints:
    """The place of each side among those of its entry, the least likely first."""
    order = np.lexsort((chance, owner))
    ranks = np.empty(len(owner), np.int64)
    ranks[order] = np.arange(len(owner)) - offsets[:-1][owner[order]]
    return ranks
