"""The kept filters of tables that are being joined, and their rows in the joined arrays."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from wherecast.arrays.ranges import spans
from wherecast.language.table.numbering import Ints
from wherecast.language.table.predicate_table import Kind, PredicateTable
from wherecast.model import FilterError

Chosen = npt.NDArray[Any]  # bool, which filters are kept; or int64, their places
_ROWS = {
    "attribute": np.int32, "kind": np.uint8, "low": np.int64, "high": np.int64, "jumps": np.uint32,
}  # fmt: skip


@dataclass(slots=True, eq=False)
class TablePart:
    """The kept filters of one table, counted from 0.

    Attributes:
        table: where they are from.
        chosen: int64 [filters], their places in the table, None where all are kept as they are.
        filter_ends: int64 [filters], where their conjunctions end.
        conjunction_ends: int64 [conjunctions], where their rows end.
        rows: int64 [predicates], the rows of the table, None where all are kept.
    """

    table: PredicateTable
    chosen: Ints | None
    filter_ends: Ints
    conjunction_ends: Ints
    rows: Ints | None

    @staticmethod
    def of(table: PredicateTable, chosen: Chosen | None) -> "TablePart":
        """The part of a table that a mask keeps, or that places name, in their order."""
        if chosen is not None and chosen.dtype == bool:
            assert len(chosen) == len(table)
            chosen = None if chosen.all() else np.flatnonzero(chosen)
        if chosen is None:
            ends = table.conjunction_offsets[1:], table.predicate_offsets[1:]
            return TablePart(table, None, *ends, None)
        firsts = table.conjunction_offsets[chosen]
        sizes = table.conjunction_offsets[chosen + 1] - firsts
        conjunctions = spans(firsts, sizes)
        firsts = table.predicate_offsets[conjunctions]
        predicates = table.predicate_offsets[conjunctions + 1] - firsts
        rows = spans(firsts, predicates)
        return TablePart(table, chosen, np.cumsum(sizes), np.cumsum(predicates), rows)

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(self.table.kind) if self.rows is None else len(self.rows)


@dataclass(slots=True, eq=False)
class TableView:
    """A part of the joined arrays; it has the numbers of its own table until they are replaced.

    Attributes:
        part: what it was copied from.
        attribute, kind, low, high, jumps: its rows.
        set_keys: the keys of its sets.
        texts: int64, the places in `set_keys` that have numbers of strings.
    """

    part: TablePart
    attribute: npt.NDArray[np.int32]
    kind: npt.NDArray[np.uint8]
    low: Ints
    high: Ints
    jumps: npt.NDArray[np.uint32]
    set_keys: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    texts: Ints = field(default_factory=lambda: np.zeros(0, np.int64))

    def rows(self, kind: Kind) -> Ints:
        """The rows of a kind."""
        return np.flatnonzero(self.kind == int(kind))  # an enum would slow NumPy down

    def used(self, count: int, *numbers: npt.NDArray[Any]) -> Ints | None:
        """The numbers below `count` that are there, sorted; None where all are, as all is kept."""
        if self.part.rows is None:
            return None
        flags = np.zeros(count + 1, bool)  # one more for -1
        for some in numbers:
            flags[some] = True
        return np.flatnonzero(flags[:-1])


def offsets_of(ends: Sequence[Ints]) -> Ints:
    """The ends of all parts, one after the other, with a 0 before."""
    offsets = np.zeros(1 + sum(map(len, ends)), np.int64)
    place = last = 0
    for some in ends:
        if len(some):
            np.add(some, last, out=offsets[place + 1 : place + 1 + len(some)])
            place += len(some)
            last = int(offsets[place])
    return offsets


def rejected_of(parts: Sequence[TablePart]) -> tuple[tuple[int, FilterError], ...]:
    """The rejected filters that are kept, with their rows in the joined table."""
    found: list[tuple[int, FilterError]] = []
    start = 0
    for part in parts:
        rejected = part.table.rejected
        if part.chosen is None:
            found += [(start + row, error) for row, error in rejected]
        elif rejected:
            errors = dict(rejected)
            places = np.flatnonzero(np.isin(part.chosen, list(errors)))
            found += [(start + place, errors[part.chosen[place]]) for place in places.tolist()]
        start += len(part.filter_ends)
    return tuple(found)


def copied(parts: Sequence[TablePart]) -> tuple[dict[str, npt.NDArray[Any]], list[TableView]]:
    """The kept rows of all parts in new arrays, and the views of each part into them."""
    size = sum(part.size for part in parts)
    arrays: dict[str, npt.NDArray[Any]] = {n: np.empty(size, type_) for n, type_ in _ROWS.items()}
    views: list[TableView] = []
    start = 0
    for part in parts:
        end = start + part.size
        own = {name: array[start:end] for name, array in arrays.items()}
        for name, view in own.items():
            given = getattr(part.table, name)
            if part.rows is None:
                view[:] = given
            else:
                np.take(given, part.rows, out=view, mode="clip")  # the mode that needs no buffer
        views.append(TableView(part, **own))
        start = end
    return arrays, views
