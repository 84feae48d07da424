"""Fragments: filters of rare shapes, read predicate by predicate.

Where filters choose freely among many attributes, hardly two have one shape. But a filter that
only joins predicates by AND is made of fragments, and there are few of those: each is compiled
once, and the constants of all filters that have it are read as columns. A filter with two
fragments on one attribute, or with a fragment that is more than one conjunction, is left to the
reading of single filters, as is one whose constants are irregular.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from wherecast.language.literals import MARK, Cut, example_of
from wherecast.language.numbered import Numbered
from wherecast.language.shapes import columns_of_shape, compile_shape, taken
from wherecast.language.table_builder import Rows, TableBuilder
from wherecast.model import Limits, Schema

Ints = npt.NDArray[np.int64]

_AND = re.compile(r"[ \t\r\n]+AND[ \t\r\n]+", re.IGNORECASE)  # \s would take marks too
_BETWEEN = re.compile(r"\bBETWEEN\b", re.IGNORECASE)
_COMPLEX = re.compile(r"\bOR\b|\bCASE\b|--|/\*|[`;]", re.IGNORECASE)


@dataclass(slots=True)
class _Uses:
    """Which filters have each fragment, and where its constants start in them."""

    fragments: Numbered = field(default_factory=Numbered)
    numbers: list[int] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)


def read_fragments(
    rows: Ints, parts: Cut, schema: Schema, limits: Limits, builder: TableBuilder
) -> Ints:
    """Adds the filters that are regular fragments joined by AND; returns the other rows."""
    uses = _uses(rows, parts, limits)
    if not uses.rows:
        return rows
    numbers, owners, starts = (
        np.array(c, np.int64) for c in (uses.numbers, uses.rows, uses.starts)
    )
    regular = np.zeros(len(parts.shapes), bool)
    regular[owners] = True
    found: list[tuple[Ints, npt.NDArray[np.bool_], list[Rows]]] = []
    order = np.argsort(numbers, kind="stable")
    ends = np.searchsorted(numbers[order], np.arange(len(uses.fragments.things) + 1))
    for number, key in enumerate(uses.fragments.things):
        mine = order[ends[number] : ends[number + 1]]
        made = _rows_of(key, starts[mine], parts, schema, limits, builder)
        if made is None:
            regular[owners[mine]] = False
        else:
            regular[owners[mine[~made[0]]]] = False
            found.append((owners[mine], *made))
    _refuse_repeated(found, regular)
    for mine, _, columns in found:
        kept = np.flatnonzero(regular[mine])
        if len(kept):
            builder.add_columns(mine[kept], [[taken(part, kept) for part in columns]])
    return rows[~regular[rows]]


def _uses(rows: Ints, parts: Cut, limits: Limits) -> _Uses:
    """The fragments of all rows that are made of some."""
    uses = _Uses()
    starts = parts.starts[rows].tolist()
    for row, shape, start in zip(rows.tolist(), parts.shapes[rows].tolist(), starts, strict=True):
        pieces = _pieces(parts.keys[shape])
        if pieces is None or len(pieces) > limits.predicates_max:
            continue
        for piece in pieces:
            uses.numbers.append(uses.fragments.number(piece))
            uses.rows.append(row)
            uses.starts.append(start)
            start += sum(map(bool, piece.split(MARK)[1::2]))
    return uses


def _pieces(key: str) -> list[str] | None:
    """The fragments of a shape's key, or None where it is not predicates joined by AND."""
    if _COMPLEX.search(key):
        return None
    pieces: list[str] = []
    for piece in _AND.split(key):
        if pieces and _BETWEEN.search(pieces[-1]) and " AND " not in pieces[-1]:
            pieces[-1] += " AND " + piece
        else:
            pieces.append(piece)
    balanced = all(piece.count("(") == piece.count(")") for piece in pieces)
    return pieces if balanced else None


def _rows_of(
    key: str, starts: Ints, parts: Cut, schema: Schema, limits: Limits, builder: TableBuilder
) -> tuple[npt.NDArray[np.bool_], list[Rows]] | None:
    """Which uses of a fragment are regular, and its predicate rows; None where it does not fit."""
    example = example_of(key)
    shape = None if example is None else compile_shape(example, schema, limits)
    if shape is None or len(shape.conjunctions) != 1:
        return None
    made = columns_of_shape(shape, starts, parts.literals, builder, limits)
    return None if made is None else (made[0], made[1][0])


def _refuse_repeated(
    found: Sequence[tuple[Ints, npt.NDArray[np.bool_], list[Rows]]],
    regular: npt.NDArray[np.bool_],
) -> None:
    """Marks the filters of which two fragments speak of one attribute as irregular."""
    attributes = Numbered()
    uses = [
        (rows, attributes.number(attribute))
        for rows, _, columns in found
        for attribute in {part.attribute for part in columns}
    ]
    if uses:
        width = len(attributes.things)
        pairs = np.concatenate([rows * width + number for rows, number in uses])
        distinct, counts = np.unique(pairs, return_counts=True)
        regular[distinct[counts > 1] // width] = False
