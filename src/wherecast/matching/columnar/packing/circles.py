"""Circles on the globe as boxes of latitude and longitude, a little larger than needed."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from wherecast.language.meaning.geo import EARTH_RADIUS_METRES
from wherecast.language.meaning.keys import float_keys
from wherecast.language.table.predicate_table import OPERATORS, Kind, PredicateTable
from wherecast.matching.columnar.layout import Exact
from wherecast.matching.columnar.predicates import Predicates

Floats = npt.NDArray[np.float64]
_WITHIN = np.array([OPERATORS.index("<"), OPERATORS.index("<="), OPERATORS.index("=")])
_MARGIN = 1e-9  # relative, many times what rounding can move a distance


def with_boxes(table: PredicateTable, plain: Predicates) -> Predicates:
    """The predicates with two ranges more for each distance that has an upper bound."""
    rows = np.flatnonzero(table.kind == Kind.DISTANCE)
    numbers = table.low[rows]
    within = np.isin(table.distances.operators[numbers], _WITHIN)
    rows, numbers = rows[within], numbers[within]
    if not len(rows):
        return plain
    south, north, west, east = _boxes(
        table.distances.points[numbers], table.distances.metres[numbers]
    )
    owner = np.repeat(np.arange(len(plain.offsets) - 1), np.diff(plain.offsets))
    slots = [plain.slots, table.distances.latitudes[numbers], table.distances.longitudes[numbers]]
    lows, highs = [plain.lows], [plain.highs]
    for slot, low, high in ((slots[1], south, north), (slots[2], west, east)):
        whole = np.array([table.attributes[place].type == "int" for place in slot], bool)
        lows.append(np.where(whole, _whole(np.ceil(low)), float_keys(low)))
        highs.append(np.where(whole, _whole(np.floor(high)), float_keys(high)))
    owners = np.concatenate([owner, owner[rows], owner[rows]])
    kinds = np.concatenate([plain.kinds, np.full(2 * len(rows), Exact.RANGE, np.uint8)])
    order = np.argsort(owners, kind="stable")
    counts = np.bincount(owners, minlength=len(plain.offsets) - 1)
    return replace(
        plain,
        offsets=np.concatenate([[0], np.cumsum(counts)]),
        slots=np.concatenate(slots)[order].astype(np.int32),
        kinds=kinds[order],
        lows=np.concatenate(lows)[order],
        highs=np.concatenate(highs)[order],
    )


def _whole(degrees: Floats) -> npt.NDArray[np.int64]:
    """Degrees as ints; infinite ones as numbers beyond every position."""
    return np.clip(degrees, -1e9, 1e9).astype(np.int64)


def _boxes(points: Floats, metres: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """South, north, west and east ends of circles; the whole turn where one is near a pole.

    Longitudes are not wrapped: a circle that crosses the meridian of 180 degrees, or positions
    given beyond it, get the whole turn too.
    """
    angle = np.maximum(metres, 0.0) / EARTH_RADIUS_METRES * (1.0 + _MARGIN) + _MARGIN
    latitude, longitude = np.radians(points[:, 0]), np.radians(points[:, 1])
    everywhere = angle >= np.pi / 2 - np.abs(latitude)
    ratio = np.sin(np.minimum(angle, np.pi / 2)) / np.maximum(np.cos(latitude), 1e-12)
    turn = np.degrees(np.arcsin(np.minimum(ratio, 1.0)) * (1.0 + _MARGIN) + _MARGIN)
    rise = np.degrees(angle)
    west, east = np.degrees(longitude) - turn, np.degrees(longitude) + turn
    everywhere |= (west <= -180.0) | (east >= 180.0)
    tall = angle >= np.pi
    return (
        np.where(tall | everywhere, -np.inf, points[:, 0] - rise),
        np.where(tall | everywhere, np.inf, points[:, 0] + rise),
        np.where(everywhere, -np.inf, west),
        np.where(everywhere, np.inf, east),
    )
