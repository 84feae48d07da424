"""The store: filters as growing arrays, one entry each, and the leaves and slots they name.

An entry's number stays until `compact`, which leaves out what was dropped. Not safe to change from
one thread while another uses it.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from wherecast.arrays.growth import grow
from wherecast.arrays.ranges import spans
from wherecast.language.bulk.plain_forms import PlainForm
from wherecast.language.bulk.plain_reader import PlainFilter
from wherecast.language.table.predicate_table import PredicateTable
from wherecast.matching.columnar.packing.circles import with_boxes
from wherecast.matching.columnar.predicates import Predicates
from wherecast.matching.trees.exact_kernels import append_plain, boxes
from wherecast.matching.trees.key_slots import Slots
from wherecast.matching.trees.leaves import Leaves
from wherecast.matching.trees.predicate_rows import Translation, on_steps
from wherecast.matching.trees.row_layout import (
    END,
    ENTRY,
    FLAG,
    KIND,
    KIND_MASK,
    ROW,
    SIDE,
    FilterRows,
)

Ints = npt.NDArray[np.int64]
_FORMS_MAX = 10_000


class FilterStore:
    """The filters of an index.

    With `circles`, distances have boxes too, which do not hold for positions off the globe.

    Attributes:
        slots: the attributes they name.
        leaves: what keys cannot decide.
        leaf_rows: how many rows have a leaf.
        rows: the arrays, longer than what is used.
        count: how many entries there are.
    """

    def __init__(self, circles: bool = True) -> None:
        self._circles = circles
        self.slots = Slots()
        self.leaves = Leaves()
        self._forms: dict[PlainForm, tuple[list[int], list[int]]] = {}
        self._clear()

    def _clear(self) -> None:
        self.rows = FilterRows(
            np.zeros((0, len(ENTRY)), np.int64), np.zeros((0, len(ROW)), np.int64),
            np.zeros((0, len(SIDE)), np.int64), np.zeros(0, np.int64),
        )  # fmt: skip
        self._used = [0, 0, 0, 0]  # of each array
        self.leaf_rows = 0

    @property
    def count(self) -> int:
        """How many entries there are."""
        return self._used[0]

    @property
    def nbytes(self) -> int:
        """The bytes that are used."""
        return sum(
            used * array.itemsize * (array.shape[1] if array.ndim > 1 else 1)
            for used, array in zip(self._used, self.rows, strict=True)
        )

    def add(self, table: PredicateTable) -> range:
        """Adds the filters of a table; returns their entries."""
        translation = Translation(table, self.slots, self.leaves)
        plain, filters = translation.predicates(), table.conjunction_offsets
        sizes, sides = self._boxes(table, plain, translation.slots)
        ends = plain.offsets[1:][np.diff(plain.offsets) > 0] - 1
        of_set = (plain.kinds == KIND.SET) | (plain.kinds == KIND.NOT_SET)
        shift = np.where(of_set, self._used[3], 0)
        rows = np.empty((len(plain.kinds), len(ROW)), np.int64)
        rows[:, ROW.SLOT], rows[:, ROW.KIND] = translation.slots[plain.slots], plain.kinds
        rows[ends, ROW.KIND] |= END
        rows[:, ROW.LOW], rows[:, ROW.HIGH] = plain.lows + shift, plain.highs + shift
        firsts, lasts = plain.offsets[filters[:-1]], plain.offsets[filters[1:]]
        entries = np.empty((len(table), len(ENTRY)), np.int64)
        flags = _flags(filters, plain.offsets, plain.kinds, sizes)
        entries[:, ENTRY.START], entries[:, ENTRY.FLAGS] = firsts + self._used[1], flags
        entries[:, ENTRY.SIZE] = np.where(flags & FLAG.ALWAYS > 0, 0, lasts - firsts)
        entries[:, ENTRY.SIDES] = np.maximum(sizes, 0)
        entries[:, ENTRY.BOX] = (
            np.cumsum(entries[:, ENTRY.SIDES]) - entries[:, ENTRY.SIDES] + self._used[2]
        )
        return self._append(FilterRows(entries, rows, sides, plain.keys))

    def add_plain(self, filters: Sequence[PlainFilter]) -> range:
        """Adds plain filters; returns their entries. They are what `add` would make of them."""
        heads: list[int] = []
        ends: list[int] = []
        for each in filters:
            slots, form_heads = self._forms.get(each.form) or self._form(each.form)
            heads += form_heads
            start = len(ends)
            ends += each.ends
            for place, text in zip(each.form.texts, each.strings, strict=True):
                at = start + 2 * place
                ends[at] = ends[at + 1] = self.slots.constant_key(slots[place], text)
        sizes = [len(each.form.attributes) for each in filters]
        first, more = self.count, len(ends) // 2
        self._make_room([len(sizes), more, more, 0])
        used, domains = np.array(self._used[:3]), self.slots.domains()
        append_plain(
            self.rows, used, np.array(heads).reshape(-1, 2), np.array(ends).reshape(-1, 2),
            np.array(sizes), domains.least, domains.most,
        )  # fmt: skip
        self._used[:3] = used.tolist()
        return range(first, self.count)

    def _form(self, form: PlainForm) -> tuple[list[int], list[int]]:
        """The slots of a form, and the slot and kind of each of its rows."""
        if len(self._forms) >= _FORMS_MAX:
            self._forms = {}
        slots = [self.slots.number(attribute) for attribute in form.attributes]
        kinds = [KIND.EXCEPT if each else KIND.RANGE for each in form.excepts]
        heads = [word for pair in zip(slots, kinds, strict=True) for word in pair]
        self._forms[form] = slots, heads
        return slots, heads

    def _boxes(
        self, table: PredicateTable, plain: Predicates, slots: npt.NDArray[np.int32]
    ) -> tuple[Ints, Ints]:
        """How many sides the box of each filter has, -1 where it is empty; and the sides."""
        boxed = with_boxes(table, plain) if self._circles else plain
        sizes, sides = self._hulls(table, boxed, slots)
        if boxed is not plain:  # off the globe, a filter may hold whose circles have no box
            certain, _ = self._hulls(table, plain, slots)
            sizes[(sizes < 0) & (certain >= 0)] = 0
        return sizes, sides

    def _hulls(
        self, table: PredicateTable, given: Predicates, slots: npt.NDArray[np.int32]
    ) -> tuple[Ints, Ints]:
        """The same for predicates with or without the boxes of circles."""
        stepped, domains = on_steps(table, given), self.slots.domains()
        sizes = np.zeros(len(table), np.int64)
        sides = np.empty((len(stepped.slots) + 1, len(SIDE)), np.int64)
        used = boxes(
            table.conjunction_offsets, stepped.offsets, slots[stepped.slots], stepped.kinds,
            stepped.lows, stepped.highs, stepped.keys, domains.least, domains.most, sizes, sides,
        )  # fmt: skip
        return sizes, sides[:used]

    def _append(self, more: FilterRows) -> range:
        """Appends arrays to the arrays of the store; returns the new entries."""
        first = self.count
        self._make_room([len(array) for array in more])
        for place, (array, new) in enumerate(zip(self.rows, more, strict=True)):
            used = self._used[place]
            array[used : used + len(new)] = new
            self._used[place] += len(new)
        self.leaf_rows += int(np.count_nonzero(more.r[:, ROW.KIND] & KIND_MASK == KIND.LATER))
        return range(first, self.count)

    def _make_room(self, more: Sequence[int]) -> None:
        """Makes the arrays long enough for so many elements more in each."""
        parts = zip(self.rows, self._used, more, strict=True)
        self.rows = FilterRows(*(grow(array, used + new, used) for array, used, new in parts))

    def compact(self, kept: Ints) -> None:
        """Keeps some entries only, which get the numbers 0, 1, … in the order given."""
        entries = self.rows.e[kept]
        rows = self.rows.r[spans(entries[:, ENTRY.START], entries[:, ENTRY.SIZE])]
        sides = self.rows.b[spans(entries[:, ENTRY.BOX], entries[:, ENTRY.SIDES])]
        entries[:, ENTRY.START] = np.cumsum(entries[:, ENTRY.SIZE]) - entries[:, ENTRY.SIZE]
        entries[:, ENTRY.BOX] = np.cumsum(entries[:, ENTRY.SIDES]) - entries[:, ENTRY.SIDES]
        kinds = rows[:, ROW.KIND] & KIND_MASK
        of_set = np.flatnonzero((kinds == KIND.SET) | (kinds == KIND.NOT_SET))
        lengths = rows[of_set, ROW.HIGH] - rows[of_set, ROW.LOW]
        keys = self.rows.keys[spans(rows[of_set, ROW.LOW], lengths)]
        rows[of_set, ROW.HIGH] = np.cumsum(lengths)
        rows[of_set, ROW.LOW] = rows[of_set, ROW.HIGH] - lengths
        later = np.flatnonzero(kinds == KIND.LATER)
        numbers, back = np.unique(rows[later, ROW.LOW], return_inverse=True)
        self.leaves, changed = self.leaves.kept(numbers)
        rows[later, ROW.LOW] = changed[back]
        self._keep_strings(rows, kinds, keys)
        self._clear()
        self._append(FilterRows(entries, rows, sides, keys))

    def _keep_strings(self, rows: Ints, kinds: Ints, keys: Ints) -> None:
        """Forgets the strings that no row names any more."""
        on_text = np.isin(rows[:, ROW.SLOT], self.slots.text_slots())
        points = rows[on_text & ((kinds == KIND.RANGE) | (kinds == KIND.EXCEPT)), ROW.LOW]
        sets = np.flatnonzero(on_text & ((kinds == KIND.SET) | (kinds == KIND.NOT_SET)))
        members = keys[spans(rows[sets, ROW.LOW], rows[sets, ROW.HIGH] - rows[sets, ROW.LOW])]
        self.slots.keep_strings(set(points.tolist()) | set(members.tolist()))


def _flags(filters: Ints, offsets: Ints, kinds: npt.NDArray[np.uint8], sizes: Ints) -> Ints:
    """What is known of each filter: that it holds always, never, is just one range, or its box."""
    conjunctions = np.diff(filters)
    owners = np.repeat(np.arange(len(filters) - 1), conjunctions)
    flags = np.zeros(len(filters) - 1, np.int64)
    flags[owners[np.diff(offsets) == 0]] |= FLAG.ALWAYS
    flags[(sizes < 0) & (flags & FLAG.ALWAYS == 0)] |= FLAG.NEVER
    counts = offsets[filters[1:]] - offsets[filters[:-1]]
    other = np.concatenate([[0], np.cumsum(kinds != KIND.RANGE)])
    only = other[offsets[filters[1:]]] == other[offsets[filters[:-1]]]
    only &= (conjunctions == 1) & (flags & FLAG.NEVER == 0)
    flags[only] |= FLAG.BOX
    flags[only & (counts == 1)] |= FLAG.PLAIN
    return flags
