"""The distance that `geo_distance` means: the haversine on a sphere."""

from math import asin, cos, isfinite, nan, radians, sin, sqrt

EARTH_RADIUS_METRES = 6_371_008.8


def on_earth(point: tuple[float, float]) -> bool:
    """Whether a point is a possible latitude and longitude."""
    return -90.0 <= point[0] <= 90.0 and -180.0 <= point[1] <= 180.0


def haversine_metres(latitude: float, longitude: float, point: tuple[float, float]) -> float:
    """Metres along the sphere from a position to a point, all in degrees; NaN from nowhere."""
    if not (isfinite(latitude) and isfinite(longitude)):
        return nan
    phi, phi0 = radians(latitude), radians(point[0])
    rise = sin((phi - phi0) / 2.0)
    turn = sin(radians(longitude - point[1]) / 2.0)
    chord = rise * rise + cos(phi) * cos(phi0) * turn * turn
    return 2.0 * EARTH_RADIUS_METRES * asin(sqrt(min(1.0, max(0.0, chord))))
