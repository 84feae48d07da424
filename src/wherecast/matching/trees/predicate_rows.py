"""Predicate rows: a predicate table in the keys of an index.

A row has a slot, a kind and two numbers: the ends of a range, or where a set stands in `keys`, or
the number of a leaf that is decided later.
"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from wherecast.arrays.ranges import spans
from wherecast.arrays.vectors import array_of
from wherecast.language.meaning.covering import inwards
from wherecast.language.meaning.expression import Pattern
from wherecast.language.meaning.patterns import pattern_verdict
from wherecast.language.table.predicate_table import Kind, PredicateTable
from wherecast.matching.columnar.layout import Exact
from wherecast.matching.columnar.predicates import Predicates
from wherecast.matching.trees.key_slots import Slots
from wherecast.matching.trees.leaves import Leaves, TextRange
from wherecast.matching.trees.row_layout import KIND
from wherecast.model import Attribute
from wherecast.model.values import INT_MAX, INT_MIN

Ints = npt.NDArray[np.int64]
_EXACT_OF = np.array(
    [Exact.RANGE, Exact.LATER, Exact.SET, Exact.NOT_SET, Exact.LATER, Exact.PRESENT,
     Exact.MISSING, Exact.LATER, Exact.LATER],
    np.uint8,
)  # fmt: skip


class Translation:
    """One predicate table on its way into the keys of an index."""

    def __init__(self, table: PredicateTable, slots: Slots, leaves: Leaves) -> None:
        self._table, self._slots, self._leaves = table, slots, leaves
        self.slots = np.array([slots.number(a) for a in table.attributes], np.int32)
        self._kinds = _EXACT_OF[table.kind]
        self._lows, self._highs = table.low.copy(), table.high.copy()
        self._keys = table.set_keys.copy()
        self._more: list[Ints] = []  # sets beside those of the table
        self._count = len(self._keys)

    def predicates(self) -> Predicates:
        """The rows, with the attributes of the table for slots."""
        self._text_sets()
        self._text_leaves()
        self._others()
        keys = np.concatenate([self._keys, *self._more])
        for kind, single in ((Exact.SET, KIND.RANGE), (Exact.NOT_SET, KIND.EXCEPT)):
            points = np.flatnonzero((self._kinds == kind) & (self._highs - self._lows == 1))
            self._kinds[points] = single
            self._lows[points] = self._highs[points] = keys[self._lows[points]]
        domains = self._slots.domains()
        least, most = domains.least[self.slots], domains.most[self.slots]
        return Predicates(
            self._table.predicate_offsets, self._table.attribute, self._kinds, self._lows,
            self._highs, keys, least, most,
        )  # fmt: skip

    def _text_sets(self) -> None:
        """Gives the sets of strings their keys, in order within each set."""
        table = self._table
        texts = np.array([a.type == "string" for a in table.attributes], bool)
        sets = np.flatnonzero((table.kind == Kind.SET) | (table.kind == Kind.NOT_SET))
        sets = sets[texts[table.attribute[sets]]]
        sizes = table.high[sets] - table.low[sets]
        places = spans(table.low[sets], sizes)
        owners = np.repeat(self.slots[table.attribute[sets]], sizes)
        pairs = owners * np.int64(len(table.strings) + 1) + table.set_keys[places]
        distinct, back = np.unique(pairs, return_inverse=True)
        slots, numbers = np.divmod(distinct, len(table.strings) + 1)
        strings = table.strings.take(array_of(numbers)).to_pylist()
        keys = [
            self._slots.constant_key(*pair) for pair in zip(slots.tolist(), strings, strict=True)
        ]
        self._keys[places] = np.array(keys, np.int64)[back]
        for row in sets[sizes > 1].tolist():
            self._keys[table.low[row] : table.high[row]].sort()

    def _text_leaves(self) -> None:
        """Patterns and intervals of strings: sets where values are listed, else leaves."""
        table = self._table
        strings = table.strings
        for row in np.flatnonzero(table.kind == Kind.PATTERN).tolist():
            self._set_text(row, table.patterns[int(table.low[row])])
        for row in np.flatnonzero(table.kind == Kind.TEXT_RANGE).tolist():
            ends = [None if end < 0 else strings[end].as_py()
                    for end in (int(table.low[row]), int(table.high[row]))]  # fmt: skip
            attribute = table.attributes[table.attribute[row]]
            self._set_text(row, TextRange(attribute, ends[0], ends[1]))

    def _set_text(self, row: int, leaf: Pattern | TextRange) -> None:
        attribute = self._table.attributes[self._table.attribute[row]]
        if attribute.values is None:
            self._lows[row] = self._leaves.number(leaf)
            return
        allowed = [place for place, text in enumerate(attribute.values)
                   if _allows(leaf, attribute, text)]  # fmt: skip
        self._kinds[row] = Exact.SET
        self._lows[row], self._highs[row] = self._count, self._count + len(allowed)
        self._more.append(np.array(allowed, np.int64))
        self._count += len(allowed)

    def _others(self) -> None:
        """Distances and comparisons of attributes."""
        table = self._table
        for row in np.flatnonzero(table.kind == Kind.RESIDUAL).tolist():
            self._lows[row] = self._leaves.number(table.residuals[int(table.low[row])])
        rows = np.flatnonzero(table.kind == Kind.DISTANCE)
        if len(rows):
            self._lows[rows] = self._leaves.add_distances(
                table.distances, table.low[rows], self.slots
            )


def _allows(leaf: Pattern | TextRange, attribute: Attribute, text: str) -> bool:
    if isinstance(leaf, TextRange):
        return leaf.holds(text)
    return pattern_verdict(leaf, text) is True


def on_steps(table: PredicateTable, given: Predicates) -> Predicates:
    """The rows with the ends of ranges moved inwards to whole steps, where steps are declared."""
    stepped = [place for place, a in enumerate(table.attributes) if a.grid is not None]
    if not stepped:
        return given
    lows, highs = given.lows.copy(), given.highs.copy()
    ranges = given.kinds == Exact.RANGE
    for place in stepped:
        rows = np.flatnonzero(ranges & (given.slots == place))
        for ends, way in ((lows, 1), (highs, -1)):
            keys, back = np.unique(ends[rows], return_inverse=True)
            moved = [_key(inwards(table.attributes[place], key, way)) for key in keys.tolist()]
            ends[rows] = np.array(moved, np.int64)[back]
    return replace(given, lows=lows, highs=highs)


def _key(key: object) -> int:
    """A key that arrays can hold: the step beyond the last one has none, and no value either."""
    assert isinstance(key, int)
    return min(max(key, INT_MIN), INT_MAX)
