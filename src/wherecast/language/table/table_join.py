"""Joins predicate tables: the filters of several, one after the other, without reading them again.

The attributes, strings, patterns and residuals of a table are numbered in an order that is the
same for every table of a schema. So the numbers of a part become those of the whole without
passing each other: rows within a conjunction and keys within a set keep their places, and only
the strings, patterns and residuals of different parts are sorted.
"""

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from wherecast.arrays.ranges import spans
from wherecast.language.meaning.derived import Derived
from wherecast.language.table.numbering import Ints, Numbering
from wherecast.language.table.predicate_table import Distances, Kind, PredicateTable
from wherecast.language.table.table_builder import attribute_place, pattern_key, residual_key
from wherecast.language.table.table_parts import (
    Chosen,
    TablePart,
    TableView,
    copied,
    offsets_of,
    rejected_of,
)
from wherecast.model import Attribute, Schema

_SET, _NOT_SET = int(Kind.SET), int(Kind.NOT_SET)  # NumPy compares with plain ints much sooner
_DISTANCES = tuple(field.name for field in fields(Distances))
_NO_DISTANCES = Distances(
    np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros((0, 2)), np.zeros(0, np.uint8),
    np.zeros(0),
)  # fmt: skip


def joined(parts: Sequence[tuple[PredicateTable, Chosen | None]], schema: Schema) -> PredicateTable:
    """One table with the kept filters of several tables, one after the other (None keeps all).

    It is what reading the kept texts would give, byte for byte, but for `shapes`: the sum over
    the parts, in which a shape of two parts counts twice and those of dropped filters still count.

    Args:
        parts: tables that were read with the schema, each with bool [filters], with the places of
            the filters that are kept in the order that they get, or with None.
        schema: the schema of all of them.

    Cost: a copy of the kept rows, and a sort of the strings where several parts have some.
    """
    taken = [TablePart.of(table, keep) for table, keep in parts]
    rows, views = copied(taken)
    set_keys = _join_sets(views)
    strings = _join_strings(views)
    patterns = _join_leaves(views, "patterns", Kind.PATTERN, pattern_key)
    residuals = _join_leaves(views, "residuals", Kind.RESIDUAL, residual_key)
    attributes, distances = _join_attributes(views, residuals, schema)
    return PredicateTable(
        attributes=attributes,
        conjunction_offsets=offsets_of([part.filter_ends for part in taken]),
        predicate_offsets=offsets_of([part.conjunction_ends for part in taken]),
        **rows,
        set_keys=set_keys,
        strings=strings,
        patterns=patterns,
        distances=distances,
        residuals=residuals,
        rejected=rejected_of(taken),
        shapes=sum(table.shapes for table, _ in parts),
    )


def _join_sets(views: Sequence[TableView]) -> Ints:
    """The keys of all sets; the rows get their new places in them."""
    owners = [view for view in views if len(view.part.table.set_keys)]
    chunks: list[Ints] = []
    start = 0
    for view in owners:
        chunks.append(_taken_sets(view, start))
        start += len(chunks[-1])
    set_keys = np.concatenate([np.zeros(0, np.int64), *chunks])
    start = 0
    for view, chunk in zip(owners, chunks, strict=True):
        view.set_keys = set_keys[start : start + len(chunk)]
        start += len(chunk)
    return set_keys


def _taken_sets(view: TableView, start: int) -> Ints:
    """The keys of a part's sets, which stand at `start` in the whole."""
    table = view.part.table
    rows = np.flatnonzero((view.kind == _SET) | (view.kind == _NOT_SET))
    lows = view.low[rows]
    sizes = view.high[rows] - lows
    ends = np.cumsum(sizes)
    starts = ends - sizes
    view.low[rows], view.high[rows] = starts + start, ends + start
    if len(table.strings):
        is_text = np.array([attribute.type == "string" for attribute in table.attributes], bool)
        view.texts = np.flatnonzero(np.repeat(is_text[view.attribute[rows]], sizes))
    if view.part.rows is None:
        return table.set_keys
    return table.set_keys[spans(lows, sizes)]


def _join_strings(views: Sequence[TableView]) -> pa.Array:
    """The strings that sets and ranges name; both get their new numbers."""
    owners = [view for view in views if len(view.part.table.strings)]
    lists: list[pa.Array] = []
    uses: list[tuple[Ints, Ints | None]] = []
    for view in owners:
        strings, rows = view.part.table.strings, view.rows(Kind.TEXT_RANGE)
        keys = view.set_keys[view.texts]
        used = view.used(len(strings), keys, view.low[rows], view.high[rows])
        lists.append(strings if used is None else strings.take(pa.array(used)))
        uses.append((rows, used))
    merged, ranks = _merged(lists)
    for view, (rows, used), own in zip(owners, uses, ranks, strict=True):
        numbers = _numbers(len(view.part.table.strings), used, own)
        if numbers is not None:
            view.set_keys[view.texts] = numbers[view.set_keys[view.texts]]
            view.low[rows], view.high[rows] = numbers[view.low[rows]], numbers[view.high[rows]]
    return merged


