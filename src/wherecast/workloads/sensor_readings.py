"""Sensor readings: one predicate per filter, one reading per publication."""

import math
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from wherecast.model import Schema
from wherecast.workloads.draws import Floats
from wherecast.workloads.sensor_files import sensor_files
from wherecast.workloads.text import float_texts, join
from wherecast.workloads.workload import CHUNK_ROWS, MatchRate, Workload, table_generator

SENSORS = 35
OPERATORS = pa.array([" < ", " <= ", " > ", " >= ", " = ", " <> "])


@dataclass(frozen=True, eq=False)
class Sensors(Workload):
    """Filters `s7 >= 12.34` and publications with the reading of one sensor.

    Attributes:
        means: the mean reading of each sensor.
        sds: the standard deviation of each sensor's readings.
    """

    means: Floats
    sds: Floats

    def _draw_readings(self, rng: np.random.Generator) -> tuple[NDArray[np.int64], Floats]:
        """The sensors and the readings, to two digits, of a chunk; + 0.0 turns −0.0 into 0.0."""
        sensors = rng.integers(0, SENSORS, CHUNK_ROWS)
        readings = rng.normal(self.means[sensors], self.sds[sensors])
        return sensors, np.round(readings, 2) + 0.0

    def _filter_texts(self, rng: np.random.Generator) -> pa.StringArray:
        sensors, constants = self._draw_readings(rng)
        operators = rng.integers(0, len(OPERATORS), CHUNK_ROWS)
        names = pa.array(self.schema.names).take(pa.array(sensors))
        return join(names, OPERATORS.take(pa.array(operators)), float_texts(constants))

    def _publication_columns(self, rng: np.random.Generator, sent: int) -> list[pa.Array]:
        sensors, readings = self._draw_readings(rng)
        return [pa.array(readings, mask=sensors != sensor) for sensor in range(SENSORS)]


def sensors(seed: int = 1, files: bool = False, timestamps: bool = True) -> Workload:
    """The sensors workload: 35 float attributes, one of `< <= > >= = <>` per filter.

    The readings of a sensor are normal, to two digits; the mean of a sensor is N(0, 100), its
    standard deviation exp(N(1, 1)). Constants are drawn like readings. Sensors and operators are
    equally likely; a publication carries one attribute.

    With `files`, the workload has the form of the measurements of the elastic BE-Tree (Rožić, 2017,
    section 7); see `wherecast.workloads.sensor_files`.

    Args:
        seed: the seed of all random numbers.
        files: whether to use the five files of the source, with their time stamps.
        timestamps: with `files`, whether publications carry the time of their row; the source does
            not tell.

    Raises:
        ConfigError: the seed is below 0.
    """
    rng = table_generator(seed)
    if files:
        return sensor_files(seed, timestamps)
    # Of two opposite operators (< and >=, <= and >, = and <>) exactly one is true, so a publication
    # matches half of its sensor's filters, whatever the reading. The share of readings that pass
    # a filter is uniform for the four operators of order (mean square 1/3), nearly 0 for = and
    # nearly 1 for <>.
    probability = 1 / (2 * SENSORS)
    square = (4 / 3 + 0 + 1) / 6
    return Sensors(
        name="sensors",
        schema=Schema.from_dict({f"s{sensor}": "float" for sensor in range(SENSORS)}),
        seed=seed,
        rate=MatchRate(probability, math.sqrt(square / 0.5**2 - 1), 0.0),
        means=rng.normal(0, 100, SENSORS),
        sds=np.exp(rng.normal(1, 1, SENSORS)),
    )
