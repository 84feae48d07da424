"""Rows of five sensor files: synthetic data in the form of the elastic BE-Tree's measurements.

Source: elastic BE-Tree (Rožić, 2017), section 7. From the source:

- the five files with their numbers of rows, their sensors and units
- missing readings in ultrafine-particles
- a round of publications: a random row of each file, one publication per reading of the row, then
  one `test` publication with the number of publications so far
- a fifth of the filters per file; three quarters of them on a reading of a random row, a quarter on
  a time stamp
- one predicate per filter, with a random numeric operator except BETWEEN

Ours, where the source gives nothing:

- the values: normal around a level per sensor, clipped to the declared domain, on whole steps
- the times of the rows: one row an hour, in carbon-monoxide one in twelve hours
- one time attribute per file, with the same operators as readings
- the missing readings: each with probability 0.3, at least one reading stays in a row
- the unit of particles

Filters take the files in turn, so that any number of filters has the shares of the source.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from wherecast.model import Schema
from wherecast.workloads.draws import Floats
from wherecast.workloads.text import float_texts, join, time_texts
from wherecast.workloads.workload import CHUNK_ROWS, MatchRate, Workload, table_generator

OPERATORS = pa.array([" < ", " <= ", " = ", " >= ", " > "])
MARKER = "test"  # the attribute of the publication that ends a round
_ROUNDS = 250  # rounds of publications per chunk
_START = np.datetime64("2012-06-01T00:00:00", "us")


@dataclass(frozen=True, slots=True)
class Sensor:
    """One column of a file: its domain, and the mean level and spread of its readings."""

    name: str
    unit: str
    top: int
    step: float
    level: float
    sd: float


@dataclass(frozen=True, slots=True)
class Family:
    """One file: its number of rows, the hours between them, its sensors, the share missing."""

    name: str
    rows: int
    hours: int
    sensors: tuple[Sensor, ...]
    missing: float = 0.0


def _series(name: str, sensors: int, unit: str, *scale: float) -> tuple[Sensor, ...]:
    """Sensors of one kind, numbered from 1; `scale` is (top, step, level, sd)."""
    top, step, level, sd = scale
    return tuple(
        Sensor(f"{name}{number}", unit, int(top), step, level, sd)
        for number in range(1, sensors + 1)
    )


def _station(name: str) -> tuple[Sensor, ...]:
    """The five gases that a street station measures."""
    return (
        Sensor(f"{name}_o3", "ppb", 200, 0.001, 25, 10),
        Sensor(f"{name}_co", "ppm", 20, 0.001, 0.5, 0.15),
        Sensor(f"{name}_no", "ppb", 500, 0.001, 20, 7),
        Sensor(f"{name}_nox", "ppb", 1000, 0.001, 45, 15),
        Sensor(f"{name}_no2", "ppb", 400, 0.001, 25, 8),
    )


FAMILIES = (
    Family("carbon_monoxide", 76, 12, _series("carbon_monoxide", 5, "ppm", 20, 0.001, 0.5, 0.15)),
    Family("ozone", 909, 1, _series("ozone", 10, "ppb", 200, 0.001, 30, 10)),
    Family("schimmelstrasse", 919, 1, _station("schimmelstrasse")),
    Family("stampfenbachstrasse", 919, 1, _station("stampfenbachstrasse")),
    Family(
        "ultrafine_particles",
        808,
        1,
        _series("ultrafine_particles", 10, "particles per cm³", 100_000, 1.0, 12_000, 4_000),
        missing=0.3,
    ),
)


@dataclass(frozen=True, eq=False)
class FileRows:
    """The rows of one file. Shapes: readings (rows, sensors), NaN where missing; times (rows)."""

    family: Family
    readings: Floats
    times: NDArray[np.datetime64]

    @property
    def present(self) -> NDArray[np.bool_]:
        """Whether each reading is present; bool, shape (rows, sensors)."""
        return ~np.isnan(self.readings)


@dataclass(frozen=True, eq=False)
class SensorFiles(Workload):
    """Filters on one reading or one time stamp; publications with one reading of a row.

    Attributes:
        files: the rows from which constants and publications are drawn.
        timestamps: whether publications carry the time of their row.
    """

    files: tuple[FileRows, ...]
    timestamps: bool

    def _filter_texts(self, rng: np.random.Generator) -> pa.StringArray:
        """Filter i belongs to file i mod 5; every fourth filter of a file is on its time."""
        turns = np.arange(CHUNK_ROWS)
        places: list[NDArray[np.int64]] = []
        texts: list[pa.StringArray] = []
        for number, file in enumerate(self.files):
            mine = turns[turns % len(self.files) == number]
            on_time = mine // len(self.files) % 4 == 3
            rows = rng.integers(0, file.family.rows, mine.size)
            operators = OPERATORS.take(pa.array(rng.integers(0, len(OPERATORS), mine.size)))
            chances = rng.random((mine.size, len(file.family.sensors)))
            columns = np.where(file.present[rows], chances, -1).argmax(axis=1)
            names = pa.array([sensor.name for sensor in file.family.sensors])
            places += [mine[~on_time], mine[on_time]]
            texts.append(
                join(
                    names.take(pa.array(columns[~on_time])),
                    operators.filter(pa.array(~on_time)),
                    float_texts(file.readings[rows, columns][~on_time]),
                )
            )
            moments = time_texts(file.times[rows[on_time]])
            texts.append(join(time_name(file.family), operators.filter(pa.array(on_time)), moments))
        return pa.concat_arrays(texts).take(pa.array(np.argsort(np.concatenate(places))))

    def _publication_columns(self, rng: np.random.Generator, sent: int) -> list[pa.Array]:
        drawn = [rng.integers(0, file.family.rows, _ROUNDS) for file in self.files]
        rounds = [file.readings[rows] for file, rows in zip(self.files, drawn, strict=True)]
        every = np.hstack([*rounds, np.zeros((_ROUNDS, 1))])  # the last column is the marker
        kept = ~np.isnan(every).ravel()
        numbers = np.tile(np.arange(every.shape[1]), _ROUNDS)[kept]  # the column of each row
        readings = every.ravel()[kept]
        arrays: list[pa.Array] = []
        first = 0
        for file, rows in zip(self.files, drawn, strict=True):
            end = first + len(file.family.sensors)
            arrays += [pa.array(readings, mask=numbers != column) for column in range(first, end)]
            carries = (numbers >= first) & (numbers < end) & self.timestamps
            times = np.repeat(file.times[rows], every.shape[1])[kept]
            arrays.append(pa.array(times, pa.timestamp("us", "UTC"), mask=~carries))
            first = end
        counts = sent + np.arange(readings.size)
        return [*arrays, pa.array(counts, mask=numbers != first)]


def sensor_files(seed: int, timestamps: bool) -> SensorFiles:
    """The workload over five files of rows drawn from the seed."""
    rng = table_generator(seed)
    files = tuple(_file_rows(family, rng) for family in FAMILIES)
    attributes: dict[str, Any] = {}
    for family in FAMILIES:
        for sensor in family.sensors:
            domain = {"type": "float", "min": 0, "max": sensor.top, "step": sensor.step}
            attributes[sensor.name] = domain
        attributes[time_name(family)] = "timestamp"
    schema = Schema.from_dict({**attributes, MARKER: "int"})
    return SensorFiles("sensors", schema, seed, _rate(files, timestamps), files, timestamps)


def time_name(family: Family) -> str:
    """The attribute with the time of the family's rows."""
    return f"{family.name}_at"