def _merged(lists: Sequence[pa.Array]) -> tuple[pa.Array, list[Ints]]:
    """Sorted lists of strings as one, and for each list where its strings are in that."""
    filled = [strings for strings in lists if len(strings)]
    if len(filled) < 2:
        merged = filled[0] if filled else pa.array([], pa.large_string())
        return merged, [np.arange(len(strings)) for strings in lists]
    together = pa.concat_arrays(filled)
    order = pc.array_sort_indices(together)
    merged = together.take(order)
    is_new = np.ones(len(merged), bool)  # the first, and what differs from the one before
    is_new[1:] = pc.not_equal(merged[1:], merged[:-1]).to_numpy(zero_copy_only=False)
    places = np.empty(len(merged), np.int64)
    places[order.to_numpy()] = np.cumsum(is_new) - 1
    if not is_new.all():
        merged = merged.filter(pa.array(is_new))
    ends = list(accumulate(map(len, lists)))
    return merged, [
        places[end - len(strings) : end] for strings, end in zip(lists, ends, strict=True)
    ]


def _numbers(count: int, used: Ints | None, ranks: Ints) -> Ints | None:
    """The new number of each of `count` old ones, and of -1; None where all stay as they are.

    Args:
        count: how many old numbers there are.
        used: those that are used, None for all.
        ranks: the new number of each of these.
    """
    if len(ranks) == count and np.array_equal(ranks, np.arange(count)):
        return None
    numbers = np.full(count + 1, -1, np.int64)
    numbers[slice(count) if used is None else used] = ranks
    return numbers


def _join_leaves(
    views: Sequence[TableView], name: str, kind: Kind, key: Callable[[Any], Any]
) -> tuple[Any, ...]:
    """The patterns or residuals that rows name; the rows get their new numbers."""
    every = [(view, getattr(view.part.table, name)) for view in views]
    owners: list[tuple[TableView, Any]] = [pair for pair in every if len(pair[1])]
    if not owners:
        return ()
    if len(owners) == 1 and owners[0][0].part.rows is None:
        only: tuple[Any, ...] = owners[0][1]
        return only  # as it is: it may be one that is read when asked for
    things = Numbering()
    uses: list[tuple[Ints, Ints | None, list[int]]] = []
    for view, leaves in owners:
        rows = view.rows(kind)
        used = view.used(len(leaves), view.low[rows])
        kept = leaves if used is None else [leaves[number] for number in used.tolist()]
        uses.append((rows, used, [things.number(key(leaf), leaf) for leaf in kept]))
    ordered, ranks = things.ranked(np.arange(len(things.things)))
    for (view, leaves), (rows, used, given) in zip(owners, uses, strict=True):
        numbers = _numbers(len(leaves), used, ranks[np.array(given, np.int64)])
        if numbers is not None:
            view.low[rows] = numbers[view.low[rows]]
    return tuple(ordered)


def _join_attributes(
    views: Sequence[TableView], residuals: Sequence[Any], schema: Schema
) -> tuple[tuple[Attribute, ...], Distances]:
    """The attributes that are used, and the distances; the rows get their new numbers."""
    distances = _taken_distances(views)
    things = Numbering()
    uses: list[tuple[Ints | None, list[int]]] = []
    for view, own in zip(views, distances, strict=True):
        attributes = view.part.table.attributes
        used = view.used(len(attributes), view.attribute, own.longitudes)
        kept = attributes if used is None else [attributes[number] for number in used.tolist()]
        uses.append((used, [things.number(attribute) for attribute in kept]))
    if any(view.part.rows is not None for view in views):
        for leaf in residuals:
            things.number(leaf.right)
    everything = np.arange(len(things.things))
    lazy = _lazy(views)
    ordered, ranks = things.ranked(everything, partial(attribute_place, schema, lazy=lazy))
    for place, (view, (used, given)) in enumerate(zip(views, uses, strict=True)):
        count = len(view.part.table.attributes)
        numbers = _numbers(count, used, ranks[np.array(given, np.int64)])
        if numbers is not None:
            distances[place] = _renumber_attributes(view, distances[place], numbers)
    return tuple(ordered), _concatenated(distances)


def _lazy(views: Sequence[TableView]) -> set[Attribute]:
    """The derived attributes that only programs name."""
    found: set[Attribute] = set()
    indexed: set[Attribute] = set()
    for view in views:
        attributes = view.part.table.attributes
        derived = {place: one for place, one in enumerate(attributes) if isinstance(one, Derived)}
        if derived:
            plain = set(np.unique(view.attribute[view.jumps == 0]).tolist())
            found |= set(derived.values())
            indexed |= {one for place, one in derived.items() if place in plain}
    return found - indexed


def _renumber_attributes(view: TableView, distances: Distances, numbers: Ints) -> Distances:
    """Gives the rows of a part their new attributes; returns its distances with theirs."""
    small = numbers.astype(np.int32)
    view.attribute[:] = small[view.attribute]
    latitudes, longitudes = small[distances.latitudes], small[distances.longitudes]
    return replace(distances, latitudes=latitudes, longitudes=longitudes)


def _concatenated(parts: Sequence[Distances]) -> Distances:
    """The distances of all parts, one after the other."""
    filled = [part for part in parts if len(part.metres)] or [_NO_DISTANCES]
    if len(filled) == 1:
        return filled[0]
    columns = [[getattr(part, name) for part in filled] for name in _DISTANCES]
    return Distances(*map(np.concatenate, columns))


def _taken_distances(views: Sequence[TableView]) -> list[Distances]:
    """The distances of each part; the rows get their new places in the whole."""
    found: list[Distances] = []
    start = 0
    for view in views:
        own = view.part.table.distances
        if len(own.metres):
            rows = view.rows(Kind.DISTANCE)
            if view.part.rows is not None:
                kept = view.low[rows]
                own = Distances(*(getattr(own, name)[kept] for name in _DISTANCES))
            view.low[rows] = np.arange(start, start + len(rows))
        found.append(own)
        start += len(own.metres)
    return found
