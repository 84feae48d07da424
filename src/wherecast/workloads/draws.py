"""The distributions that several workloads draw from."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_STEPS = 4_000  # steps of a numeric integral, enough for about seven digits


def normal_cdf(values: Floats) -> Floats:
    """The standard normal distribution function of each value."""
    scaled = (values / math.sqrt(2)).ravel().tolist()
    return (0.5 + 0.5 * np.array([math.erf(z) for z in scaled])).reshape(values.shape)


def normal_average(function: Callable[[Floats], Floats], mean: float, sd: float) -> float:
    """The mean of the function over a normal variable, by the midpoint rule."""
    z = (np.arange(_STEPS) + 0.5) / _STEPS * 16 - 8
    weights = np.exp(-(z**2) / 2)
    return float(np.average(function(mean + sd * z), weights=weights))


@dataclass(frozen=True, slots=True)
class CroppedNormal:
    """A normal variable, drawn again until it falls into [0, top)."""

    mean: float
    sd: float
    top: float

    def draw(self, rng: np.random.Generator, count: int) -> Floats:
        """`count` random values."""
        values = rng.normal(self.mean, self.sd, count)
        while (outside := np.flatnonzero((values < 0) | (values >= self.top))).size:
            values[outside] = rng.normal(self.mean, self.sd, outside.size)
        return values

    def cdf(self, values: Floats) -> Floats:
        """The share of the variable below each value."""
        low, high = normal_cdf((np.array([0.0, self.top]) - self.mean) / self.sd)
        inside = normal_cdf((np.clip(values, 0, self.top) - self.mean) / self.sd)
        return np.asarray((inside - low) / (high - low), np.float64)

    def average(self, function: Callable[[Floats], Floats]) -> float:
        """The mean of the function over the variable, by the midpoint rule."""
        values = (np.arange(_STEPS) + 0.5) / _STEPS * self.top
        weights = np.exp(-(((values - self.mean) / self.sd) ** 2) / 2)
        return float(np.average(function(values), weights=weights))


@dataclass(frozen=True, slots=True)
class Uniform:
    """A variable spread evenly over [0, top)."""

    top: float

    def draw(self, rng: np.random.Generator, count: int) -> Floats:
        """`count` random values."""
        return rng.random(count) * self.top

    def cdf(self, values: Floats) -> Floats:
        """The share of the variable below each value."""
        return np.clip(values / self.top, 0, 1)

    def average(self, function: Callable[[Floats], Floats]) -> float:
        """The mean of the function over the variable, by the midpoint rule."""
        return float(np.mean(function((np.arange(_STEPS) + 0.5) / _STEPS * self.top)))


def zipf_shares(ranks: int) -> Floats:
    """The shares of the ranks 1, 2, … under Zipf's law with exponent 1."""
    shares = 1 / np.arange(1, ranks + 1, dtype=np.float64)
    return np.asarray(shares / shares.sum(), np.float64)


def choose(rng: np.random.Generator, shares: Floats, count: int) -> NDArray[np.int64]:
    """`count` random positions in `shares`, with the shares as probabilities."""
    bounds = np.cumsum(shares)
    found = np.searchsorted(bounds, rng.random(count) * bounds[-1])
    return np.asarray(np.minimum(found, len(shares) - 1), np.int64)
