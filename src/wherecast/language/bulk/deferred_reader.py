"""Reading filters that come one by one: each is accepted at once, and read with others later.

A filter of a shape that is known needs no parsing to be accepted, if its constants are of the plain
kinds that no attribute of their type refuses. Any other is read in full, which also tells what is
wrong with it. The constants that the acceptance found are those that the reading uses.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Literal

import numpy as np

from wherecast.language.bulk.filter_shapes import FilterShape, Shapes
from wherecast.language.bulk.literals import Cut, constants_of, cut_one
from wherecast.language.bulk.read_column import read_alone, read_cut
from wherecast.language.bulk.shape_columns import slots_of
from wherecast.language.filter import read_expression
from wherecast.language.meaning.expression import Between, Comparison, Member, Predicate
from wherecast.language.table.predicate_table import PredicateTable
from wherecast.language.table.table_builder import TableBuilder
from wherecast.model import DEFAULT_LIMITS, FilterError, Limits, Schema, parse_time

_Plain = Literal["number", "string", "time"]
_PLAIN: dict[str, _Plain] = {
    "int": "number", "float": "number", "decimal": "number", "string": "string",
    "timestamp": "time",
}  # fmt: skip
_DECIMAL_LENGTH_MAX = 18  # characters; with no exponent it is far from every limit
_CHECKS_MAX = 10_000


@dataclass(frozen=True, slots=True)
class AcceptedFilter:
    """A filter that is known to be good, and not yet read.

    Attributes:
        text: the text as it was given.
        key: the key of the shape; None where the filter must be read alone.
        constants: the constants as they stand in the text.
    """

    text: str
    key: str | None
    constants: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Check:
    """What makes a filter of a shape surely good.

    Attributes:
        numbers: the constants that have a slot.
        kinds: the kind of each of these.
        frozen: the number and the text of each frozen constant.
    """

    numbers: tuple[int, ...]
    kinds: tuple[_Plain, ...]
    frozen: tuple[tuple[int, str], ...]


class DeferredReader:
    """Reads the filters of a schema, and keeps the shapes it has met. For one thread at a time.

    Without programs, the whole filter is a predicate, as `read_filters` says.
    """

    def __init__(
        self, schema: Schema, limits: Limits = DEFAULT_LIMITS, has_programs: bool = True
    ) -> None:
        self._shapes = Shapes(schema, limits, has_programs)
        self._checks: dict[str, _Check | None] = {}

    def accept(self, text: Any) -> AcceptedFilter:
        """The filter of a text.

        Raises:
            FilterError: the filter cannot be accepted.
        """
        found = cut_one(text, self._shapes.limits) if isinstance(text, str) else None
        if found is not None and self._is_fine(*found):
            return AcceptedFilter(text, *found)
        if text is None:
            raise FilterError("the filter is null")
        limits = self._shapes.limits
        read_expression(text, self._shapes.schema, limits)
        if found is None:
            return AcceptedFilter(text, None)
        self._remember(*found)
        return AcceptedFilter(text, *found)

    def _is_fine(self, key: str, constants: tuple[str, ...]) -> bool:
        """Whether a filter is surely good: its shape is known, and its constants are plain."""
        wanted = self._checks.get(key)
        if wanted is None or any(constants[n] != text for n, text in wanted.frozen):
            return False
        most = self._shapes.limits.literal_bytes_max
        given = (constants[number] for number in wanted.numbers)
        return all(map(_fits, wanted.kinds, given, repeat(most)))

    def _remember(self, key: str, constants: tuple[str, ...]) -> None:
        """Remembers with which constants a filter of a shape is surely good.

        Of the texts of frozen constants, those of the last filter that was read in full count.
        """
        if len(self._checks) >= _CHECKS_MAX:
            self._checks = {}
        shape = self._shapes.of(key)
        self._checks[key] = None if shape is None else _check_of(shape, constants)

    def read_accepted(self, filters: Sequence[AcceptedFilter]) -> PredicateTable:
        """The table of filters that were accepted."""
        builder = TableBuilder(self._shapes.schema, len(filters))
        known: dict[str, int] = {}
        shapes = [-1 if f.key is None else known.setdefault(f.key, len(known)) for f in filters]
        counts = [len(f.constants) for f in filters]
        starts = np.cumsum([0, *counts])[:-1]
        literals = constants_of([c for f in filters for c in f.constants], builder.string)
        cut = Cut(np.array(shapes, np.int64), list(known), starts, literals)
        for row in read_cut(cut, self._shapes, builder).tolist():
            read_alone(row, filters[row].text, self._shapes, builder)
        return builder.finish(len(known))


def _check_of(shape: FilterShape, constants: tuple[str, ...]) -> _Check | None:
    """The check of a shape, after a good filter; None where no check suffices."""
    found: dict[int, _Plain] = {}
    tests = (test.leaf for test in shape.program)
    for leaves in (*shape.conjunctions, tests):
        for leaf in leaves:
            for slot in slots_of(leaf):
                kind = _kind(leaf)
                if kind is None or found.setdefault(slot.number, kind) != kind or slot.date:
                    return None
    if found.keys() | set(shape.frozen) != set(range(len(constants))):
        return None
    frozen = tuple((number, constants[number]) for number in shape.frozen)
    return _Check(tuple(found), tuple(found.values()), frozen)


def _kind(leaf: Predicate) -> _Plain | None:
    """The kind of a predicate's constants, where any constant of that kind is good."""
    if isinstance(leaf, Comparison | Between | Member):
        return _PLAIN.get(leaf.attribute.kind)
    return None


def _fits(kind: _Plain, constant: str, bytes_max: int) -> bool:
    """Whether a constant is a plain one of its kind."""
    if kind == "number":
        return len(constant) <= _DECIMAL_LENGTH_MAX and "e" not in constant.lower()
    if "\\" in constant or 4 * len(constant) > bytes_max:
        return False
    return kind == "string" or _is_time(constant[1:-1])


def _is_time(text: str) -> bool:
    try:
        parse_time(text)
    except ValueError:
        return False
    return True
