"""The distance between two places, for places that are no constants."""

from wherecast.language.meaning.functions.signature import Function, Signature, Types
from wherecast.language.meaning.geo import haversine_metres
from wherecast.language.meaning.value_types import FLOAT, ArgumentProblem


def _degrees(types: Types) -> Signature:
    for place, one in enumerate(types):
        if not one.is_number and one.kind != "null":
            raise ArgumentProblem(place, "a number", one)
    return Signature((FLOAT,) * 4, FLOAT)


PLACES: dict[str, Function] = {
    "geo_distance": Function(
        4,
        4,
        _degrees,
        lambda _, latitude, longitude, *point: haversine_metres(latitude, longitude, point),
    )
}
