"""Verdicts on patterns that stay known from batch to batch, by pattern and string.

Contract. Any number of threads may use one memory. A generation of it only gains strings and
verdicts; where it is full, a new one takes its place, and a run goes on with the one it has.
"""

from collections.abc import Sequence
from threading import Lock

import numpy as np
import numpy.typing as npt

from wherecast.matching.columnar.slots import SlotColumn

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
TEXTS_MAX = 1_024
"""Strings that a generation knows."""
_TEXTS_MIN = 64
_VERDICTS_MAX = 1 << 24
_LETTERS_MAX = 1 << 20


class Generation:
    """Some strings, and the verdicts on them.

    Attributes:
        verdicts: uint8 [patterns, strings], 0 where unknown, 1 for false, 2 for true.
    """

    def __init__(self, patterns: int, texts_max: int) -> None:
        self.verdicts = np.zeros((patterns, texts_max), np.uint8)
        self._places: dict[str, int] = {}
        self._letters = 0
        self._lock = Lock()

    def places(self, texts: Sequence[str]) -> Ints | None:
        """The places of strings, which are added; None where the generation is full."""
        known = self._places
        with self._lock:
            new = [text for text in dict.fromkeys(texts) if text not in known]
            self._letters += sum(map(len, new))
            is_full = len(known) + len(new) > self.verdicts.shape[1]
            if is_full or self._letters > _LETTERS_MAX:
                return None
            for text in new:
                known[text] = len(known)
            return np.array([known[text] for text in texts], np.int64)

    def remember(self, patterns: Ints, places: Ints, holds: Bools) -> None:
        """Notes verdicts; a place below 0 is of a string that the generation does not know.

        Shapes: patterns, places int64, holds bool, each [verdicts].
        """
        known = places >= 0
        self.verdicts[patterns[known], places[known]] = holds[known].astype(np.uint8) + 1


class PatternMemory:
    """The memory of the patterns of a table.

    Args:
        patterns: number of patterns.
        slots: the slots that patterns ask.
    """

    def __init__(self, patterns: int, slots: Sequence[int]) -> None:
        self._patterns, self._slots = patterns, slots
        self._texts_max = min(TEXTS_MAX, _VERDICTS_MAX // max(1, patterns))
        self._generation = Generation(patterns if self._is_used else 0, self._texts_max)

    @property
    def _is_used(self) -> bool:
        return self._texts_max >= _TEXTS_MIN

    @property
    def slots(self) -> Sequence[int]:
        """The slots whose strings have places in the memory."""
        return self._slots if self._is_used else ()

    def places(self, texts: Sequence[str]) -> tuple[Generation, Ints | None]:
        """The generation for a publication, and the places of strings in it; None: not known."""
        generation = self._generation
        places = generation.places(texts)
        if places is None:  # the next publication begins with a new one
            self._generation = Generation(self._patterns, self._texts_max)
        return generation, places

    def codes(
        self, columns: Sequence[SlotColumn], rows: int
    ) -> tuple[Generation, npt.NDArray[np.int32]]:
        """The generation for a batch, and the places of the strings of the batch in it.

        Shapes: codes int32 [rows, columns], -1 where the generation does not know the string.
        """
        codes = np.full((rows, len(columns)), -1, np.int32)
        generation = self._generation
        for slot in self._slots if self._is_used else ():
            column = columns[slot]
            if column.texts is None or column.codes is None or not len(column.texts):
                continue
            if column.texts.null_count or 2 * len(column.texts) > self._texts_max:
                continue
            places = generation.places(column.texts.to_pylist())
            if places is None:  # the next batch begins with a new one
                self._generation = Generation(self._patterns, self._texts_max)
                break
            codes[:, slot] = places[column.codes]
        return generation, codes
