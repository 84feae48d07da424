"""SREM: a range on every dimension around its middle; publications uniform or around a hot spot.

Source: SREM (2015), section 5.1: eight dimensions from 0 to 500. The spread of 50 is quoted from
memory of the original article. The normal distribution of both ends around the middle is ours.
"""

import math
from dataclasses import dataclass
from string import ascii_lowercase

import numpy as np
import pyarrow as pa

from wherecast.model import Schema
from wherecast.workloads.draws import CroppedNormal, Floats, Uniform, normal_average, normal_cdf
from wherecast.workloads.text import float_texts, join
from wherecast.workloads.workload import CHUNK_ROWS, MatchRate, Workload, require, table_generator

TOP = 500.0  # the upper end of every dimension
MIDDLE = TOP / 2


@dataclass(frozen=True, eq=False)
class Srem(Workload):
    """Filters `a BETWEEN lo AND hi AND b BETWEEN …` and publications with a value per dimension.

    Attributes:
        sd: the standard deviation of the ends of a range around the middle.
        values: the distribution of the values in publications, on every dimension.
    """

    sd: float
    values: CroppedNormal | Uniform

    def _filter_texts(self, rng: np.random.Generator) -> pa.StringArray:
        pieces: list[str | pa.StringArray] = []
        for name in self.schema.names:
            ends = np.clip(rng.normal(MIDDLE, self.sd, (CHUNK_ROWS, 2)), 0, TOP)
            ends.sort(axis=1)
            pieces += [f"{' AND ' if pieces else ''}{name} BETWEEN ", float_texts(ends[:, 0])]
            pieces += [" AND ", float_texts(ends[:, 1])]
        return join(*pieces)

    def _publication_columns(self, rng: np.random.Generator, sent: int) -> list[pa.Array]:
        return [pa.array(self.values.draw(rng, CHUNK_ROWS)) for _ in self.schema.names]


def srem(seed: int = 1, sd: float = 50.0, dimensions: int = 8, hot_sd: float | None = None) -> Srem:
    """The SREM workload: floats in [0, 500), one range per dimension in every filter.

    Both ends of a range are normal around the middle, cut off at the ends of the dimension.

    Args:
        seed: the seed of all random numbers.
        sd: the standard deviation of the ends around the middle; a larger one widens the ranges.
        dimensions: the number of dimensions, named a, b, c, …
        hot_sd: the standard deviation of publications around the middle, a hot spot; a value
            outside the dimension is drawn again. By default publications are uniform.

    Raises:
        ConfigError: an option is out of its range.
    """
    table_generator(seed)  # no tables here, but the same check of the seed
    most = len(ascii_lowercase)
    require(1 <= dimensions <= most, f"dimensions must be 1 to {most}, not {dimensions}")
    require(sd > 0, f"sd must be above 0, not {sd}")
    require(hot_sd is None or hot_sd > 0, f"hot_sd must be above 0, not {hot_sd}")
    values = Uniform(TOP) if hot_sd is None else CroppedNormal(MIDDLE, float(hot_sd), TOP)
    domain = {"type": "float", "min": 0, "max": int(TOP)}
    schema = Schema.from_dict(dict.fromkeys(ascii_lowercase[:dimensions], domain))
    rate = _rate(float(sd), values, dimensions)
    return Srem("srem", schema, seed, rate, float(sd), values)


def _rate(sd: float, values: CroppedNormal | Uniform, dimensions: int) -> MatchRate:
    """The rate by numeric integration; dimensions are independent, so their rates multiply."""

    def reached(points: Floats) -> Floats:
        """The share of the ranges that contain a point: one end lies on each side of it."""
        below = normal_cdf((points - MIDDLE) / sd)
        return np.asarray(2 * below * (1 - below), np.float64)

    def share(ends: Floats) -> Floats:
        return values.cdf(np.clip(ends, 0, TOP))

    mean = values.average(reached)
    by_publication = values.average(lambda points: reached(points) ** 2) / mean**2
    # The share of values in a range is the difference of two independent ends, so its mean
    # square is twice the variance of one end.
    first = normal_average(share, MIDDLE, sd)
    square = 2 * (normal_average(lambda ends: share(ends) ** 2, MIDDLE, sd) - first**2)
    by_filter = square / mean**2
    return MatchRate(
        mean**dimensions,
        math.sqrt(max(by_filter**dimensions - 1, 0)),
        math.sqrt(max(by_publication**dimensions - 1, 0)),
    )
