"""Geofences: rectangles crowded around cities, and the positions of things of several kinds."""

import math
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from wherecast.model import Schema
from wherecast.workloads.draws import Floats, choose, normal_cdf
from wherecast.workloads.text import float_texts, join
from wherecast.workloads.workload import CHUNK_ROWS, MatchRate, Workload, table_generator

SCHEMA = Schema.from_dict({"lat": "float", "lon": "float", "kind": "string"})
AREA_KM = 500.0  # the side of the square
CITIES = 50
KINDS = 20
KINDS_MAX = 4  # kinds in one filter
_FAR = 0.1  # the share of points that belong to no city
_SIZE_KM, _SIZE_MIN_KM, _SIZE_MAX_KM = (
    1.5,
    0.2,
    20.0,
)  # median, least and largest size of a rectangle
_SIZE_SD, _ASPECT_SD = 1.0, 0.2  # sd of the logarithms of the size and of each side / size

_QUOTED = [f"'k{kind}'" for kind in range(KINDS)]
_FIRST = pa.array(_QUOTED)
_NEXT = pa.array(
    [*(f", {kind}" for kind in _QUOTED), ""]
)  # the last entry stands for "no further kind"
_NAMES = pa.array([f"k{kind}" for kind in range(KINDS)])

_CELLS = 125  # per axis in a numeric integral; a cell is narrower than the spread of any city
_Z = np.linspace(-8, 8, 16_001)
_BELOW_Z = normal_cdf(_Z)


@dataclass(frozen=True, eq=False)
class Cities:
    """The cities around which filters and publications crowd.

    Attributes:
        centres: float64 (cities, 2), in km.
        spreads: float64 (cities,), the standard deviation of both coordinates, in km.
        shares: float64 (cities,), the share of each city in the points that belong to a city.
    """

    centres: Floats
    spreads: Floats
    shares: Floats

    def draw(self, rng: np.random.Generator, count: int) -> Floats:
        """`count` points, float64 (count, 2); a point outside the area is moved to its edge."""
        chosen = choose(rng, self.shares, count)
        points = self.centres[chosen] + rng.normal(0, 1, (count, 2)) * self.spreads[chosen, None]
        anywhere = rng.random((count, 2)) * AREA_KM
        far = rng.random(count) < _FAR
        return np.clip(np.where(far[:, None], anywhere, points), 0, AREA_KM)


@dataclass(frozen=True, eq=False)
class Geofence(Workload):
    """Filters `lat >= a AND lat <= b AND lon >= c AND lon <= d AND kind IN ('k3', 'k7')`.

    Attributes:
        cities: the cities around which rectangles and publications lie.
    """

    cities: Cities

    def _filter_texts(self, rng: np.random.Generator) -> pa.StringArray:
        centres = self.cities.draw(rng, CHUNK_ROWS)
        sizes = np.exp(rng.normal(math.log(_SIZE_KM), _SIZE_SD, (CHUNK_ROWS, 1)))
        aspects = np.exp(rng.normal(0, _ASPECT_SD, (CHUNK_ROWS, 2)))
        halves = np.clip(sizes, _SIZE_MIN_KM, _SIZE_MAX_KM) * aspects / 2
        lows, highs = (centres - halves).T, (centres + halves).T
        counts = rng.integers(1, KINDS_MAX + 1, (CHUNK_ROWS, 1))
        kinds = np.argsort(rng.random((CHUNK_ROWS, KINDS)), axis=1)[:, :KINDS_MAX]
        kinds = np.where(np.arange(KINDS_MAX) < counts, kinds, KINDS).T
        pieces: list[str | pa.StringArray] = []
        for name, low, high in zip(("lat", "lon"), lows, highs, strict=True):
            pieces += [f"{name} >= ", float_texts(low), f" AND {name} <= ", float_texts(high)]
            pieces.append(" AND ")
        pieces += ["kind IN (", _FIRST.take(pa.array(kinds[0]))]
        pieces += [_NEXT.take(pa.array(chosen)) for chosen in kinds[1:]]
        return join(*pieces, ")")

    def _publication_columns(self, rng: np.random.Generator, sent: int) -> list[pa.Array]:
        lats, lons = self.cities.draw(rng, CHUNK_ROWS).T
        kinds = rng.integers(0, KINDS, CHUNK_ROWS)
        return [pa.array(lats), pa.array(lons), pc.take(_NAMES, pa.array(kinds))]


def geofence(seed: int = 1) -> Geofence:
    """The geofence workload: rectangles and points around 50 cities, and 20 kinds.

    The area is 500 × 500 km; `lat` and `lon` are km from its corner. The cities are uniform in the
    area. The city of rank r has weight 1 / r^0.7 and a spread of
    3 + 12 · sqrt(its weight / the first city's weight) km. A tenth of the points is uniform; a
    point beyond an edge is moved to the edge. The centre of a rectangle is such a point. The size
    of a rectangle is lognormal (median 1.5 km, sd 1), clipped to 0.2 to 20 km; each side is the
    size times exp(N(0, 0.2)). A filter names 1 to 4 of the kinds.

    The expected matches depend on the seed, which decides which cities lie close together.

    Args:
        seed: the seed of all random numbers.

    Raises:
        ConfigError: the seed is below 0.
    """
    cities = cities_at(table_generator(seed).random((CITIES, 2)) * AREA_KM)
    return Geofence("geofence", SCHEMA, seed, _rate(cities), cities)


