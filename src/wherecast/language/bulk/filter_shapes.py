"""Shapes: a text parsed once, for all filters that differ from it only in their constants.

The text is bound with a slot for each constant and brought into conjunctions; then, for a column
of filters of that shape, each attribute's constraint is computed on columns of constants. The
constants inside formulas are *frozen*: they belong to the derived attribute, so a compiled shape
serves the filters that have the same ones.

A row whose constants change the form of the result (bounds that exclude each other, a value listed
twice, a LIKE without wildcards, a constant that is refused) is *irregular*: it is left to the
reading of single filters. So both ways give the same table.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
import numpy.typing as npt

from wherecast.language.bulk.literals import Literals, example_of, positions
from wherecast.language.bulk.shape_columns import ShapeColumns, Slot, Unfit, slots_of
from wherecast.language.bulk.shape_constraints import constraint_predicates
from wherecast.language.meaning.constants import Word, read_constant
from wherecast.language.meaning.constraint import Conflict, constrain
from wherecast.language.meaning.derived import Derived
from wherecast.language.meaning.element import is_element_test
from wherecast.language.meaning.expression import (
    Compared,
    Constant,
    Distance,
    Expression,
    Predicate,
    Truth,
    attributes_of,
    predicates,
)
from wherecast.language.meaning.formula import Condition
from wherecast.language.meaning.index_plan import ProgramTest, plan
from wherecast.language.meaning.normal_form import by_attribute
from wherecast.language.table.predicate_table import Kind
from wherecast.language.table.table_builder import PredicateColumn, TableBuilder, jump_of
from wherecast.language.text.where import read_where
from wherecast.language.text.write import write
from wherecast.model import Attribute, FilterError, Limits, Schema, Type

Ints = npt.NDArray[np.int64]
_SHAPES_MAX = 10_000  # kept at a time


_FITTING: dict[Type, tuple[str, ...]] = {
    "int": ("number",),
    "float": ("number",),
    "string": ("string",),
    "timestamp": ("string", "time", "date"),
    "bool": (),
}


@dataclass(frozen=True, slots=True)
class FilterShape:
    """The plan of a shape, with slots in the place of constants: what is indexed, what decides.

    Attributes:
        conjunctions: the predicates of each conjunction that is indexed.
        program: the tests that decide a candidate.
        frozen: the numbers of the constants that have no slot. The shape serves only filters that
            have the same texts there as the text that was compiled.
    """

    conjunctions: tuple[tuple[Predicate, ...], ...]
    program: tuple[ProgramTest, ...] = ()
    frozen: tuple[int, ...] = ()


class Shapes:
    """The shapes of a schema, each compiled once, by the keys that `cut` gives."""

    def __init__(self, schema: Schema, limits: Limits, has_programs: bool = True) -> None:
        self.schema = schema
        self.limits = limits
        self.has_programs = has_programs
        self._known: dict[str | tuple[str, tuple[str, ...]], FilterShape | None] = {}

    def __len__(self) -> int:
        return len(self._known)

    def __contains__(self, key: str | tuple[str, tuple[str, ...]]) -> bool:
        return key in self._known

    def of(self, key: str) -> FilterShape | None:
        """The shape of a key, or None where its filters must be read one by one.

        A shape that has frozen constants tells only their numbers; `with_frozen` gives the shape
        of a filter.
        """
        if key not in self._known:
            self._store(key, self._compiled(example_of(key)))
        return self._known[key]

    def with_frozen(
        self, key: str, shape: FilterShape, texts: tuple[str, ...]
    ) -> FilterShape | None:
        """The shape of the filters of a key whose frozen constants are `texts`.

        None where the filters must be read one by one.
        """
        place = key, texts
        if place not in self._known:
            frozen = dict(zip(shape.frozen, texts, strict=True))
            found = self._compiled(example_of(key, frozen))
            if found is not None and not set(found.frozen) <= set(shape.frozen):
                found = None
            self._store(place, found)
        return self._known[place]

    def _compiled(self, example: str | None) -> FilterShape | None:
        found = None if example is None else compile_shape(example, self.schema, self.limits)
        if found is None or self.has_programs:
            return found
        is_read_alone = found.program or any(map(is_element_test, chain(*found.conjunctions)))
        return None if is_read_alone else found

    def _store(self, place: str | tuple[str, tuple[str, ...]], found: FilterShape | None) -> None:
        if len(self._known) >= _SHAPES_MAX:
            self._known = {}
        self._known[place] = found


def compile_shape(text: str, schema: Schema, limits: Limits) -> FilterShape | None:
    """The shape of a text, or None where its filters must be read one by one."""
    found = positions(text)
    places = {position: number for number, position in enumerate(found)}
    used: set[int] = set()
    frozen: set[int] = set()

    def note(operand: Word | Expression) -> None:
        if isinstance(operand, Word):
            if operand.kind not in ("bool", "null"):
                frozen.add(place_of(operand))
        elif any(slots_of(leaf) for leaf in predicates(operand)):
            raise Unfit  # the formula would have slots

    def place_of(word: Word) -> int:
        if word.position not in places:
            raise Unfit
        if word.kind == "number" and word.text != found[word.position]:  # as in 1e
            raise Unfit
        return places[word.position]

    def constant(attribute: Attribute, word: Word) -> Constant:
        if word.kind in ("bool", "null"):
            return read_constant(attribute, word)
        place = place_of(word)
        if place in frozen or word.kind not in _FITTING[attribute.type]:
            raise Unfit  # frozen: the word may be computed from the constant that stands there
        used.add(place)
        is_date = word.kind == "date" or (word.kind == "string" and attribute.clock == "day")
        return Slot(place, word.negative, is_date)  # type: ignore[return-value]

    try:
        made = plan(read_where(text, schema, limits, constant, note))
    except (FilterError, Unfit):
        return None
    if used | frozen != set(places.values()):  # one cannot be left open, as in ESCAPE
        return None
    leaves = [leaf for conjunction in made.conjunctions for leaf in conjunction]
    if any(isinstance(leaf, Truth) and leaf.value is not True for leaf in leaves):
        return None
    leaves += [test.leaf for test in made.program]
    if any(map(_has_inner_slot, leaves)):
        return None
    if {slot.number for leaf in leaves for slot in slots_of(leaf)} != used:
        return None  # the plan drops a predicate, as in FALSE AND a LIKE 'x', which may be refused
    return FilterShape(made.conjunctions, made.program, tuple(sorted(frozen)))


def _has_inner_slot(leaf: Predicate) -> bool:
    """Whether a constant of a condition inside a derived attribute is left open."""
    waiting: list[Predicate] = [leaf]
    while waiting:
        for attribute in attributes_of(waiting.pop()):
            steps = attribute.formula.steps if isinstance(attribute, Derived) else ()
            for step in steps:
                if isinstance(step, Condition):
                    inner = predicates(step.expression)
                    if any(map(slots_of, inner)):
                        return True
                    waiting += inner
    return False


def read_shape(
    shape: FilterShape,
    rows: Ints,
    starts: Ints,
    literals: Literals,
    builder: TableBuilder,
    limits: Limits,
) -> Ints:
    """Adds the regular filters of a shape to the table; returns the rows that are irregular.

    Shapes: `rows` and `starts` are int64 [filters]; `starts` is where the constants of each
    filter begin in `literals`.
    """
    made = columns_of_shape(shape, starts, literals, builder, limits)
    if made is None:
        return rows
    regular, found = made
    if regular.all():
        builder.add_columns(rows, found)
        return rows[:0]
    kept = np.flatnonzero(regular)
    if not len(kept):
        return rows
    columns = [[column_of_rows(column, kept) for column in predicates] for predicates in found]
    builder.add_columns(rows[kept], columns)
    return rows[~regular]


def columns_of_shape(
    shape: FilterShape, starts: Ints, literals: Literals, builder: TableBuilder, limits: Limits
) -> tuple[npt.NDArray[np.bool_], list[list[PredicateColumn]]] | None:
    """Which filters of a shape are regular, and the predicates of each conjunction as columns.

    None where the shape must be read one by one.
    """
    columns = ShapeColumns(starts, literals, builder, limits)
    try:
        parts = [_conjunction(leaves, columns, builder) for leaves in shape.conjunctions]
        if shape.program:
            parts.append([_test(test, columns, builder) for test in shape.program])
    except Unfit:
        return None
    return columns.regular, parts


def column_of_rows(column: PredicateColumn, rows: Ints) -> PredicateColumn:
    """The predicate column of some of the filters; what is the same for all stays so."""
    return replace(
        column,
        lows=column.lows if isinstance(column.lows, int) else column.lows[rows],
        highs=column.highs if isinstance(column.highs, int) else column.highs[rows],
        keys=column.keys if column.keys is None or len(column.keys) == 1 else column.keys[rows],
        distance=column.distance and (column.distance[0], column.distance[1][rows]),
    )


def _test(test: ProgramTest, columns: ShapeColumns, builder: TableBuilder) -> PredicateColumn:
    """A test of the program of a shape, as a column."""
    if not slots_of(test.leaf):
        return builder.test_of(test)
    found = _conjunction([test.leaf], columns, builder)
    if len(found) != 1:
        raise Unfit
    return replace(found[0], jump=jump_of(test))


def _conjunction(
    leaves: Sequence[Predicate], columns: ShapeColumns, builder: TableBuilder
) -> list[PredicateColumn]:
    """The predicates of one conjunction of a shape, as columns."""
    found: list[PredicateColumn] = []
    for attribute, on in by_attribute(leaves).items():
        if any(slots_of(leaf) for leaf in on):
            found += constraint_predicates(attribute, on, columns)
        else:
            try:
                found += builder.predicates_of_constraint(constrain(attribute, on))
            except Conflict:
                raise Unfit from None
    distances = [leaf for leaf in leaves if isinstance(leaf, Distance)]
    if len(distances) > 1:
        raise Unfit
    compared = sorted({leaf for leaf in leaves if isinstance(leaf, Compared)}, key=write)
    found += [builder.residual_predicate(leaf) for leaf in compared]
    for leaf in distances:
        given = [columns.floats(value) for value in (*leaf.point, leaf.metres)]
        columns.require((np.abs(given[0]) <= 90.0) & (np.abs(given[1]) <= 180.0))
        found.append(
            PredicateColumn(Kind.DISTANCE, leaf.latitude, distance=(leaf, np.stack(given, axis=1)))
        )
    return found
