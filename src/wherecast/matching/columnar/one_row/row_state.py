"""The arrays that the kernel of single publications works on, for one call at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from wherecast.matching.columnar.layout import (
    Pointers,
    ProgramPointers,
    RowWord,
)
from wherecast.matching.columnar.one_row.slot_values import SlotValues
from wherecast.matching.columnar.search.encoder import address
from wherecast.matching.columnar.search.pattern_memory import Generation
from wherecast.matching.columnar.search.program_formulas import STACK_MAX

Ints = npt.NDArray[np.int64]
_NO_PATTERNS = Generation(0, 0)
STOPS_MAX = 64
"""Candidates that stop at tests which the kernel does not know; more are left to the batch."""


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


class RowState(SlotValues):
    """The values of one publication by slot, and what the kernel finds.

    Attributes:
        at: the address that the kernel takes.
        words: as `RowWord` says.
        codes: int32, the places of strings in the memory of patterns.
        stops: the filter, the test and the verdict of each candidate that stopped.
        generation: of the memory of patterns, to which `pointers` point.
        pointers: int64, as `ProgramPointers` says; None where nothing remains to be decided.
        out: int32, the matches.
    """

    def __init__(self, rooms: RowRooms) -> None:
        width = rooms.width
        super().__init__(width)
        self._rooms = rooms
        self._columns = address(self._values) + 8 * np.arange(width)
        self._keys, self._row = np.zeros(width, np.int64), np.zeros(width + 32, np.uint16)
        self._extra = np.empty((rooms.extra, 2), np.int32)
        self._scratch = np.empty(2 * rooms.half, np.int32)
        self._stops, self._stack = np.zeros((STOPS_MAX, 3), np.int64), np.empty(STACK_MAX + 1)
        self._marks = np.zeros(rooms.filters, np.uint8)
        self.out = np.empty(rooms.out, np.int32)
        self.codes = np.full(width, -1, np.int32)
        self.stops: Any = memoryview(self._stops)  # type: ignore[arg-type]
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
        self._words, self.at = words, address(words)
        self.words: Any = memoryview(words)  # type: ignore[arg-type]
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
        own: dict[ProgramPointers, npt.NDArray[Any]] = {
            ProgramPointers.KEYS: self._keys, ProgramPointers.THERE: self._there,
            ProgramPointers.STACK: self._stack, ProgramPointers.CODES: self.codes,
        }  # fmt: skip
        for place, array in own.items():
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