def cities_at(centres: Floats) -> Cities:
    """The cities with these centres, float64 (cities, 2), the largest city first."""
    weights = 1 / np.arange(1, len(centres) + 1) ** 0.7
    spreads = 3 + 12 * np.sqrt(weights / weights[0])
    return Cities(centres, spreads, weights / weights.sum())


def _rate(cities: Cities) -> MatchRate:
    """The rate by numeric integration over a grid of positions and a few sizes.

    For the points of one city, and for the uniform points, the two coordinates are independent. So
    a table over the grid is a sum of products of two columns, one per axis.
    """
    shares = np.append(cities.shares * (1 - _FAR), _FAR)[:, None]  # (places, 1)
    places, masses = _grid(cities)
    density = _crossed(shares * masses[0], masses[1])
    aspects, aspect_weights = np.polynomial.hermite_e.hermegauss(2)
    aspect_weights = aspect_weights / aspect_weights.sum()
    reached = np.zeros_like(density)  # per position: the share of rectangles that contain it
    square = 0.0
    for size, weight in zip(*_sizes(), strict=True):
        halves = size * np.exp(_ASPECT_SD * aspects) / 2
        lats, lons = (
            np.stack([_within(cities, axis, places, half) for half in halves]) for axis in range(2)
        )
        mean_lats = np.tensordot(aspect_weights, lats, 1)
        mean_lons = np.tensordot(aspect_weights, lons, 1)
        reached += weight * _crossed(shares * mean_lats, mean_lons)
        for lat, lat_weight in zip(lats, aspect_weights, strict=True):
            for lon, lon_weight in zip(lons, aspect_weights, strict=True):
                held = _crossed(shares * lat, lon)  # points in a rectangle around each position
                square += weight * lat_weight * lon_weight * float((density * held**2).sum())
    mean = float((density * reached).sum())
    by_publication = float((density * reached**2).sum()) / mean**2
    counts = np.arange(1, KINDS_MAX + 1)
    kind_square = float((counts**2).mean() / counts.mean() ** 2)
    return MatchRate(
        mean * float(counts.mean()) / KINDS,
        math.sqrt(square / mean**2 * kind_square - 1),
        math.sqrt(by_publication - 1),
    )


def _crossed(lats: Floats, lons: Floats) -> Floats:
    """The sum over the cities of the products of all pairs of positions, float64 (lats, lons).

    `einsum` instead of `@`, whose threads cost more than they gain on such small tables.
    """
    return np.asarray(np.einsum("cx,cy->xy", lats, lons), np.float64)


def _grid(cities: Cities) -> tuple[Floats, tuple[Floats, Floats]]:
    """Positions along an axis and, per axis, the share of each city's points at each position.

    The first and the last position are the edges, to which points beyond them are moved; between
    the edges the midpoint rule applies. The last row belongs to the uniform points.
    """
    cell = AREA_KM / _CELLS
    inside = (np.arange(_CELLS, dtype=np.float64) + 0.5) * cell
    lats, lons = (_masses(cities, axis, inside, cell) for axis in range(2))
    return np.concatenate([[0], inside, [AREA_KM]]), (lats, lons)


def _masses(cities: Cities, axis: int, inside: Floats, cell: float) -> Floats:
    """The share of points on the lower edge, around each position and on the upper edge."""
    z = (inside - cities.centres[:, axis, None]) / cities.spreads[:, None]
    densities = np.exp(-(z**2) / 2) / (math.sqrt(2 * math.pi) * cities.spreads[:, None])
    even = np.full((1, inside.size), 1 / AREA_KM)
    ends = _below(cities, axis, np.array([0, np.nextafter(AREA_KM, 0)]))
    return np.hstack([ends[:, :1], np.vstack([densities, even]) * cell, 1 - ends[:, 1:]])


def _below(cities: Cities, axis: int, positions: Floats) -> Floats:
    """The share of points at each position or below, float64 (cities + 1, positions)."""
    distances = positions - cities.centres[:, axis, None]
    near = np.interp(distances / cities.spreads[:, None], _Z, _BELOW_Z)
    below = np.vstack([near, positions / AREA_KM])
    return np.where(positions < 0, 0.0, np.where(positions >= AREA_KM, 1.0, below))


def _within(cities: Cities, axis: int, positions: Floats, half: float) -> Floats:
    """The share of points at most `half` from each position, float64 (cities + 1, positions)."""
    return _below(cities, axis, positions + half) - _below(cities, axis, positions - half)


def _sizes() -> tuple[Floats, Floats]:
    """Sizes and their weights: the nodes of Gauss-Legendre quadrature, and the two ends."""
    ends = np.log(np.array([_SIZE_MIN_KM, _SIZE_MAX_KM]) / _SIZE_KM) / _SIZE_SD
    outside = normal_cdf(np.array([1.0, -1.0]) * ends)
    nodes, weights = np.polynomial.legendre.leggauss(10)
    half = (ends[1] - ends[0]) / 2
    z = ends.mean() + half * nodes
    inside = half * weights * np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    sizes = _SIZE_KM * np.exp(_SIZE_SD * np.concatenate([ends[:1], z, ends[1:]]))
    return sizes, np.concatenate([outside[:1], inside, outside[1:]])
