"""Filters split at their ANDs into fragments, as tokens, without a loop over the filters."""

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wherecast.language.bulk.literals import Cut
from wherecast.language.bulk.tokens import (
    AND,
    END,
    TokenKeys,
    Tokens,
    are_constants,
    cumulated,
    ends_of,
    pieces_of,
    spans,
    tokens_of,
)
from wherecast.language.table.numbering import Ints, Numbering

_AND = re.compile(r"[ \t\r\n]+AND[ \t\r\n]+", re.IGNORECASE)  # \s would take marks too
_BETWEEN = re.compile(r"\bBETWEEN\b", re.IGNORECASE)
_COMPLEX = re.compile(r"\bOR\b|\bCASE\b|--|/\*|[`;]", re.IGNORECASE)


@dataclass(frozen=True, slots=True, eq=False)
class Fragments:
    """Fragments of filters.

    Attributes:
        rows: int64, for each fragment its filter; those of a filter stand in its order.
        starts: int64, where its constants start.
        tokens: int32, the tokens of all fragments; their pieces are numbered by `Pieces.parts`.
        offsets: int64 [fragments + 1], where the tokens of each fragment start.
    """

    rows: Ints
    starts: Ints
    tokens: Tokens
    offsets: Ints


class Pieces:
    """The pieces of keys, each split at its ANDs once, when it is first met.

    Attributes:
        keys: the shapes that have these pieces.
        parts: the distinct parts of pieces.
    """

    def __init__(self, keys: TokenKeys) -> None:
        self.keys = keys
        self._texts = texts = keys.pieces
        self._known = np.zeros(len(texts), bool)
        self._complex = np.zeros(len(texts), bool)
        self._starts = np.zeros(len(texts), np.int64)
        self._sizes = np.zeros(len(texts), np.int64)
        self._numbers: list[int] = []
        self.parts = Numbering()

    def meet(self, pieces: Tokens) -> None:
        """Splits the pieces that were not met before."""
        wanted = np.zeros(len(self._texts), bool)
        wanted[pieces] = True
        for piece in np.flatnonzero(wanted & ~self._known).tolist():
            parts = _AND.split(self._texts[piece])
            self._complex[piece] = _COMPLEX.search(self._texts[piece]) is not None
            self._starts[piece] = len(self._numbers)
            self._sizes[piece] = len(parts)
            self._numbers += map(self.parts.number, parts)
        self._known |= wanted

    def are_complex(self, pieces: Tokens) -> npt.NDArray[np.bool_]:
        """Which pieces show that their filter is more than predicates joined by AND."""
        return self._complex[pieces]

    def split(self, tokens: Tokens) -> tuple[Tokens, Ints]:
        """Tokens of parts, an AND being an end, and where those of each given token start."""
        pieces = pieces_of(tokens)
        sizes = self._sizes[pieces]
        offsets = cumulated(sizes)
        ends = np.full(offsets[-1], END, np.int8)
        ends[offsets[1:] - 1] = ends_of(tokens)
        numbers = np.array(self._numbers, np.int64)[spans(self._starts[pieces], sizes)]
        return tokens_of(numbers, ends), offsets

    def have_between(self) -> npt.NDArray[np.bool_]:
        """Which parts have a BETWEEN."""
        return np.array([_BETWEEN.search(part) is not None for part in self.parts.things], bool)


def split(rows: Ints, parts: Cut, pieces: Pieces, fragments_max: int) -> Fragments:
    """The fragments of the rows that are nothing but predicates joined by AND.

    A row of more than `fragments_max` fragments has none here.
    """
    tokens, offsets = _tokens_of(parts.shapes[rows], pieces.keys)
    pieces.meet(pieces_of(tokens))
    complex_before = cumulated(pieces.are_complex(pieces_of(tokens)))[offsets]
    rows = rows[np.diff(complex_before) == 0]
    tokens, offsets = _tokens_of(parts.shapes[rows], pieces.keys)
    tokens, places = pieces.split(tokens)
    offsets = places[offsets]
    heads = _heads(tokens, offsets, pieces)
    per_row = np.diff(np.searchsorted(heads, offsets))
    before = cumulated(are_constants(tokens))
    starts = before[heads] + np.repeat(parts.starts[rows] - before[offsets[:-1]], per_row)
    found = Fragments(np.repeat(rows, per_row), starts, tokens, np.append(heads, len(tokens)))
    return _taken(found, np.repeat(per_row <= fragments_max, per_row))


def _tokens_of(shapes: Ints, keys: TokenKeys) -> tuple[Tokens, Ints]:
    starts = keys.offsets[shapes]
    sizes = keys.offsets[shapes + 1] - starts
    return keys.tokens[spans(starts, sizes)], cumulated(sizes)


def _heads(tokens: Tokens, offsets: Ints, pieces: Pieces) -> Ints:
    """Where fragments start; the AND of a BETWEEN becomes a part of its fragment.

    Of conjuncts with a BETWEEN that follow each other, each second one ends the one before it.
    """
    ends = np.flatnonzero(ends_of(tokens) == END)
    starts = np.append(0, ends[:-1] + 1)[: len(ends)]
    between = cumulated(pieces.have_between()[pieces_of(tokens)])
    opens = between[ends + 1] > between[starts]
    is_first = np.zeros(len(tokens) + 1, bool)
    is_first[offsets] = True
    opens[is_first[ends + 1]] = False
    places = np.arange(len(ends))
    closed = np.maximum.accumulate(np.where(opens, -1, places))
    run = np.append(0, (places - closed)[:-1])[: len(ends)]
    is_head = (run & 1) == 0
    tokens[ends[np.flatnonzero(~is_head) - 1]] += AND - END
    heads: Ints = starts[is_head]
    return heads


def _taken(found: Fragments, kept: npt.NDArray[np.bool_]) -> Fragments:
    if kept.all():
        return found
    sizes = np.diff(found.offsets)[kept]
    return Fragments(
        found.rows[kept],
        found.starts[kept],
        found.tokens[spans(found.offsets[:-1][kept], sizes)],
        cumulated(sizes),
    )
