"""The arrays that the kernel of single publications works on, for one call at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from wherecast.matching.columnar.layout import (
    ArrayState,
    Pointers,
    ProgramPointers,
    RowWord,
)
from wherecast.matching.columnar.search.encoder import address
from wherecast.matching.columnar.search.pattern_memory import Generation
from wherecast.matching.columnar.search.program_formulas import STACK_MAX
from wherecast.matching.columnar.slots import keys_of

Ints = npt.NDArray[np.int64]
ELEMENTS_MAX = 256
"""Elements of arrays of a publication, more of which are left to the batch."""
_NO_PATTERNS = Generation(0, 0)
STOPS_MAX = 20
"""Candidates that stop at tests which the kernel cannot decide, likewise."""


@dataclass(frozen=True, slots=True, eq=False)
class RowRooms:
    """The sizes of the arrays of a state, and the inputs that all states share.

    Attributes:
        width: number of slots.
        search: int64, the addresses that the fields of `Pointers` name, but for those of a state.
        programs: int64, those of `ProgramPointers`; None where nothing remains to be decided.
        words: values of `RowWord` that do not belong to a state.
        elements: the slots of elements of arrays.
        out, extra, half: numbers of matches, candidates, and half the size of the scratch.
        filters: number of filters, where stamps are used; else 0.
        held: what the addresses point to, held so that it stays in memory.
    """

    width: int
    search: Ints
    programs: Ints | None
    words: dict[RowWord, int]
    elements: Sequence[int]
    out: int
    extra: int
    half: int
    filters: int
    held: tuple[Any, ...]


class RowState:
    """The values of one publication by slot, and what the kernel finds.

    Attributes:
        at: the address that the kernel takes.
        words: as `RowWord` says.
        doubles, ints: the values, the same memory.
        there: whether each value is there.
        texts: the strings by slot; those of earlier publications may be left.
        codes: int32, the places of strings in the memory of patterns.
        stops: the filter, the test and the verdict of each candidate that stopped.
        generation: of the memory of patterns, to which `pointers` point.
        pointers: int64, as `ProgramPointers` says; None where nothing remains to be decided.
        out: int32, the matches.
    """

    def __init__(self, rooms: RowRooms) -> None:
        width = rooms.width
        self._rooms = rooms
        self._values = np.zeros(width, np.int64)
        self._there = np.zeros(width, np.uint8)
        self._columns = address(self._values) + 8 * np.arange(width)
        self._keys, self._row = np.zeros(width, np.int64), np.zeros(width + 32, np.uint16)
        self._extra = np.empty((rooms.extra, 2), np.int32)
        self._scratch = np.empty(2 * rooms.half, np.int32)
        self._stops, self._stack = np.zeros((STOPS_MAX, 3), np.int64), np.empty(STACK_MAX + 1)
        self._marks = np.zeros(rooms.filters, np.uint8)
        self._elements = np.zeros(ELEMENTS_MAX, np.int64)
        self._element_keys = np.zeros(ELEMENTS_MAX, np.int64)
        self._element_slots = np.zeros(ELEMENTS_MAX, np.int32)
        self._element_starts = np.zeros((width, 2), np.int64)
        self._element_states = np.zeros(width, np.uint8)
        self.out = np.empty(rooms.out, np.int32)
        self.codes = np.full(width, -1, np.int32)
        self.texts: dict[int, str] = {}
        self.ints = memoryview(self._values)
        self.doubles = memoryview(self._values.view(np.float64))
        self.there, self._nothing = memoryview(self._there), bytes(width)
        self.stops = memoryview(self._stops)
        self._search = rooms.search.copy()
        self._search[Pointers.COLUMNS] = address(self._columns)
        self._search[Pointers.SCRATCH] = address(self._scratch)
        self._search[Pointers.STAMPS] = address(self._marks)
        words = np.zeros(len(RowWord), np.int64)
        for word, number in {**rooms.words, **self._own_words()}.items():
            words[word] = number
        self.pointers = None if rooms.programs is None else self._program_pointers(rooms.programs)
        if self.pointers is not None:
            words[RowWord.PROGRAMS] = address(self.pointers)
        self._words, self.words, self.at = words, memoryview(words), address(words)
        self._elements_in_use = False
        self.generation = _NO_PATTERNS

    def _own_words(self) -> dict[RowWord, int]:
        rooms = self._rooms
        return {
            RowWord.SEARCH: address(self._search), RowWord.ROW: address(self._row),
            RowWord.VALUES: address(self._values), RowWord.THERE: address(self._there),
            RowWord.KEYS: address(self._keys), RowWord.OUT: address(self.out),
            RowWord.EXTRA: address(self._extra), RowWord.STOPS: address(self._stops),
            RowWord.MARKS: address(self._marks), RowWord.ELEMENTS: address(self._elements),
            RowWord.ELEMENT_SLOTS: address(self._element_slots), RowWord.WIDTH: rooms.width,
            RowWord.HALF: rooms.half, RowWord.OUT_ROOM: rooms.out,
            RowWord.EXTRA_ROOM: rooms.extra, RowWord.STOPS_ROOM: STOPS_MAX,
            RowWord.FILTERS: rooms.filters,
        }  # fmt: skip

    def _program_pointers(self, given: Ints) -> Ints:
        pointers = given.copy()
        for place, array in {
            ProgramPointers.KEYS: self._keys, ProgramPointers.THERE: self._there,
            ProgramPointers.STACK: self._stack, ProgramPointers.CODES: self.codes,
        }.items():  # fmt: skip
            pointers[place] = address(array)
        self._element_pointers = np.zeros((3, self._rooms.width), np.int64)
        for slot in self._rooms.elements:
            self._element_pointers[:, slot] = (
                address(self._element_starts) + 16 * slot,
                address(self._element_keys),
                address(self._element_states) + slot,
            )
        pointers[ProgramPointers.ELEMENT_STARTS :] = [
            address(one) for one in self._element_pointers
        ]
        return pointers

    def clear(self) -> None:
        """Forgets the values of the publication before."""
        self.there[:] = self._nothing
        if self._elements_in_use:
            self._elements_in_use = False
            self.words[RowWord.ELEMENT_COUNT] = 0
            self._element_states[:] = ArrayState.MISSING

    def put_elements(self, slot: int, values: Sequence[float | int], has_null: bool) -> None:
        """Puts the distinct elements of an array.

        Raises:
            OverflowError: there are too many, or one is no 64-bit number.
        """
        start = self.words[RowWord.ELEMENT_COUNT]
        end = start + len(values)
        if end > ELEMENTS_MAX:
            raise OverflowError(end)
        self._elements_in_use = True
        kind = np.float64 if values and type(values[0]) is float else np.int64
        held = np.array(values, kind)
        self._elements[start:end] = held.view(np.int64)
        self._element_keys[start:end] = keys_of(held)
        self._element_slots[start:end] = slot
        self._element_starts[slot] = start, end
        self._element_states[slot] = ArrayState.WITH_NULL if has_null else ArrayState.THERE
        self.words[RowWord.ELEMENT_COUNT] = end
