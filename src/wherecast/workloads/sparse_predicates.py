"""Sparse filters: predicates on a few of a hundred attributes of unequal popularity."""

import math
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from wherecast.model import Schema
from wherecast.workloads.draws import Floats
from wherecast.workloads.races import FirstOfTwo, draw_first, mean_product
from wherecast.workloads.text import float_texts, join
from wherecast.workloads.workload import CHUNK_ROWS, MatchRate, Workload, table_generator

ATTRIBUTES = 100
FLOATS = 60  # attributes of type float; the others are strings
CARRIED = 15  # attributes of a publication
PREDICATES = range(3, 9)  # predicates of a filter, each number equally likely
_WEIGHTS = 1 / np.arange(1, ATTRIBUTES + 1)
_CARDINALITY_MIN, _CARDINALITY_MAX = 5, 5_000
_WIDTH_MIN, _WIDTH_MAX = 0.05, 0.4  # width of a range
_NAMES = pa.array([f"x{number}" for number in range(ATTRIBUTES)])
_VALUES = pa.array([f"v{number}" for number in range(_CARDINALITY_MAX)])


@dataclass(frozen=True, eq=False)
class Sparse(Workload):
    """Filters `x0 BETWEEN 0.2 AND 0.4 AND x7 = 'v12' AND …`.

    Attributes:
        is_float: bool (attributes,), whether an attribute is a float; else it is a string.
        cardinalities: int64 (attributes,), the number of values of an attribute if a string.
    """

    is_float: NDArray[np.bool_]
    cardinalities: NDArray[np.int64]

    def _draw_values(
        self, rng: np.random.Generator, numbers: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """The number of a random string value for each of the attributes."""
        drawn = rng.random(numbers.shape) * self.cardinalities[numbers]
        return np.asarray(drawn, np.int64)

    def _filter_texts(self, rng: np.random.Generator) -> pa.StringArray:
        numbers = draw_first(rng, _WEIGHTS, CHUNK_ROWS, PREDICATES[-1])
        counts = rng.integers(PREDICATES[0], PREDICATES[-1] + 1, CHUNK_ROWS)
        numbers[np.arange(PREDICATES[-1]) >= counts[:, None]] = ATTRIBUTES  # sorted to the end
        numbers.sort(axis=1)
        taken = numbers[numbers < ATTRIBUTES]  # row by row
        is_float = self.is_float[taken]
        names = _NAMES.take(pa.array(taken))
        widths = rng.uniform(_WIDTH_MIN, _WIDTH_MAX, int(is_float.sum()))
        lows = rng.random(widths.size) * (1 - widths)
        highs = float_texts(lows + widths)
        values = _VALUES.take(pa.array(self._draw_values(rng, taken[~is_float])))
        floats = names.filter(pa.array(is_float))
        strings = names.filter(pa.array(~is_float))
        predicates = pa.concat_arrays(
            [
                join(floats, " BETWEEN ", float_texts(lows), " AND ", highs),
                join(strings, " = '", values, "'"),
            ]
        )
        order = np.argsort(np.argsort(~is_float, kind="stable"))  # back to the rows
        ends = np.concatenate([[0], np.cumsum(counts)])
        rows = pa.ListArray.from_arrays(
            pa.array(ends, pa.int32()), predicates.take(pa.array(order))
        )
        return pc.binary_join(rows, " AND ")

    def _publication_columns(self, rng: np.random.Generator, sent: int) -> list[pa.Array]:
        numbers = draw_first(rng, _WEIGHTS, CHUNK_ROWS, CARRIED)
        missing = np.ones((ATTRIBUTES, CHUNK_ROWS), np.bool_)
        rows = np.arange(CHUNK_ROWS)[:, None]
        missing[numbers, rows] = False
        floats = np.zeros(missing.shape)
        floats[numbers, rows] = rng.random(numbers.shape)
        strings = np.zeros(missing.shape, np.int64)
        strings[numbers, rows] = self._draw_values(rng, numbers)
        return [
            pa.array(floats[number], mask=missing[number])
            if self.is_float[number]
            else _VALUES.take(pa.array(strings[number], mask=missing[number]))
            for number in range(ATTRIBUTES)
        ]


def sparse(seed: int = 1) -> Sparse:
    """The sparse workload: 100 attributes, 15 in a publication, 3 to 8 in a filter.

    Attribute r has weight 1 / r; filters and publications draw different attributes in proportion
    to the weights. 60 random attributes are floats, uniform in [0, 1); 40 are strings with equally
    likely values, whose number is log-uniform from 5 to 5,000. A predicate on a float is a closed
    range with a uniform width of 0.05 to 0.4 and a uniform position in [0, 1]. A predicate on a
    string is an equality.

    The expected matches depend on the seed, which decides which popular attributes are strings.

    Args:
        seed: the seed of all random numbers.

    Raises:
        ConfigError: the seed is below 0.
    """
    rng = table_generator(seed)
    is_float = rng.permutation(np.arange(ATTRIBUTES) < FLOATS)
    sizes = np.exp(rng.uniform(math.log(_CARDINALITY_MIN), math.log(_CARDINALITY_MAX), ATTRIBUTES))
    cardinalities = np.clip(sizes.astype(np.int64), _CARDINALITY_MIN, _CARDINALITY_MAX)
    types = {f"x{n}": "float" if each else "string" for n, each in enumerate(is_float.tolist())}
    rate = _rate(is_float, cardinalities)
    return Sparse("sparse", Schema.from_dict(types), seed, rate, is_float, cardinalities)


def _rate(is_float: NDArray[np.bool_], cardinalities: NDArray[np.int64]) -> MatchRate:
    """The rate by two races: of the attributes of a filter and of a publication.

    The mean is exact. The spreads assume that a publication carries each attribute independently of
    the others.
    """
    widths = np.array([_WIDTH_MIN, _WIDTH_MAX])
    width = float(widths.mean())
    width_square = float(np.diff(widths**3)[0] / np.diff(widths)[0]) / 3
    passes = np.where(is_float, width, 1 / cardinalities)
    filter_squares = np.where(is_float, width_square, 1 / cardinalities**2)
    value_squares = np.where(is_float, _value_square(), 1 / cardinalities**2)
    carried = _carried()
    ones, zeros = np.ones(ATTRIBUTES), np.zeros(ATTRIBUTES)
    probability = mean_product(
        _WEIGHTS, PREDICATES, [CARRIED], FirstOfTwo(first=zeros, second=ones, both=passes)
    )
    by_filter = mean_product(
        _WEIGHTS, PREDICATES, [CARRIED], FirstOfTwo(zeros, ones, filter_squares * carried)
    )
    one = passes * carried
    by_publication = mean_product(
        _WEIGHTS, PREDICATES, PREDICATES, FirstOfTwo(one, one, value_squares * carried)
    )
    return MatchRate(
        probability,
        math.sqrt(by_filter / probability**2 - 1),
        math.sqrt(by_publication / probability**2 - 1),
    )


def _value_square() -> float:
    """The mean over the values of the squared share of ranges that contain the value."""
    steps = (np.arange(400) + 0.5) / 400
    values, widths = steps[:, None], _WIDTH_MIN + (_WIDTH_MAX - _WIDTH_MIN) * steps
    lows = np.minimum(values, 1 - widths) - np.maximum(values - widths, 0)
    holding = (lows / (1 - widths)).mean(axis=1)
    return float((holding**2).mean())


def _carried() -> Floats:
    """The probability that a publication carries each attribute.

    It is the probability of having arrived at the time by which 15 arrivals are expected.
    """
    low, high = 0.0, 1_000.0
    for _ in range(60):
        middle = (low + high) / 2
        if -np.expm1(-_WEIGHTS * middle).sum() < CARRIED:
            low = middle
        else:
            high = middle
    return -np.expm1(-_WEIGHTS * low)
