"""The data of the demo: stations in European cities measure the air, people subscribe.

All data is drawn from a fixed seed, so that every run shows the same.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa

from wherecast.model import Schema, Subscription

SCHEMA = """\
# Air quality, as the stations of the demo measure it.
[attributes]
city = "string"
station = "string"
no2  = { type = "float", min = 0, max = 1000 }    # µg/m³
pm10 = { type = "float", min = 0, max = 1000 }    # µg/m³
temp = "float"                                    # °C
lat  = "float"
lon  = "float"
seen = "timestamp"
"""

PUBLICATIONS = 6_000
MICRO_BATCHES = 6  # in which the publications arrive
SUBSCRIPTIONS = 5_000  # at first
SHOWN = ("ana", "school-14", "vienna")  # subscribers whose notifications are shown
_USERS = 2_500  # the other subscribers
_ADDED, _REMOVED = 500, 1_000  # subscriptions of the others that change while the query runs
_START = datetime(2026, 5, 1, tzinfo=UTC)
_SEED = 7


@dataclass(frozen=True, slots=True)
class AirChange:
    """A change of subscriptions while the query runs: some are put, or some are removed.

    Attributes:
        after: number of the micro-batch after which they change.
        summary: what the change means to the subscribers that the demo shows.
        put: new subscriptions, and replacements of those with the same subscriber and id.
        removed: subscriptions that end.
    """

    after: int
    summary: str
    put: tuple[Subscription, ...] = ()
    removed: tuple[Subscription, ...] = ()


@dataclass(frozen=True, slots=True)
class City:
    """A city: its position and its usual level of nitrogen dioxide."""

    name: str
    lat: float
    lon: float
    no2: float


CITIES = (
    City("Zagreb", 45.813, 15.977, 30),
    City("Ljubljana", 46.051, 14.506, 24),
    City("Vienna", 48.208, 16.373, 28),
    City("Graz", 47.070, 15.439, 29),
    City("Trieste", 45.650, 13.770, 22),
    City("Budapest", 47.498, 19.040, 35),
    City("Split", 43.508, 16.440, 16),
    City("Venice", 45.438, 12.336, 26),
    City("Munich", 48.137, 11.575, 33),
    City("Prague", 50.088, 14.420, 27),
)


def schema() -> Schema:
    """The schema of the readings."""
    return Schema.from_toml(SCHEMA)


def publications() -> pa.Table:
    """The numbered readings of two days, ordered by time; some sensors are off or broken."""
    rng = np.random.default_rng(_SEED)
    count = PUBLICATIONS
    where = rng.integers(0, len(CITIES), count)
    stations = rng.integers(1, 7, count)
    lat = np.array([city.lat for city in CITIES])[where] + (stations - 3.5) * 0.011
    lon = np.array([city.lon for city in CITIES])[where] + (stations % 3 - 1) * 0.017
    minutes = np.sort(rng.integers(0, 2 * 24 * 60, count))
    rush = 1 + 0.6 * np.sin(minutes / (24 * 60) * 4 * np.pi - 2) ** 2
    level = np.array([city.no2 for city in CITIES])[where]
    no2 = np.round(rng.gamma(4, level / 4) * rush * 0.8, 1)
    no2[rng.choice(count, 5, replace=False)] = -999.0  # what a broken sensor sends
    pm10 = np.round(rng.gamma(3, 8, count), 1)
    temp = np.round(
        12 + 7 * np.sin(minutes / (24 * 60) * 2 * np.pi - 2) + rng.normal(0, 2, count), 1
    )
    seen = [_START + timedelta(minutes=int(minute)) for minute in minutes]
    off = rng.random(count)
    return pa.table(
        {
            "number": pa.array(np.arange(count)),
            "city": pa.array([CITIES[place].name for place in where]),
            "station": pa.array(
                [f"{CITIES[p].name[:3].upper()}-{s}" for p, s in zip(where, stations, strict=True)]
            ),
            "no2": pa.array(no2, mask=off < 0.03),
            "pm10": pa.array(pm10, mask=(off < 0.01) | (off > 0.03) & (off < 0.15)),
            "temp": pa.array(temp),
            "lat": pa.array(np.round(lat, 4)),
            "lon": pa.array(np.round(lon, 4)),
            "seen": pa.array(seen, pa.timestamp("us", tz="UTC")),
        }
    )


def subscriptions() -> list[Subscription]:
    """The subscriptions at the start: those of the three shown subscribers, and many others."""
    shown = [*_ANA, *_SCHOOL, *_VIENNA]
    return [*shown, *_others(SUBSCRIPTIONS - len(shown), _SEED + 1, "s")]


def changes() -> tuple[AirChange, ...]:
    """The changes that subscribers make while the query runs, in the order of time."""
    gone = tuple(_others(SUBSCRIPTIONS, _SEED + 1, "s"))[:_REMOVED]
    new = tuple(_others(_ADDED, _SEED + 2, "t"))
    return (
        AirChange(
            MICRO_BATCHES // 3,
            "ana goes to Budapest and adds trip; vienna lowers its limit from 80 to 50",
            put=(_TRIP, _LOWER, *new),
        ),
        AirChange(
            2 * MICRO_BATCHES // 3,
            "ana is back and removes trip; school-14 removes frost",
            removed=(_TRIP, _FROST, *gone),
        ),
    )


NEAR_HOME = Subscription(
    "near-home", "no2 > 60 AND geo_distance(lat, lon, 45.8131, 15.9772) < 2500", "ana"
)
_ANA = (
    NEAR_HOME,
    Subscription("zagreb-dust", "city = 'Zagreb' AND pm10 > 55", "ana"),
)
_TRIP = Subscription("trip", "city = 'Budapest' AND (no2 > 60 OR pm10 > 50)", "ana")
_FROST = Subscription("frost", "city = 'Ljubljana' AND temp < 3", "school-14")
_SCHOOL = (
    Subscription(
        "playground", "station IN ('LJU-2', 'LJU-3') AND (no2 > 50 OR pm10 > 50)", "school-14"
    ),
    _FROST,
)
_LOWER = Subscription("limit", "city = 'Vienna' AND no2 > 50", "vienna")
_VIENNA = (
    Subscription("limit", "city = 'Vienna' AND no2 > 80", "vienna"),
    Subscription("silent", "station LIKE 'VIE-%' AND no2 IS NULL AND pm10 IS NULL", "vienna"),
    Subscription(
        "rush",
        "city = 'Vienna' AND pm10 > 60 AND seen BETWEEN '2026-05-01T06:00' AND '2026-05-01T10:00'",
        "vienna",
    ),
)


def _others(count: int, seed: int, prefix: str) -> Iterator[Subscription]:
    rng = np.random.default_rng(seed)
    for number in range(count):
        city = CITIES[rng.integers(len(CITIES))]
        other = CITIES[rng.integers(len(CITIES))]
        level = int(rng.integers(45, 110))
        lat, lon = city.lat + rng.normal(0, 0.02), city.lon + rng.normal(0, 0.02)
        metres = rng.integers(1000, 4000)
        texts = (
            f"city = '{city.name}' AND (no2 > {level} OR pm10 > {level})",
            f"geo_distance(lat, lon, {lat:.4f}, {lon:.4f}) < {metres} AND pm10 > {level}",
            f"city IN ('{city.name}', '{other.name}') AND pm10 BETWEEN {level} AND {level + 10}",
            f"station LIKE '{city.name[:3].upper()}-%' AND NOT (no2 < {level} OR temp < 15)",
            f"city <> '{city.name}' AND no2 > {level + 70}",
        )
        user = f"user-{number % _USERS:04}"
        yield Subscription(f"{prefix}{number}", texts[number % len(texts)], user)
