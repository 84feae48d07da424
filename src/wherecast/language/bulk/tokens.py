"""Texts without their constants, as rows of tokens.

A token is a piece of text and what ends it: a constant of some class, a name that has a digit, an
AND that belongs to a BETWEEN, or the end. Rows of tokens are compared and numbered as they are; a
text is only made of those that somebody asks for.
"""

from collections.abc import Sequence
from typing import overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.arrays.vectors import values_of
from wherecast.language.table.numbering import Ints, Numbering

MARK = "\x1f"
NAME, INT, LONG, DECIMAL, STRING, END, AND = range(7)
_ENDS = (MARK * 2, *(f"{MARK}{name}{MARK}" for name in "inds"), "", " AND ")
_CLASSES = {"": NAME, "i": INT, "n": LONG, "d": DECIMAL, "s": STRING, "end": END}
_BITS = 3  # of a token, for what ends it
_LAST = (1 << _BITS) - 1

Tokens = npt.NDArray[np.int32]


def tokens_of(pieces: npt.NDArray[np.integer], ends: npt.NDArray[np.integer]) -> Tokens:
    """Tokens from the numbers of pieces and what ends them."""
    return (pieces.astype(np.int32) << _BITS) | ends.astype(np.int32)


def pieces_of(tokens: Tokens) -> Tokens:
    """The numbers of the pieces of tokens."""
    return tokens >> _BITS


def ends_of(tokens: Tokens) -> Tokens:
    """What ends each token."""
    return tokens & _LAST


def are_constants(tokens: Tokens) -> npt.NDArray[np.bool_]:
    """Which tokens are ended by a constant."""
    ends = ends_of(tokens)
    return (ends >= INT) & (ends <= STRING)


def cumulated(counts: npt.NDArray[np.generic]) -> Ints:
    """Offsets from counts, int64 [counts + 1]: each start, and the end of the last."""
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def spans(starts: Ints, sizes: Ints) -> Ints:
    """The places inside spans of given starts and sizes, one span after the other."""
    offsets = cumulated(sizes)
    return np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], sizes)


class TokenKeys(Sequence[str]):
    """Rows of tokens, each as a text with marks in the place of constants.

    Attributes:
        tokens: int32, those of all rows.
        offsets: int64 [rows + 1], where those of each row start.
        pieces: the texts that tokens name.
    """

    def __init__(self, tokens: Tokens, offsets: Ints, pieces: list[str]) -> None:
        self.tokens = tokens
        self.offsets = offsets
        self.pieces = pieces

    @classmethod
    def of(cls, keys: Sequence[str]) -> "TokenKeys":
        """The rows of tokens of such texts."""
        if isinstance(keys, TokenKeys):
            return keys
        split = [key.split(MARK) for key in keys]
        pieces = Numbering()
        numbers = [pieces.number(piece) for row in split for piece in row[::2]]
        ends = [_CLASSES[name] for row in split for name in (*row[1::2], "end")]
        sizes = np.array([(len(row) + 1) // 2 for row in split], np.int64)
        tokens = tokens_of(np.array(numbers, np.int64), np.array(ends, np.int64))
        return cls(tokens, cumulated(sizes), pieces.things)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[str]: ...
    def __getitem__(self, place: int | slice) -> str | Sequence[str]:
        places = range(len(self))[place]
        if isinstance(places, range):
            return [self[each] for each in places]
        row = self.tokens[self.offsets[places] : self.offsets[places + 1]]
        return key_of(row, self.pieces)


def key_of(tokens: Tokens, pieces: Sequence[str]) -> str:
    """The text of a row of tokens."""
    ends, numbers = ends_of(tokens).tolist(), pieces_of(tokens).tolist()
    return "".join(pieces[number] + _ENDS[end] for number, end in zip(numbers, ends, strict=True))


def distinct(tokens: Tokens, offsets: Ints, pieces: list[str]) -> tuple[Ints, TokenKeys]:
    """For each row of tokens its number, in the order of first appearance, and the distinct rows.

    Shapes: `offsets` is int64 [rows + 1], and says where each row starts in `tokens`.
    """
    places = np.ascontiguousarray(offsets * tokens.itemsize)
    buffers = [None, pa.py_buffer(places), pa.py_buffer(np.ascontiguousarray(tokens))]
    rows = pa.Array.from_buffers(pa.large_binary(), len(offsets) - 1, buffers)
    coded = rows.dictionary_encode()
    _, starts, data = coded.dictionary.buffers()
    count = len(coded.dictionary)
    ends = np.frombuffer(starts, np.int64, count + 1) if count else np.zeros(1, np.int64)
    found = np.frombuffer(data, np.int32, int(ends[-1]) // 4) if count else tokens[:0]
    return values_of(coded.indices).astype(np.int64), TokenKeys(found, ends // 4, pieces)
