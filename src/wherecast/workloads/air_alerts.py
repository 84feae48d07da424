"""Air alerts: a city, and one of two pollutants above its threshold."""

import math
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from wherecast.model import Schema
from wherecast.workloads.text import float_texts, join
from wherecast.workloads.workload import CHUNK_ROWS, MatchRate, Workload, require, table_generator

SCHEMA = Schema.from_dict({"city": "string", "no2": "float", "pm10": "float"})
_READING_MAX = 100.0  # readings are uniform in [0, 100)
_THRESHOLD_MIN = 60.0  # thresholds are uniform in [60, 100)


@dataclass(frozen=True, eq=False)
class AirAlerts(Workload):
    """Filters `city = 'city7' AND (no2 > x OR pm10 > y)` and one reading per publication.

    Attributes:
        cities: the names of the cities, all equally likely.
        wide: whether filters name no city.
    """

    cities: pa.StringArray
    wide: bool

    def _draw_cities(self, rng: np.random.Generator) -> pa.StringArray:
        return self.cities.take(pa.array(rng.integers(0, len(self.cities), CHUNK_ROWS)))

    def _filter_texts(self, rng: np.random.Generator) -> pa.StringArray:
        cities = self._draw_cities(rng)
        no2, pm10 = rng.uniform(_THRESHOLD_MIN, _READING_MAX, (2, CHUNK_ROWS))
        either = join("no2 > ", float_texts(no2), " OR pm10 > ", float_texts(pm10))
        return either if self.wide else join("city = '", cities, "' AND (", either, ")")

    def _publication_columns(self, rng: np.random.Generator, sent: int) -> list[pa.Array]:
        cities = self._draw_cities(rng)
        no2, pm10 = rng.uniform(0, _READING_MAX, (2, CHUNK_ROWS))
        return [cities, pa.array(no2), pa.array(pm10)]


def alerts_or(seed: int = 1, cities: int = 50, wide: bool = False) -> AirAlerts:
    """The alerts_or workload: of two thresholds, each is passed by one reading in five.

    Cities are equally likely. Readings are uniform in [0, 100), thresholds uniform in [60, 100);
    all are independent. So 36 % of a city's filters match a reading of the city, and 4 % match by
    both thresholds.

    Args:
        seed: the seed of all random numbers.
        cities: the number of cities.
        wide: whether filters name no city: `no2 > x OR pm10 > y`.

    Raises:
        ConfigError: an option is out of its range.
    """
    table_generator(seed)
    require(cities >= 1, f"cities must be 1 or more, not {cities}")
    return AirAlerts(
        name="alerts_or",
        schema=SCHEMA,
        seed=seed,
        rate=_rate(1 if wide else cities),
        cities=pa.array([f"city{number}" for number in range(cities)]),
        wide=wide,
    )


def _rate(cities: int) -> MatchRate:
    """The rate by the chance that neither threshold is passed.

    The share of readings that pass a threshold is uniform in (0, t], with t = 0.4. The share of
    thresholds that a reading passes is 0 with probability 1 - t, else uniform in [0, 1).
    """
    top = 1 - _THRESHOLD_MIN / _READING_MAX
    mean, by_filter, by_publication = top / 2, top**2 / 3, top / 3
    either = 1 - (1 - mean) ** 2
    spreads = []
    for square in (by_filter, by_publication):  # the mean square of the chance of one threshold
        neither_square = (1 - 2 * mean + square) ** 2
        either_square = 1 - 2 * (1 - mean) ** 2 + neither_square
        spreads.append(math.sqrt(either_square / either**2 - 1))
    return MatchRate(either / cities, *spreads)
