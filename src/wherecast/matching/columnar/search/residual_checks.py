"""Residual predicates, which neither boxes nor keys can decide, on the extra matches.

Patterns are evaluated once per distinct pair of pattern and value in a batch, each on all its
values at once. Distances are computed for all at once, and again one by one where they come so
close to their bound that rounding could matter. All as the functions say that define what a
filter means.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from wherecast.arrays.decimal_units import compare_units, doubles_of
from wherecast.arrays.ranges import spans
from wherecast.language.meaning.comparing import COMPARISONS
from wherecast.language.meaning.expression import Compared, Pattern
from wherecast.language.meaning.geo import EARTH_RADIUS_METRES, haversine_metres
from wherecast.language.meaning.pattern_columns import TextColumn
from wherecast.language.table.predicate_table import OPERATORS, Distances, Kind, PredicateTable
from wherecast.matching.columnar.slots import SlotColumn

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
_SET_SHARE = 8  # a set of expressions is used where this share of all pairs is wanted, or more
_DOUBT = 1e-6  # metres, and relative: far more than rounding can move a distance


@dataclass(frozen=True, slots=True, eq=False)
class LaterRows:
    """The residual predicates of a table, by conjunction.

    Attributes:
        offsets: int64 [conjunctions + 1] into `rows`.
        rows: int64, rows of the table.
    """

    offsets: Ints
    rows: Ints


def later_rows(table: PredicateTable) -> LaterRows:
    """The residual predicates of a table: patterns, distances and attributes compared."""
    rows = np.flatnonzero(np.isin(table.kind, (Kind.PATTERN, Kind.DISTANCE, Kind.RESIDUAL)))
    return LaterRows(np.searchsorted(rows, table.predicate_offsets), rows)


def decide(
    table: PredicateTable,
    later: LaterRows,
    columns: Sequence[SlotColumn],
    publications: Ints,
    conjunctions: Ints,
) -> Bools:
    """Which of the extra matches hold.

    Shapes: publications, conjunctions int64 [matches]; result bool [matches].
    """
    holds = np.ones(len(conjunctions), bool)
    if not len(later.rows):
        return holds
    sizes = later.offsets[conjunctions + 1] - later.offsets[conjunctions]
    some = np.flatnonzero(sizes)
    sizes = sizes[some]
    matches = np.repeat(some, sizes)
    rows = later.rows[spans(later.offsets[conjunctions[some]], sizes)]
    failed = ~rows_hold(table, columns, publications[matches], rows)
    holds[matches[failed]] = False
    return holds


def rows_hold(
    table: PredicateTable, columns: Sequence[SlotColumn], publications: Ints, rows: Ints
) -> Bools:
    """Which residual predicates hold on which publications.

    Shapes: publications, rows of the table int64 [tests]; result bool [tests].
    """
    holds = np.zeros(len(rows), bool)
    for kind, decided in ((Kind.PATTERN, _patterns), (Kind.DISTANCE, _distances),
                          (Kind.RESIDUAL, _residuals)):  # fmt: skip
        chosen = np.flatnonzero(table.kind[rows] == kind)
        if len(chosen):
            holds[chosen] = decided(table, columns, publications[chosen], rows[chosen])
    return holds


def _patterns(
    table: PredicateTable, columns: Sequence[SlotColumn], publications: Ints, rows: Ints
) -> Bools:
    slots, numbers = table.attribute[rows], table.low[rows]
    verdicts = np.zeros(len(rows), bool)
    for slot in np.unique(slots).tolist():
        column = columns[slot]
        if column.codes is None or column.texts is None or not len(column.texts):
            continue
        mine = np.flatnonzero(slots == slot)
        texts = TextColumn(column.texts)
        codes = column.codes[publications[mine]]
        pairs, back = np.unique(numbers[mine] * len(texts) + codes, return_inverse=True)
        decided = _pairs_hold(table.patterns, texts, *np.divmod(pairs, len(texts)))
        verdicts[mine] = decided[back] & column.has(publications[mine])
    return verdicts


def _pairs_hold(
    patterns: Sequence[Pattern], texts: TextColumn, numbers: Ints, places: Ints
) -> Bools:
    """Which patterns hold on which strings.

    Shapes: numbers ascending, places int64 [pairs]; result bool [pairs].
    """
    holds = np.empty(len(numbers), bool)
    firsts = np.flatnonzero(np.diff(numbers, prepend=-1)).tolist()
    regexes: list[tuple[Pattern, int, int]] = []
    for first, end in pairwise([*firsts, len(numbers)]):
        pattern = patterns[int(numbers[first])]
        if pattern.kind == "rlike":
            regexes.append((pattern, first, end))
        else:
            holds[first:end] = texts.some_verdicts(pattern, places[first:end])
    if regexes:
        _regexes_hold(regexes, texts, places, holds)
    return holds


def _regexes_hold(
    wanted: list[tuple[Pattern, int, int]], texts: TextColumn, places: Ints, holds: Bools
) -> None:
    """Writes which regular expressions hold, each in its range of pairs."""
    pairs = sum(end - first for _, first, end in wanted)
    verdicts = None
    if pairs * _SET_SHARE >= len(wanted) * len(texts):
        verdicts = texts.regex_verdicts([pattern for pattern, _, _ in wanted])
    for number, (pattern, first, end) in enumerate(wanted):
        mine = places[first:end]
        holds[first:end] = (
            texts.some_verdicts(pattern, mine) if verdicts is None else verdicts[number, mine]
        )


def _distances(
    table: PredicateTable, columns: Sequence[SlotColumn], publications: Ints, rows: Ints
) -> Bools:
    return distances_hold(table.distances, columns, publications, table.low[rows])


def distances_hold(
    given: Distances, columns: Sequence[SlotColumn], publications: Ints, numbers: Ints
) -> Bools:
    """Which distances hold on which publications.

    Shapes: publications, numbers int64 [tests]; result bool [tests].
    """
    there = np.ones(len(numbers), bool)
    place = np.zeros((2, len(numbers)))
    for side, slots in enumerate((given.latitudes[numbers], given.longitudes[numbers])):
        for slot in np.unique(slots).tolist():
            mine = np.flatnonzero(slots == slot)
            column = columns[slot]
            place[side, mine] = column.values[publications[mine]]
            there[mine] &= column.has(publications[mine])
    metres = _haversine(place[0], place[1], given.points[numbers])
    bound, verdicts = given.metres[numbers], np.zeros(len(numbers), bool)
    for sign, operator in enumerate(OPERATORS):
        mine = given.operators[numbers] == sign
        verdicts[mine] = _compared(operator, metres[mine], bound[mine])
    close = ~(np.abs(metres - bound) > _DOUBT * (1.0 + np.abs(bound)))  # and what is no number
    for match in np.flatnonzero(close & there).tolist():
        number = numbers[match]
        operator, point = OPERATORS[given.operators[number]], given.points[number].tolist()
        verdicts[match] = _one_distance(place[:, match], point, operator, bound[match])
    return verdicts & there


def _one_distance(place: Floats, point: list[float], operator: str, bound: float) -> bool:
    """Whether one distance holds, computed by the definition."""
    latitude, longitude = place.tolist()
    if not np.isfinite(place).all():
        return COMPARISONS[operator](float("nan"), float(bound))
    metres = haversine_metres(latitude, longitude, (point[0], point[1]))
    return COMPARISONS[operator](metres, float(bound))


def _haversine(latitude: Floats, longitude: Floats, points: Floats) -> Floats:
    """The distances as `haversine_metres` gives them, but for rounding."""
    with np.errstate(invalid="ignore"):
        phi, phi0 = np.radians(latitude), np.radians(points[:, 0])
        rise = np.sin((phi - phi0) / 2.0)
        turn = np.sin(np.radians(longitude - points[:, 1]) / 2.0)
        chord = rise * rise + np.cos(phi) * np.cos(phi0) * turn * turn
        half: Floats = np.arcsin(np.sqrt(np.clip(chord, 0.0, 1.0)))
        return 2.0 * EARTH_RADIUS_METRES * half


def _compared(operator: str, left: Any, right: Any) -> Bools:
    """A comparison of arrays, with NaN greater than all and equal to itself."""
    left_nan, right_nan = left != left, right != right
    equal: Bools = (left == right) | (left_nan & right_nan)
    less: Bools = ((left < right) | (right_nan & ~left_nan)) & ~equal
    verdicts = {"=": equal, "<>": ~equal, "<": less, "<=": less | equal, ">": ~(less | equal)}
    return verdicts.get(operator, ~less)


def _residuals(
    table: PredicateTable, columns: Sequence[SlotColumn], publications: Ints, rows: Ints
) -> Bools:
    slot_of = {attribute: slot for slot, attribute in enumerate(table.attributes)}
    numbers = table.low[rows]
    verdicts = np.zeros(len(rows), bool)
    for number in np.unique(numbers).tolist():
        leaf: Compared = table.residuals[number]
        mine = np.flatnonzero(numbers == number)
        pair = columns[slot_of[leaf.left]], columns[slot_of[leaf.right]]
        verdicts[mine] = residual_holds(leaf, *pair, publications[mine])
    return verdicts


def residual_holds(
    leaf: Compared, left: SlotColumn, right: SlotColumn, publications: Ints
) -> Bools:
    """Where the comparison of two attributes holds, bool [publications]."""
    there = left.has(publications) & right.has(publications)
    if leaf.left.type == "string":
        sides: list[Any] = [_texts(left, publications), _texts(right, publications)]
    else:
        sides = _comparable(leaf, left.values[publications], right.values[publications])
    return _compared(leaf.operator, sides[0], sides[1]) & there


def _comparable(leaf: Compared, left: Any, right: Any) -> list[Any]:
    """Two columns of numbers in one unit, so that they compare as the definition compares them."""
    first, second = leaf.left, leaf.right
    if first.type != second.type:  # as Spark widens them
        return [
            side if attribute.type == "float" else doubles_of(side, attribute.scale)
            for attribute, side in ((first, left), (second, right))
        ]
    if first.scale < second.scale:
        signs = compare_units(left, right, second.scale - first.scale)
    elif first.scale > second.scale:
        signs = -compare_units(right, left, first.scale - second.scale)
    else:
        return [left, right]
    return [signs, np.zeros_like(signs)]


def _texts(column: SlotColumn, publications: Ints) -> npt.NDArray[np.object_]:
    """The strings of publications; two slots have different keys, so keys cannot be compared."""
    assert column.codes is not None
    assert column.texts is not None
    texts = np.array([*column.texts.to_pylist(), ""], object)
    return texts[column.codes[publications]]
