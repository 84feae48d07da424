"""Builds a predicate table from columns of predicates and from single normal forms.

Numbers given out while building (of attributes, strings, patterns, residuals) are in the order of
appearance; `finish` renumbers them in the order of their meaning, and sorts the rows.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from wherecast.arrays.vectors import array_of, texts_of, values_of
from wherecast.language.meaning.constraint import Conflict, Constraint, constrain
from wherecast.language.meaning.derived import Derived
from wherecast.language.meaning.expression import (
    Compared,
    Distance,
    Member,
    Pattern,
    Predicate,
    Truth,
    attributes_of,
)
from wherecast.language.meaning.index_plan import ProgramTest
from wherecast.language.meaning.keys import RANGES
from wherecast.language.meaning.normal_form import Conjunction, NormalForm
from wherecast.language.table.numbering import Ints, Numbering, ranks_of
from wherecast.language.table.predicate_table import OPERATORS, Distances, Kind, PredicateTable
from wherecast.language.text.write import write
from wherecast.model import Attribute, FilterError, Schema


def attribute_place(
    schema: Schema, attribute: Attribute, lazy: Collection[Attribute] = ()
) -> tuple[int, str, str]:
    """What the attributes of a table are ordered by; those that only programs name are `lazy`."""
    undeclared = len(schema)
    place = schema.positions.get(attribute.name, undeclared)
    if isinstance(attribute, Derived):
        place = undeclared + 1 + (attribute in lazy)
    return place, attribute.name, attribute.type


def pattern_key(leaf: Predicate) -> tuple[Any, ...]:
    """What tells the patterns of a table apart and orders them."""
    name = attributes_of(leaf)[0].name
    if isinstance(leaf, Pattern):
        return name, leaf.kind, leaf.text, leaf.escape, leaf.negated
    return name, "", write(leaf)


def residual_key(leaf: Compared) -> str:
    """What tells the residuals of a table apart and orders them."""
    return write(leaf)


def jump_of(test: ProgramTest) -> int:
    """The two ways on of a test, as a row has them."""
    return test.on_true << 16 | test.on_false


@dataclass(slots=True)
class PredicateColumn:
    """A predicate of one kind on one attribute, for a column of filters.

    Attributes:
        kind, attribute: the same for all filters.
        lows, highs: int64 [filters], or one int for all filters; ignored for sets.
        keys: int64 [filters, size] for SET and NOT_SET, distinct within a filter.
        distance: for DISTANCE the predicate, and float64 [filters, 3], the point and the metres.
        jump: of a test of a program.
    """

    kind: Kind
    attribute: Attribute
    lows: Ints | int = 0
    highs: Ints | int = 0
    keys: Ints | None = None
    distance: tuple[Distance, npt.NDArray[np.float64]] | None = None
    jump: int = 0


def _filled_column(ends: Ints | int, count: int) -> Ints:
    return np.full(count, ends, np.int64) if isinstance(ends, int) else ends


class _Rows(NamedTuple):
    """The rows of one predicate column.

    Attributes:
        filters: int64, the filter of each row.
        same: the conjunction, the order, the attribute, the kind and the jump of all rows.
        lows, highs: int64, the ends of each row.
    """

    filters: Ints
    same: tuple[int, int, int, int, int]
    lows: Ints
    highs: Ints


class TableBuilder:
    """Collects predicates; `finish` makes the table."""

    def __init__(self, schema: Schema, filters: int) -> None:
        self._schema = schema
        self._counts = np.zeros(filters, np.int64)
        self._attributes = Numbering()
        self._strings = Numbering()
        self._patterns = Numbering()
        self._residuals = Numbering()
        self._columns: list[_Rows] = []
        self._single: list[tuple[int, ...]] = []
        self._sets: list[Ints] = []
        self._set_count = 0
        self._distances: list[npt.NDArray[np.float64]] = []
        self._distance_count = 0
        self._rejected: list[tuple[int, FilterError]] = []
        self.string = self._strings.number

    def string_at(self, number: int) -> str:
        """The string of a number."""
        return self._strings.things[number]  # type: ignore[no-any-return]

    def pattern(self, leaf: Predicate) -> int:
        """The number of a string predicate."""
        return self._patterns.number(pattern_key(leaf), leaf)

    def reject(self, row: int, error: FilterError) -> None:
        """Notes a filter that cannot be accepted."""
        self._rejected.append((row, error))

    def add_plan(self, row: int, form: NormalForm, program: Sequence[ProgramTest] = ()) -> None:
        """Adds one filter from the form of its indexed conjunctions, and the program that decides.

        Without any conjunction that can hold it never matches, and needs no program.
        """
        conjunctions = [self.predicates_of(conjunction) for conjunction in form.conjunctions]
        if program and conjunctions:
            conjunctions.append([self.test_of(test) for test in program])
        self._counts[row] = len(conjunctions)
        for number, predicates in enumerate(conjunctions):
            for place, column in enumerate(predicates):
                self._add_single(row, number, place, column)

    def add_columns(self, rows: Ints, conjunctions: Sequence[Sequence[PredicateColumn]]) -> None:
        """Adds filters of one shape: for each conjunction its predicates as columns."""
        self._counts[rows] = len(conjunctions)
        for number, predicates in enumerate(conjunctions):
            for place, column in enumerate(predicates):
                lows, highs = self._ends(column, len(rows))
                attribute = self._attributes.number(column.attribute)
                order = place * bool(column.jump)
                same = number, order, attribute, int(column.kind), column.jump
                self._columns.append(_Rows(rows, same, lows, highs))

    def test_of(self, test: ProgramTest) -> PredicateColumn:
        """A test of a program, as a column of a single filter."""
        leaf = test.leaf
        jump = jump_of(test)
        if isinstance(leaf, Compared | Distance):
            return replace(self.residual_predicate(leaf), jump=jump)
        assert not isinstance(leaf, Truth)
        try:
            [column] = self.predicates_of_constraint(constrain(leaf.attribute, [leaf]))
        except Conflict:  # never true
            column = PredicateColumn(Kind.SET, leaf.attribute, keys=np.zeros((1, 0), np.int64))
        return replace(column, jump=jump)

    def predicates_of(self, conjunction: Conjunction) -> list[PredicateColumn]:
        """The predicates of one conjunction, as columns of a single filter."""
        found: list[PredicateColumn] = []
        for constraint in conjunction.constraints:
            found += self.predicates_of_constraint(constraint)
        for leaf in conjunction.residual:
            if isinstance(leaf, Member):
                found += self.predicates_of_constraint(constrain(leaf.attribute, [leaf]))
            else:
                found.append(self.residual_predicate(leaf))
        return found

    def predicates_of_constraint(self, constraint: Constraint) -> list[PredicateColumn]:
        """The predicates of one constraint, as columns of a single filter."""
        attribute = constraint.attribute
        if constraint.presence == "missing":
            return [PredicateColumn(Kind.MISSING, attribute)]
        if constraint.values is not None:
            return [PredicateColumn(Kind.SET, attribute, keys=self._keys(constraint.values))]
        found: list[PredicateColumn] = []
        if constraint.is_bounded and attribute.type == "string":
            ends = [
                -1 if end is None else self.string(end) for end in (constraint.low, constraint.high)
            ]
            found.append(PredicateColumn(Kind.TEXT_RANGE, attribute, ends[0], ends[1]))
        elif constraint.is_bounded:
            least, most = RANGES[attribute.type]
            low: Any = least if constraint.low is None else constraint.low
            high: Any = most if constraint.high is None else constraint.high
            found.append(PredicateColumn(Kind.RANGE, attribute, low, high))
        if constraint.excluded:
            found.append(
                PredicateColumn(Kind.NOT_SET, attribute, keys=self._keys(constraint.excluded))
            )
        found += [
            PredicateColumn(Kind.PATTERN, attribute, self.pattern(leaf))
            for leaf in constraint.patterns
        ]
        return found or [PredicateColumn(Kind.PRESENT, attribute)]

    def residual_predicate(self, leaf: Compared | Distance) -> PredicateColumn:
        """A residual predicate, as a column of a single filter."""
        if isinstance(leaf, Compared):
            return PredicateColumn(
                Kind.RESIDUAL, leaf.left, self._residuals.number(residual_key(leaf), leaf)
            )
        given = np.array([[*leaf.point, leaf.metres]], np.float64)
        return PredicateColumn(Kind.DISTANCE, leaf.latitude, distance=(leaf, given))

    def _keys(self, keys: Sequence[Any]) -> Ints:
        numbers = [self.string(key) if isinstance(key, str) else key for key in keys]
        return np.array([numbers], np.int64)

    def _add_single(self, row: int, number: int, place: int, column: PredicateColumn) -> None:
        if column.keys is not None:
            start = self._set_count
            self._sets.append(column.keys[0])
            self._set_count += column.keys.shape[1]
            ends = start, self._set_count
        elif isinstance(column.lows, int) and column.distance is None:
            ends = column.lows, int(column.highs)
        else:
            lows, highs = self._ends(column, 1)
            ends = int(lows[0]), int(highs[0])
        attribute = self._attributes.number(column.attribute)
        order = place * bool(column.jump)
        self._single.append((row, number, order, attribute, int(column.kind), *ends, column.jump))

    def _ends(self, column: PredicateColumn, count: int) -> tuple[Ints, Ints]:
        """The lows and highs of a predicate column, whose sets and distances are stored."""
        if column.keys is not None:
            keys = np.broadcast_to(column.keys, (count, column.keys.shape[1]))
            size = keys.shape[1]
            starts = self._set_count + np.arange(count, dtype=np.int64) * size
            self._sets.append(np.ascontiguousarray(keys).ravel())
            self._set_count += count * size
            return starts, starts + size
        if column.distance is not None:
            leaf, given = column.distance
            stored = np.empty((count, 6))
            stored[:, 0] = self._attributes.number(leaf.latitude)
            stored[:, 1] = self._attributes.number(leaf.longitude)
            stored[:, 2:5] = given
            stored[:, 5] = OPERATORS.index(leaf.operator)
            first = self._distance_count
            self._distance_count += count
            self._distances.append(stored)
            return np.arange(first, first + count, dtype=np.int64), np.zeros(count, np.int64)
        return _filled_column(column.lows, count), _filled_column(column.highs, count)

    def finish(self, shapes: int) -> PredicateTable:
        """The table of everything that was added."""
        for used in self._residuals_used():
            self._attributes.number(self._residuals.things[used].right)
        everything = np.arange(len(self._attributes.things))
        place = partial(attribute_place, self._schema, lazy=self._lazy())
        attributes, attribute_ranks = self._attributes.ranked(everything, place)
        filter_, number, attribute, kind, low, high, jumps = self._sorted(attribute_ranks)
        is_text = np.array([a.type == "string" for a in attributes], bool)[attribute]
        set_keys, strings = self._ordered_sets(kind, low, high, is_text)
        patterns = self._renumber(self._patterns, kind == Kind.PATTERN, low)
        residuals = self._renumber(self._residuals, kind == Kind.RESIDUAL, low)
        distances = self._ordered_distances(kind, low, attribute_ranks)
        offsets = np.zeros(len(self._counts) + 1, np.int64)
        np.cumsum(self._counts, out=offsets[1:])
        per_conjunction = np.bincount(offsets[filter_] + number, minlength=int(offsets[-1]))
        predicate_offsets = np.zeros(int(offsets[-1]) + 1, np.int64)
        np.cumsum(per_conjunction, out=predicate_offsets[1:])
        return PredicateTable(
            tuple(attributes), offsets, predicate_offsets, attribute,
            kind, low, high, jumps, set_keys, strings,
            tuple(patterns), distances, tuple(residuals),
            tuple(sorted(self._rejected, key=lambda item: item[0])), shapes,
        )  # fmt: skip

    def _lazy(self) -> set[Attribute]:
        """The derived attributes that only programs name."""
        names: list[Attribute] = self._attributes.things
        found: set[Attribute] = {one for one in names if isinstance(one, Derived)}
        for column in self._columns if found else ():
            _, _, attribute, _, jump = column.same
            if len(column.filters) and not jump:
                found.discard(names[attribute])
        for row in self._single if found else ():
            if not row[-1]:
                found.discard(names[row[3]])
        return found

    def _residuals_used(self) -> list[int]:
        """The numbers of the residuals that rows name."""
        lows = [column.lows for column in self._columns if column.same[3] == Kind.RESIDUAL]
        single = [low for *_, kind, low, _, _ in self._single if kind == Kind.RESIDUAL]
        found: list[int] = np.concatenate([np.array(single, np.int64), *lows]).tolist()
        return sorted(set(found))

    @staticmethod
    def _renumber(things: Numbering, rows: npt.NDArray[np.bool_], low: Ints) -> list[Any]:
        """The things that rows name, in order; the rows get their new numbers."""
        ordered, ranks = things.ranked(np.unique(low[rows]))
        low[rows] = ranks[low[rows]]
        return ordered

    def _sorted(self, attribute_ranks: Ints) -> tuple[Any, ...]:
        """All predicate rows as columns, by filter, conjunction, then attribute and kind.

        The tests of a program stay in their order. A filter has at most one row of a predicate
        column, so the rank of the column orders the rows of a filter.
        """
        single = np.array(self._single, np.int64).reshape(-1, 8)
        many = np.array([column.same for column in self._columns], np.int64).reshape(-1, 5)
        same = np.concatenate([many, single[:, [1, 2, 3, 4, 7]]])
        if len(attribute_ranks):
            same[:, 2] = attribute_ranks[same[:, 2]]
        number, order, attribute, kind, jump = same.T
        ranks = np.empty(len(same), np.int64)
        ranks[np.lexsort((kind, attribute, order, number))] = np.arange(len(same))
        filters, lows, highs = (
            np.concatenate([*parts, own])
            for parts, own in (
                ([column.filters for column in self._columns], single[:, 0]),
                ([column.lows for column in self._columns], single[:, 5]),
                ([column.highs for column in self._columns], single[:, 6]),
            )
        )
        sizes = [len(column.filters) for column in self._columns] + [1] * len(single)
        which = np.repeat(np.arange(len(same), dtype=np.int32), sizes)
        rows = np.argsort(filters * len(same) + ranks[which])
        which = which[rows]
        return (
            filters[rows], number[which], attribute.astype(np.int32)[which],
            kind.astype(np.uint8)[which], lows[rows], highs[rows], jump.astype(np.uint32)[which],
        )  # fmt: skip

    def _ordered_sets(
        self, kind: Ints, low: Ints, high: Ints, is_text: npt.NDArray[np.bool_]
    ) -> tuple[Ints, pa.Array]:
        """The keys of all sets in the order of the rows, and the strings that rows name."""
        rows = np.flatnonzero((kind == Kind.SET) | (kind == Kind.NOT_SET))
        stored = np.concatenate([np.zeros(0, np.int64), *self._sets])
        sizes = high[rows] - low[rows]
        ends = np.cumsum(sizes)
        starts = ends - sizes
        within = np.arange(int(sizes.sum())) - np.repeat(starts, sizes)
        keys = stored[np.repeat(low[rows], sizes) + within]
        texts, ranges = np.repeat(is_text[rows], sizes), kind == Kind.TEXT_RANGE
        strings, ranks = self._ordered_strings(keys[texts], low[ranges], high[ranges])
        keys[texts] = ranks[keys[texts]]
        low[ranges], high[ranges] = ranks[low[ranges]], ranks[high[ranges]]
        low[rows], high[rows] = starts, ends
        sets = np.repeat(np.arange(len(rows)), sizes)
        return keys[np.lexsort((keys, sets))], strings

    def _ordered_strings(self, *numbers: Ints) -> tuple[pa.Array, Ints]:
        """The strings of those numbers in code point order, and the rank of each number in it."""
        used = np.unique(np.concatenate(numbers))
        used = used[used >= 0]
        texts = texts_of([self._strings.things[number] for number in used.tolist()])
        order = values_of(pc.array_sort_indices(texts)).astype(np.int64)
        return texts.take(array_of(order)), ranks_of(used[order], len(self._strings.things))

    def _ordered_distances(self, kind: Ints, low: Ints, attribute_ranks: Ints) -> Distances:
        """The distance rows in the order of the predicates."""
        rows = np.flatnonzero(kind == Kind.DISTANCE)
        stored = np.concatenate([np.zeros((0, 6)), *self._distances])[low[rows]]
        low[rows] = np.arange(len(rows))
        places = stored[:, [0, 1]].astype(np.int64)
        ranked = attribute_ranks[places] if len(rows) else places
        return Distances(
            ranked[:, 0].astype(np.int32),
            ranked[:, 1].astype(np.int32),
            np.ascontiguousarray(stored[:, 2:4]),
            stored[:, 5].astype(np.uint8),
            np.ascontiguousarray(stored[:, 4]),
        )
