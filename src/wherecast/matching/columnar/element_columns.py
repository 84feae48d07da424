"""The elements of arrays as a search takes them.

A publication is searched for once with each element of its arrays: these are its *probes*. Each
conjunction asks for one element at most, so one probe decides it. Conjunctions that ask for none
are searched for by the first probe of a publication alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.arrays.list_elements import list_elements
from wherecast.arrays.ranges import counting, spans
from wherecast.matching.columnar.layout import ArrayState
from wherecast.matching.columnar.slots import SlotColumn, absent, column_of, keys_of, packed_bits

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
_PLACES_MAX = 1 << 62


@dataclass(frozen=True, slots=True, eq=False)
class ElementColumn:
    """The elements of one array attribute of a batch, publication after publication.

    Null elements, strings that no filter names, and what was there before are left out.

    Attributes:
        starts: int64 [publications + 1], where the elements of each begin.
        values: float64 or int64 [elements], as `SlotColumn` has them.
        keys: int64 [elements].
        states: uint8 [publications], an `ArrayState`.
    """

    starts: Ints
    values: npt.NDArray[np.float64] | npt.NDArray[np.int64]
    keys: Ints
    states: npt.NDArray[np.uint8]

    @staticmethod
    def of(array: pa.Array | None, rows: int, strings: pa.Array) -> "ElementColumn":
        """The elements of a list column, None where a batch has no such column."""
        if array is None:
            none = np.zeros(0, np.int64)
            return ElementColumn(np.zeros(rows + 1, np.int64), none, none, np.zeros(rows, np.uint8))
        found = list_elements(array)
        states = np.where(found.has_null, ArrayState.WITH_NULL, ArrayState.THERE) * found.present
        column = column_of(found.values, strings)
        starts, values = found.offsets, column.values
        if column.texts is not None:
            known = (values & 1).astype(bool)  # type: ignore[operator]
            before = np.zeros(len(values) + 1, np.int64)
            np.cumsum(known, out=before[1:])
            starts, values = before[starts], values[known]
        keys = keys_of(values)
        kept = _are_new(starts, keys)
        if not kept.all():
            before = np.concatenate([[0], np.cumsum(kept)])
            starts, values, keys = before[starts], values[kept], keys[kept]
        return ElementColumn(starts, values, keys, states.astype(np.uint8))


def _are_new(starts: Ints, keys: Ints) -> Bools:
    """Which elements have no equal one before them in their publication, bool [elements]."""
    owners = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    is_new, among = np.ones(len(keys), bool), np.arange(len(keys))
    least, most = int(keys.min(initial=0)), int(keys.max(initial=0))
    if most - least < _PLACES_MAX // len(starts):  # then one number says owner and key
        numbers = owners * (most - least + 1) + (keys - least)
        numbers.sort()  # takes a tenth of the time of an order
        doubled = numbers[1:][numbers[1:] == numbers[:-1]] // (most - least + 1)
        among = spans(starts[np.unique(doubled)], np.diff(starts)[np.unique(doubled)])
    order = among[np.lexsort((keys[among], owners[among]))]
    is_new[order[1:]] = (np.diff(owners[order]) != 0) | (np.diff(keys[order]) != 0)
    return is_new


@dataclass(frozen=True, slots=True, eq=False)
class Probes:
    """The probes of a batch.

    Attributes:
        columns: the columns of the slots, a row for each probe.
        owners: int64 [probes], the publication of each; None where each has one probe.
        starts: int64 [publications + 1], where the probes of each begin; None likewise.
    """

    columns: Sequence[SlotColumn]
    owners: Ints | None = None
    starts: Ints | None = None

    def publications(self, probes: Ints) -> Ints:
        """The publications that probes belong to."""
        return probes if self.owners is None else self.owners[probes]

    def some(self, publications: Ints) -> tuple[Ints, list[SlotColumn]]:
        """The probes of some publications, and their columns."""
        if self.owners is None:
            return publications, [column.take(publications) for column in self.columns]
        rows = np.flatnonzero(np.isin(self.owners, publications))
        return rows, [column.take(rows) for column in self.columns]

    @staticmethod
    def of(columns: Sequence[SlotColumn], elements: Mapping[int, ElementColumn]) -> "Probes":
        """The probes of publications: each with one element of one slot."""
        if not elements:
            return Probes(columns)
        sizes = {slot: np.diff(column.starts) for slot, column in elements.items()}
        counts = np.maximum(sum(sizes.values()), 1)
        starts = np.zeros(len(counts) + 1, np.int64)
        np.cumsum(counts, out=starts[1:])
        owners = np.repeat(np.arange(len(counts)), counts)
        made = [
            absent(len(owners)) if slot in elements else column.take(owners)
            for slot, column in enumerate(columns)
        ]
        first = starts[:-1].copy()
        for slot, size in sizes.items():
            places = np.repeat(first, size) + counting(size)
            made[slot] = _placed(elements[slot], places, len(owners))
            first += size
        return Probes(made, owners, starts)


def _placed(column: ElementColumn, places: Ints, rows: int) -> SlotColumn:
    """A column with elements in their places, and nothing elsewhere."""
    values: npt.NDArray[Any] = np.zeros(rows, column.values.dtype)
    values[places] = column.values
    present = np.zeros(rows, bool)
    present[places] = True
    return SlotColumn(values, packed_bits(present))
