"""BlueDove: a range on every dimension, centred around a hot spot.

Source: BlueDove (Li et al., 2011), sections IV-B and IV-F.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_lowercase

import numpy as np
import pyarrow as pa

from wherecast.model import Schema
from wherecast.workloads.draws import CroppedNormal, Floats, Uniform
from wherecast.workloads.text import float_texts, join
from wherecast.workloads.workload import CHUNK_ROWS, MatchRate, Workload, require, table_generator

TOP = 1000.0  # the upper end of every dimension


@dataclass(frozen=True, eq=False)
class BlueDove(Workload):
    """Filters `a >= lo AND a < hi AND b >= …` and publications with a value per dimension.

    Attributes:
        length: the length of a range before it is cut off at the ends of the dimension.
        centres: the distribution of the centres of ranges, per dimension.
        values: the distribution of the values in publications, per dimension.
    """

    length: float
    centres: tuple[CroppedNormal, ...]
    values: tuple[CroppedNormal | Uniform, ...]

    def _filter_texts(self, rng: np.random.Generator) -> pa.StringArray:
        pieces: list[str | pa.StringArray] = []
        for name, centre in zip(self.schema.names, self.centres, strict=True):
            middles = centre.draw(rng, CHUNK_ROWS)
            lows = np.maximum(middles - self.length / 2, 0)
            highs = np.minimum(middles + self.length / 2, TOP)
            pieces += [f"{' AND ' if pieces else ''}{name} >= ", float_texts(lows)]
            pieces += [f" AND {name} < ", float_texts(highs)]
        return join(*pieces)

    def _publication_columns(self, rng: np.random.Generator, sent: int) -> list[pa.Array]:
        return [pa.array(value.draw(rng, CHUNK_ROWS)) for value in self.values]


def bluedove(
    seed: int = 1,
    length: float = 250.0,
    sd: float = 250.0,
    dimensions: int = 4,
    skewed: int = 0,
    hot_spots: Sequence[float] | None = None,
) -> BlueDove:
    """The BlueDove workload: floats in [0, 1000), one range per dimension in every filter.

    The centres of the ranges are normal around the hot spot of the dimension; a centre outside the
    dimension is drawn again. The ranges are cut off at the ends of the dimension.

    Args:
        seed: the seed of all random numbers.
        length: the length of a range.
        sd: the standard deviation of the centres around the hot spot.
        dimensions: the number of dimensions, named a, b, c, …
        skewed: the number of dimensions, from the first, on which publications have the
            distribution of the centres (adverse skew); on the others publications are uniform.
        hot_spots: one hot spot per dimension; by default (d + 0.5) · 1000 / dimensions. The source
            says only that the hot spots are spread evenly.

    Raises:
        ConfigError: an option is out of its range.
    """
    table_generator(seed)  # no tables here, but the same check of the seed
    most = len(ascii_lowercase)
    require(1 <= dimensions <= most, f"dimensions must be 1 to {most}, not {dimensions}")
    require(length > 0 and sd > 0, f"length and sd must be above 0, not {length} and {sd}")
    require(0 <= skewed <= dimensions, f"skewed must be 0 to {dimensions}, not {skewed}")
    spots = hot_spots or [(d + 0.5) * TOP / dimensions for d in range(dimensions)]
    require(
        len(spots) == dimensions and all(0 <= spot <= TOP for spot in spots),
        f"hot_spots must be {dimensions} numbers from 0 to {TOP:g}, not {hot_spots}",
    )
    centres = tuple(CroppedNormal(float(spot), float(sd), TOP) for spot in spots)
    values = tuple(centre if d < skewed else Uniform(TOP) for d, centre in enumerate(centres))
    domain = {"type": "float", "min": 0, "max": int(TOP)}
    schema = Schema.from_dict(dict.fromkeys(ascii_lowercase[:dimensions], domain))
    rate = _rate(float(length), centres, values)
    return BlueDove("bluedove", schema, seed, rate, float(length), centres, values)


def _rate(
    length: float,
    centres: tuple[CroppedNormal, ...],
    values: tuple[CroppedNormal | Uniform, ...],
) -> MatchRate:
    """The rate by numeric integration; dimensions are independent, so their rates multiply."""
    probability = by_filter = by_publication = 1.0
    for centre, value in zip(centres, values, strict=True):

        def inside(middles: Floats, of: CroppedNormal | Uniform = value) -> Floats:
            return of.cdf(middles + length / 2) - of.cdf(middles - length / 2)

        def reached(points: Floats, by: CroppedNormal = centre) -> Floats:
            return by.cdf(points + length / 2) - by.cdf(points - length / 2)

        mean = centre.average(inside)
        probability *= mean
        by_filter *= centre.average(lambda middles: inside(middles) ** 2) / mean**2
        by_publication *= value.average(lambda points: reached(points) ** 2) / mean**2
    return MatchRate(
        probability, math.sqrt(max(by_filter - 1, 0)), math.sqrt(max(by_publication - 1, 0))
    )