def _file_rows(family: Family, rng: np.random.Generator) -> FileRows:
    """The rows of one file; readings below 0 become 0, so −0.0 cannot occur."""
    shape = (family.rows, len(family.sensors))
    levels, sds, tops, steps = (
        np.array([getattr(sensor, field) for sensor in family.sensors])
        for field in ("level", "sd", "top", "step")
    )
    offsets = rng.normal(0, sds / 2)
    per_unit = np.round(1 / steps)
    raw = np.clip(rng.normal(levels + offsets, sds, shape), 0, tops)
    readings = np.round(raw * per_unit) / per_unit
    absent = rng.random(shape) < family.missing
    absent[np.arange(family.rows), rng.integers(0, shape[1], family.rows)] = False
    readings[absent] = np.nan
    times = _START + np.arange(family.rows) * np.timedelta64(family.hours, "h")
    return FileRows(family, readings, times)


def _rate(files: tuple[FileRows, ...], timestamps: bool) -> MatchRate:
    """The rate, counted on the rows themselves; markers match nothing.

    Of the five operators two are true for different values, and three for equal values.
    """
    per_round = 1 + sum(file.present.sum() / file.family.rows for file in files)
    chances: list[tuple[float, float]] = []  # per publication: its frequency, its share of filters
    squares = 0.0  # the mean over the filters of the squared share of publications
    for file in files:
        once = 1 / (file.family.rows * per_round)
        share = 1 / len(files)
        per_row = file.present.sum(axis=1)
        by_time = share / 4 * (2 + 1 / file.family.rows) / 5 if timestamps else 0.0
        for column, present in zip(file.readings.T, file.present.T, strict=True):
            values = column[present]
            weights = share * 3 / 4 / file.family.rows / per_row[present]
            _, kinds, sizes = np.unique(values, return_inverse=True, return_counts=True)
            equal = np.bincount(kinds, weights)[kinds]
            matched = (2 * weights.sum() + equal) / 5 + by_time
            chances += [(once, float(match)) for match in matched]
            squares += float(weights @ _squares(sizes, once)[kinds])
        if timestamps:
            squares += share / 4 / file.family.rows * float(_squares(per_row, once).sum())
    sent, matched = np.array(chances).T
    mean = float(sent @ matched)
    by_publication = float(sent @ matched**2) / mean**2 - 1
    return MatchRate(mean, math.sqrt(squares / mean**2 - 1), math.sqrt(by_publication))


def _squares(sizes: NDArray[np.int64], once: float) -> Floats:
    """Per value, in order: the mean over the operators of the squared share of publications.

    `sizes` are the numbers of publications per value; `once` is the share of one publication.
    """
    below = np.cumsum(sizes) - sizes
    above = sizes.sum() - below - sizes
    counts = np.stack([below, below + sizes, sizes, above + sizes, above])
    return np.asarray(((counts * once) ** 2).mean(axis=0), np.float64)
