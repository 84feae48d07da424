"""Fragments: filters of rare shapes, read predicate by predicate.

Where filters choose freely among many attributes, hardly two have one shape. But a filter that
only joins predicates by AND is made of fragments, and there are few of those: each is compiled
once, and the constants of all filters that have it are read as columns. A filter with two
fragments on one attribute, or with a fragment that is more than one conjunction, is left to the
reading of single filters, as is one whose constants are irregular.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wherecast.language.bulk.conjuncts import Pieces, split
from wherecast.language.bulk.filter_shapes import column_of_rows, columns_of_shape, compile_shape
from wherecast.language.bulk.literals import Cut, example_of
from wherecast.language.bulk.tokens import TokenKeys, distinct
from wherecast.language.meaning.derived import Derived
from wherecast.language.meaning.element import Element
from wherecast.language.meaning.expression import Predicate, attributes_of
from wherecast.language.table.numbering import Ints, Numbering
from wherecast.language.table.table_builder import PredicateColumn, TableBuilder
from wherecast.model import Limits, Schema

_BLOCK_ROWS = 65_536  # that are split at once


@dataclass(frozen=True, slots=True, eq=False)
class _Uses:
    """Which filters have each fragment.

    Attributes:
        numbers: int64, for each use the number of its fragment.
        rows: int64, its filter.
        starts: int64, where its constants start.
        keys: the fragments, as texts.
    """

    numbers: Ints
    rows: Ints
    starts: Ints
    keys: list[str]


def read_fragments(
    rows: Ints, parts: Cut, schema: Schema, limits: Limits, builder: TableBuilder
) -> Ints:
    """Adds the filters that are regular fragments joined by AND; returns the other rows."""
    uses = _uses(rows, parts, limits)
    regular = np.zeros(len(parts.shapes), bool)
    regular[uses.rows] = True
    balanced = np.array([key.count("(") == key.count(")") for key in uses.keys], bool)
    regular[uses.rows[~balanced[uses.numbers]]] = False
    found: list[tuple[Ints, npt.NDArray[np.bool_], list[PredicateColumn]]] = []
    order = np.argsort(uses.numbers, kind="stable")
    ends = np.searchsorted(uses.numbers[order], np.arange(len(uses.keys) + 1))
    for number, key in enumerate(uses.keys):
        mine = order[ends[number] : ends[number + 1]]
        mine = mine[regular[uses.rows[mine]]]
        if not len(mine):
            continue
        owners = uses.rows[mine]
        made = _predicates_of(key, uses.starts[mine], parts, schema, limits, builder)
        if made is None:
            regular[owners] = False
        else:
            regular[owners[~made[0]]] = False
            found.append((owners, *made))
    _refuse_repeated(found, regular)
    for mine, _, columns in found:
        kept = np.flatnonzero(regular[mine])
        if len(kept):
            builder.add_columns(mine[kept], [[column_of_rows(column, kept) for column in columns]])
    return rows[~regular[rows]]


def _uses(rows: Ints, parts: Cut, limits: Limits) -> _Uses:
    """The fragments of all rows that consist of fragments."""
    pieces, fragments = Pieces(TokenKeys.of(parts.keys)), Numbering()
    numbers, owners, starts = [], [], []
    for start in range(0, len(rows), _BLOCK_ROWS):
        block = split(rows[start : start + _BLOCK_ROWS], parts, pieces, limits.predicates_max)
        coded, keys = distinct(block.tokens, block.offsets, pieces.parts.things)
        known = [fragments.number(key) for key in keys]
        numbers.append(np.array(known, np.int64)[coded])
        owners.append(block.rows)
        starts.append(block.starts)
    return _Uses(
        np.concatenate(numbers),
        np.concatenate(owners),
        np.concatenate(starts),
        fragments.things,
    )


def _predicates_of(
    key: str, starts: Ints, parts: Cut, schema: Schema, limits: Limits, builder: TableBuilder
) -> tuple[npt.NDArray[np.bool_], list[PredicateColumn]] | None:
    """Which uses of a fragment are regular, and its predicates; None where it does not fit."""
    example = example_of(key)
    shape = None if example is None else compile_shape(example, schema, limits)
    if shape is None or shape.frozen or shape.program or len(shape.conjunctions) != 1:
        return None
    if any(map(_depends_on_the_rest, shape.conjunctions[0])):
        return None
    made = columns_of_shape(shape, starts, parts.literals, builder, limits)
    return None if made is None else (made[0], made[1][0])


def _depends_on_the_rest(leaf: Predicate) -> bool:
    """Whether the plan of a predicate depends on the rest of the filter."""
    return any(isinstance(one, Derived | Element) for one in attributes_of(leaf))


def _refuse_repeated(
    found: Sequence[tuple[Ints, npt.NDArray[np.bool_], list[PredicateColumn]]],
    regular: npt.NDArray[np.bool_],
) -> None:
    """Marks the filters of which two fragments speak of one attribute as irregular."""
    attributes = Numbering()
    uses = [
        (rows, attributes.number(attribute))
        for rows, _, columns in found
        for attribute in {column.attribute for column in columns}
    ]
    if uses:
        width = len(attributes.things)
        pairs = np.concatenate([rows * width + number for rows, number in uses])
        distinct, counts = np.unique(pairs, return_counts=True)
        regular[distinct[counts > 1] // width] = False
