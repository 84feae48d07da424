"""The many filters of the demo: bad air near a home, as WHERE clauses and as rows of bounds.

Both forms hold the same numbers. `match` reads the WHERE clauses; a range join of Spark reads the
bounds. The readings come from sensors on buses, so no two have the same position.
"""

import numpy as np
import pyarrow as pa

from wherecast.cli.demo.air import CITIES
from wherecast.workloads.draws import Floats
from wherecast.workloads.text import float_texts, join

FILTERS = 200_000
READINGS = 1_000_000
SAMPLE = 4_000  # readings for the range join; all of them would take it half an hour
JOIN = (
    "r.no2 > f.no2_above AND r.lat BETWEEN f.lat_low AND f.lat_high"
    " AND r.lon BETWEEN f.lon_low AND f.lon_high"
)
_SEED = 7
_SPREAD = 0.05  # degrees: standard deviation of positions around the centre of a city
_PLACES = 4  # decimal places of all numbers


def filters(count: int = FILTERS) -> pa.Table:
    """The filters: `id`, the WHERE clause `filter`, and its bounds as columns."""
    rng = np.random.default_rng((_SEED, 1))
    lat, lon, _ = _positions(rng, count)
    half = rng.uniform(0.002, 0.012, count)  # degrees: homes of 200 m to 1.3 km
    bounds = {
        "no2_above": rng.uniform(20, 120, count),
        "lat_low": lat - half,
        "lat_high": lat + half,
        "lon_low": lon - 1.4 * half,
        "lon_high": lon + 1.4 * half,
    }
    rounded = {name: np.round(values, _PLACES) for name, values in bounds.items()}
    texts = {name: float_texts(values) for name, values in rounded.items()}
    clauses = join(
        "no2 > ", texts["no2_above"],
        " AND lat BETWEEN ", texts["lat_low"], " AND ", texts["lat_high"],
        " AND lon BETWEEN ", texts["lon_low"], " AND ", texts["lon_high"],
    )  # fmt: skip
    return pa.table({"id": pa.array(np.arange(count)), "filter": clauses, **rounded})


def readings(count: int = READINGS) -> pa.Table:
    """The readings of buses: `publication`, which numbers them, `no2`, `lat` and `lon`."""
    rng = np.random.default_rng((_SEED, 2))
    lat, lon, level = _positions(rng, count)
    columns = {"no2": rng.gamma(4, level / 4), "lat": lat, "lon": lon}
    rounded = {name: np.round(values, _PLACES) for name, values in columns.items()}
    return pa.table({"publication": pa.array(np.arange(count)), **rounded})


def _positions(rng: np.random.Generator, count: int) -> tuple[Floats, Floats, Floats]:
    """Latitudes, longitudes and usual levels of nitrogen dioxide around the cities."""
    chosen = rng.integers(0, len(CITIES), count)
    lat, lon, level = np.array([(city.lat, city.lon, city.no2) for city in CITIES])[chosen].T
    spread = rng.normal(0, _SPREAD, (2, count))
    return lat + spread[0], lon + spread[1], level
