from itertools import product
from math import acos, cos, inf, isnan, nan, pi, radians, sin

import pytest

from wherecast.language.meaning.geo import EARTH_RADIUS_METRES, haversine_metres, on_earth


def test_known_distances() -> None:
    zagreb, split = (45.815, 15.982), (43.508, 16.440)
    assert haversine_metres(*zagreb, zagreb) == 0
    (a, b), (c, d) = (map(radians, place) for place in (zagreb, split))
    cosine = sin(a) * sin(c) + cos(a) * cos(c) * cos(b - d)  # another way to the same angle
    assert haversine_metres(*zagreb, split) == pytest.approx(acos(cosine) * 6_371_008.8)
    assert haversine_metres(*zagreb, split) == pytest.approx(haversine_metres(*split, zagreb))


def test_a_quarter_and_a_half_of_the_way_round() -> None:
    assert haversine_metres(0, 90, (0.0, 0.0)) == pytest.approx(pi / 2 * EARTH_RADIUS_METRES)
    assert haversine_metres(90, 0, (-90.0, 0.0)) == pytest.approx(pi * EARTH_RADIUS_METRES)
    assert haversine_metres(0, 180, (0.0, -180.0)) == pytest.approx(0, abs=1e-6)


def test_every_finite_position_has_a_distance() -> None:
    places = [0, 1e-300, 89.99999, 90, 91, 180, 269.9999, 270, 360, 1e6, 1e308, -1e308]
    for latitude, longitude, lat, lon in product(places, places, [0.0, 45.8, -90.0], [0.0, 180.0]):
        metres = haversine_metres(latitude, longitude, (lat, lon))
        assert 0 <= metres <= pi * EARTH_RADIUS_METRES + 1


def test_nowhere_is_at_no_distance() -> None:
    for place in (nan, inf, -inf):
        assert isnan(haversine_metres(place, 0, (0.0, 0.0)))
        assert isnan(haversine_metres(0, place, (0.0, 0.0)))


def test_points_on_earth() -> None:
    assert on_earth((90.0, -180.0))
    assert not on_earth((90.1, 0.0))
    assert not on_earth((0.0, 180.1))
