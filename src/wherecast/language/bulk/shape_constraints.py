"""Constraints of a shape, computed on columns of constants.

The twin of `constraint.constrain`, for many filters at once. It marks rows as irregular where
their constants would make the one-by-one constraint take another form.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wherecast.language.bulk.shape_columns import ShapeColumns, Unfit, slots_of
from wherecast.language.meaning.expression import Between, Comparison, Member, Missing, Predicate
from wherecast.language.meaning.keys import RANGES
from wherecast.language.table.numbering import Ints
from wherecast.language.table.predicate_table import Kind
from wherecast.language.table.table_builder import PredicateColumn
from wherecast.model import Attribute


@dataclass(slots=True)
class _Sorted:
    """The predicates on one attribute, by what they do to its constraint."""

    ranges: list[Comparison]
    members: list[Sequence[Any]]
    excluded: list[Any]
    patterns: list[Predicate]


def constraint_predicates(
    attribute: Attribute, leaves: Sequence[Predicate], columns: ShapeColumns
) -> list[PredicateColumn]:
    """The predicates of one attribute's constraint, as columns of all filters of a shape.

    Raises:
        Unfit: the combination is read one by one.
    """
    parts = _sort(attribute, leaves)
    if len(parts.members) > 1:
        raise Unfit
    if attribute.type == "string":
        return _string_predicates(attribute, parts, columns)
    if parts.patterns or attribute.type in ("bool", "any"):
        raise Unfit
    return _key_predicates(attribute, parts, columns)


def _sort(attribute: Attribute, leaves: Sequence[Predicate]) -> _Sorted:
    parts = _Sorted([], [], [], [])
    for leaf in leaves:
        match leaf:
            case Missing(negated=True):
                continue
            case Missing():
                raise Unfit
            case Comparison(operator="="):
                if attribute.type == "string":
                    parts.members.append([leaf.value])
                else:
                    parts.ranges.append(leaf)
            case Comparison(operator="<>"):
                parts.excluded.append(leaf.value)
            case Comparison():
                parts.ranges.append(leaf)
            case Between():
                parts.ranges.append(Comparison(attribute, ">=", leaf.low))
                parts.ranges.append(Comparison(attribute, "<=", leaf.high))
            case Member(negated=True):
                if leaf.has_null:
                    raise Unfit
                parts.excluded += leaf.values
            case Member():
                parts.members.append(leaf.values)
            case _:
                parts.patterns.append(leaf)
    return parts


def _key_predicates(
    attribute: Attribute, parts: _Sorted, columns: ShapeColumns
) -> list[PredicateColumn]:
    """The predicates of a constraint on keys: an interval with exclusions, or a set."""
    low, high = _interval(attribute, parts.ranges, columns)
    excluded = _distinct([columns.keys(attribute, value) for value in parts.excluded], columns)
    if parts.members:
        keys = _distinct([columns.keys(attribute, value) for value in parts.members[0]], columns)
        assert keys is not None
        columns.require(np.all((keys >= low[:, None]) & (keys <= high[:, None]), axis=1))
        for column in excluded.T if excluded is not None else ():
            columns.require((keys != column[:, None]).all(axis=1))
        if keys.shape[1] == 1:
            return [PredicateColumn(Kind.RANGE, attribute, keys[:, 0], keys[:, 0])]
        return [PredicateColumn(Kind.SET, attribute, keys=keys)]
    columns.require(low <= high)
    found = [PredicateColumn(Kind.RANGE, attribute, low, high)] if parts.ranges else []
    if excluded is not None:
        inside = (excluded >= low[:, None]) & (excluded <= high[:, None])
        columns.require(inside.all(axis=1) & (low < high))
        found.append(PredicateColumn(Kind.NOT_SET, attribute, keys=excluded))
    return found


def _interval(
    attribute: Attribute, ranges: Sequence[Comparison], columns: ShapeColumns
) -> tuple[Ints, Ints]:
    """The intersection of comparisons as columns of keys."""
    least, most = RANGES[attribute.type]
    low = np.full(len(columns.regular), least, np.int64)
    high = np.full(len(columns.regular), most, np.int64)
    for leaf in ranges:
        keys = columns.keys(attribute, leaf.value)
        if leaf.operator in ("=", ">=", ">"):
            low = np.maximum(low, keys + (leaf.operator == ">"))
        if leaf.operator in ("=", "<=", "<"):
            high = np.minimum(high, keys - (leaf.operator == "<"))
    return low, high


def _distinct(keys: list[Ints], columns: ShapeColumns) -> Ints | None:
    """Columns of keys as a sorted matrix; rows with a key twice are irregular."""
    if not keys:
        return None
    matrix = np.sort(np.stack(keys, axis=1), axis=1)
    columns.require((matrix[:, 1:] != matrix[:, :-1]).all(axis=1))
    return matrix


def _string_predicates(
    attribute: Attribute, parts: _Sorted, columns: ShapeColumns
) -> list[PredicateColumn]:
    """The predicates of a constraint on a string: a set, or interval, exclusions, patterns."""
    if parts.members:
        if parts.ranges or parts.excluded or parts.patterns:
            raise Unfit
        members = _distinct([columns.strings(value) for value in parts.members[0]], columns)
        return [PredicateColumn(Kind.SET, attribute, keys=members)]
    if parts.ranges and parts.excluded:
        raise Unfit
    found = [_text_range(attribute, parts.ranges, columns)] if parts.ranges else []
    excluded = _distinct([columns.strings(value) for value in parts.excluded], columns)
    if excluded is not None:
        found.append(PredicateColumn(Kind.NOT_SET, attribute, keys=excluded))
    numbers = [columns.patterns(leaf) for leaf in parts.patterns if slots_of(leaf)]
    if len(numbers) < len(parts.patterns):
        raise Unfit
    _distinct(numbers, columns)
    return found + [PredicateColumn(Kind.PATTERN, attribute, lows) for lows in numbers]


def _text_range(
    attribute: Attribute, ranges: Sequence[Comparison], columns: ShapeColumns
) -> PredicateColumn:
    """A half-open interval of strings, from at most one comparison per side."""
    ends: dict[str, Ints] = {}
    for leaf in ranges:
        side = "low" if leaf.operator in (">", ">=") else "high"
        if side in ends:
            raise Unfit
        numbers = columns.strings(leaf.value)
        ends[side] = columns.after(numbers) if leaf.operator in (">", "<=") else numbers
    if len(ends) == 2:
        text = columns.builder.string_at
        pairs = zip(ends["low"].tolist(), ends["high"].tolist(), strict=True)
        columns.require(np.array([text(low) < text(high) for low, high in pairs], bool))
    return PredicateColumn(Kind.TEXT_RANGE, attribute, ends.get("low", -1), ends.get("high", -1))
