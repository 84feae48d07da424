"""Circles on the globe: at the poles, across the meridian of 180 degrees, of any size."""

from itertools import product
from math import inf, nan, pi

import numpy as np
import pyarrow as pa
import pytest

from tests.unit.matching.columnar.agree import assert_same
from wherecast import Schema
from wherecast.language.meaning.geo import EARTH_RADIUS_METRES, haversine_metres
from wherecast.model.values import INT_MIN

PLACES = Schema.from_dict({"lat": "float", "lon": "float"})
WHOLE = Schema.from_dict({"lat": "int", "lon": "int"})
POINTS = [(90.0, 0.0), (-90.0, 0.0), (90.0, 180.0), (89.9999, 10.0), (-89.9999, -170.0),
          (0.0, 180.0), (0.0, -180.0), (10.0, 179.9999), (-10.0, -179.9999), (0.0, 0.0),
          (45.8, 15.9)]  # fmt: skip
HALF = pi * EARTH_RADIUS_METRES
METRES = [-1.0, 0.0, 1e-3, 11.2, 500.0, 1e6, HALF / 2, HALF - 0.5, HALF, HALF + 1, 1e8]


def circles(metres: list[float], operators: tuple[str, ...] = ("<", "<=", ">", ">=")) -> list[str]:
    return [
        f"geo_distance(lat, lon, {latitude}, {longitude}) {operator} {distance!r}"
        for (latitude, longitude), distance, operator in product(POINTS, metres, operators)
    ]


def positions(pairs: list[tuple[float, float]]) -> pa.Table:
    return pa.table({"lat": [lat for lat, _ in pairs], "lon": [lon for _, lon in pairs]})


def test_poles_meridians_and_all_sizes(way: str) -> None:
    near = [
        (max(-90.0, min(90.0, latitude + rise)), max(-180.0, min(180.0, longitude + turn)))
        for latitude, longitude in POINTS
        for rise, turn in ((0, 0), (1e-4, 0), (0, -1e-4), (0.004, 0.004), (-9.0, 0))
    ]
    far = [(-latitude, longitude - 180 if longitude > 0 else longitude + 180)
           for latitude, longitude in POINTS]  # fmt: skip
    assert assert_same(PLACES, circles(METRES), positions(near + far))


def test_distances_that_are_the_bound(way: str) -> None:
    """The bound is the distance itself, one ulp more and one less."""
    places = [(45.80001, 15.9), (10.0, -179.9999), (89.99, -120.0), (0.0, 179.5), (-45.8, -164.1)]
    exact = {haversine_metres(*place, point) for place in places for point in POINTS}
    metres = [
        each for d in exact for each in (d, float(np.nextafter(d, inf)), float(np.nextafter(d, 0)))
    ]
    texts = circles(metres, ("=", "<", "<="))
    assert assert_same(PLACES, texts, positions(places))


def test_a_distance_of_nothing(way: str) -> None:
    texts = circles([0.0], ("=", "<=", "<", ">", ">=", "<>"))
    assert assert_same(PLACES, texts, positions([*POINTS, (-0.0, -0.0), (90.0, 77.0)]))


@pytest.mark.parametrize("place", [(nan, 0.0), (0.0, inf), (-inf, nan), (91.0, 0.0), (45.8, 375.9)])
def test_positions_that_are_nowhere_or_off_the_globe(way: str, place: tuple[float, float]) -> None:
    assert_same(PLACES, circles(METRES), positions([place]))


def test_places_without_a_latitude_or_longitude(way: str) -> None:
    given = [{"lat": 45.8}, {"lon": 15.9}, {}, {"lat": 0.0, "lon": 0.0}]
    texts = [*circles([0.0, 500.0, 1e8]), "lat IS NULL", "lon IS NULL AND lat > 40"]
    assert assert_same(PLACES, texts, given)


def test_whole_degrees(way: str) -> None:
    pairs = list(product((-90, -89, -10, 0, 45, 46, 90), (-180, -179, 0, 15, 16, 179, 180)))
    given = [{"lat": lat, "lon": lon} for lat, lon in pairs]
    assert assert_same(WHOLE, circles([0.0, 1e4, 1e5, 1e6, HALF / 2]), given)


@pytest.mark.parametrize("place", [(INT_MIN, 0), (-90, INT_MIN)])
def test_the_least_int_is_off_the_globe(way: str, place: tuple[int, int]) -> None:
    texts = [f"geo_distance(lat, lon, {lat}, {lon}) < 5000000" for lat, lon in
             product(range(-80, 81, 20), range(-160, 161, 20))]  # fmt: skip
    assert_same(WHOLE, texts, [{"lat": place[0], "lon": place[1]}])


def test_circles_beside_other_predicates(way: str) -> None:
    """In a conjunction, in a disjunction, negated, and twice in one filter."""
    near, far = "geo_distance(lat, lon, 45.8, 15.9) < 500", "geo_distance(lat, lon, 0, 180) > 9e6"
    texts = [f"{near} AND lat > 45.8", f"{near} OR lon < 0", f"NOT ({near})", f"{near} AND {far}",
             f"{near} OR {far}", f"{near} AND {near}", f"NOT ({near}) AND NOT ({far})",
             "geo_distance(lon, lat, 15.9, 45.8) < 500", "geo_distance(lat, lat, 45, 45) < 5e6",
             f"{near} AND lat IN (45.8, 45.801, 45.802, 45.803, 45.804)"] * 8  # fmt: skip
    pairs = list(product((45.8, 45.801, 45.79, 0.0), (15.9, 15.901, -179.0, 179.0)))
    assert assert_same(PLACES, texts, positions(pairs))
