"""The distance between two places, for places that are no constants."""

from wherecast.language.meaning.functions.signature import Function, fixed
from wherecast.language.meaning.geo import haversine_metres
from wherecast.language.meaning.value_types import FLOAT

PLACES: dict[str, Function] = {
    "geo_distance": Function(
        4,
        4,
        fixed((FLOAT,) * 4, FLOAT),
        lambda _, latitude, longitude, *point: haversine_metres(latitude, longitude, point),
    )
}
