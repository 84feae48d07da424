"""Leaves: predicates that keys cannot decide, decided on the candidates that are left.

Patterns and intervals of strings are evaluated once per distinct pair of leaf and value in a batch,
each on all its values at once; distances and comparisons of two attributes as columns. All as the
functions say that define what a filter means.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from wherecast.language.meaning.expression import Compared, Pattern
from wherecast.language.meaning.pattern_columns import TextColumn
from wherecast.language.table.predicate_table import Distances
from wherecast.matching.columnar.search.residual_checks import distances_hold, residual_holds
from wherecast.matching.columnar.slots import SlotColumn
from wherecast.matching.trees.key_slots import Slots
from wherecast.model import Attribute

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
_FIELDS = tuple(field.name for field in fields(Distances))


@dataclass(frozen=True, slots=True)
class TextRange:
    """An interval of strings, `low <= value < high`; None where it has no end."""

    attribute: Attribute
    low: str | None
    high: str | None

    def holds(self, text: str) -> bool:
        """Whether a string is inside."""
        above = self.low is None or text >= self.low
        return above and (self.high is None or text < self.high)


Leaf = Pattern | Compared | TextRange


class Leaves:
    """Leaves by number; distances have the numbers below 0, from -1 on."""

    def __init__(self) -> None:
        self._leaves: list[Leaf] = []
        self._numbers: dict[Leaf, int] = {}
        self.distances = _none()

    def __len__(self) -> int:
        return len(self._leaves) + len(self.distances.metres)

    def number(self, leaf: Leaf) -> int:
        """The number of a leaf, the same for equal ones."""
        found = self._numbers.setdefault(leaf, len(self._leaves))
        if found == len(self._leaves):
            self._leaves.append(leaf)
        return found

    def add_distances(self, given: Distances, chosen: Ints, slots: npt.NDArray[np.int32]) -> Ints:
        """The numbers of some distances, whose attributes get their slots."""
        first = len(self.distances.metres)
        taken = {name: getattr(given, name)[chosen] for name in _FIELDS}
        taken |= {name: slots[taken[name]] for name in ("latitudes", "longitudes")}
        self.distances = Distances(
            *(np.concatenate([getattr(self.distances, name), taken[name]]) for name in _FIELDS)
        )
        return -1 - np.arange(first, first + len(chosen), dtype=np.int64)

    def kept(self, numbers: Ints) -> tuple["Leaves", Ints]:
        """Some of the leaves by themselves, and the new number of each of them."""
        kept, changed = Leaves(), np.empty(len(numbers), np.int64)
        own = np.flatnonzero(numbers >= 0)
        changed[own] = [kept.number(self._leaves[number]) for number in numbers[own].tolist()]
        others = np.flatnonzero(numbers < 0)
        chosen = -1 - numbers[others]
        kept.distances = Distances(*(getattr(self.distances, name)[chosen] for name in _FIELDS))
        changed[others] = -1 - np.arange(len(others))
        return kept, changed

    def positions(self) -> list[tuple[int, float]]:
        """The slots of latitudes and longitudes, each with the most that it is on the globe."""
        given = self.distances
        return [
            (slot, most)
            for slots, most in ((given.latitudes, 90.0), (given.longitudes, 180.0))
            for slot in np.unique(slots).tolist()
        ]

    def decide(
        self, slots: Slots, columns: Sequence[SlotColumn], publications: Ints, numbers: Ints
    ) -> Bools:
        """Which leaves hold on which publications.

        Shapes: publications, numbers int64 [tests]; result bool [tests].
        """
        verdicts = np.zeros(len(numbers), bool)
        away = np.flatnonzero(numbers < 0)
        if len(away):
            verdicts[away] = distances_hold(
                self.distances, columns, publications[away], -1 - numbers[away]
            )
        order = np.argsort(numbers, kind="stable")[len(away) :]  # tests of one leaf side by side
        firsts = np.flatnonzero(np.diff(numbers[order], prepend=-1))
        texts: dict[int, TextColumn] = {}
        for mine in np.split(order, firsts[1:]) if len(order) else ():
            leaf = self._leaves[numbers[mine[0]]]
            verdicts[mine] = _holds(leaf, slots, columns, texts, publications[mine])
        return verdicts


def _holds(
    leaf: Leaf,
    slots: Slots,
    columns: Sequence[SlotColumn],
    texts: dict[int, TextColumn],
    publications: Ints,
) -> Bools:
    """Where a leaf holds; the strings of slots are put into `texts` for the leaves that follow."""
    if isinstance(leaf, Compared):
        pair = [slots.find(leaf.left), slots.find(leaf.right)]
        assert pair[0] is not None
        assert pair[1] is not None
        return residual_holds(leaf, columns[pair[0]], columns[pair[1]], publications)
    attribute = leaf.attribute
    slot = slots.find(attribute)
    assert slot is not None
    column = columns[slot]
    if column.codes is None or column.texts is None or not len(column.texts):
        return np.zeros(len(publications), bool)
    codes, back = np.unique(column.codes[publications], return_inverse=True)
    if isinstance(leaf, TextRange):
        held = [leaf.holds(column.texts[code].as_py()) for code in codes.tolist()]
        found = np.array(held, bool)
    else:
        if slot not in texts:
            texts[slot] = TextColumn(column.texts)
        found = texts[slot].some_verdicts(leaf, codes)
    return found[back] & column.has(publications)


def _none() -> Distances:
    return Distances(
        np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros((0, 2)), np.zeros(0, np.uint8),
        np.zeros(0),
    )  # fmt: skip
