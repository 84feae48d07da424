"""Tag sets: filters on one to three tags, publications with an array of five."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from typing_extensions import override

from wherecast.model import Schema
from wherecast.workloads.draws import Floats, choose
from wherecast.workloads.text import join
from wherecast.workloads.workload import CHUNK_ROWS, MatchRate, Workload, require, table_generator

CARRIED = 5  # tags of a publication; a tag may occur twice
NAMED = 3  # most tags of a filter, all different
_COLUMNS = pa.schema([("tags", pa.list_(pa.string()))])
_FLAT_RANKS = 10  # added to ranks, so that the first tags are not much more popular than the next


@dataclass(frozen=True, eq=False)
class TagSets(Workload):
    """Filters `array_contains(tags, 'tag7')`, `arrays_overlap(tags, array('tag7', 'tag9'))`, ….

    Attributes:
        names: the tags.
        shares: the probability of each tag, in filters and publications.
    """

    names: pa.StringArray
    shares: Floats

    @property
    @override
    def columns(self) -> pa.Schema:
        return _COLUMNS

    def _draw_distinct(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """Three different tags per filter, shape (CHUNK_ROWS, NAMED); equal ones are redrawn."""
        drawn = self._draw(rng, CHUNK_ROWS, NAMED)
        while True:
            ordered = np.sort(drawn, axis=1)
            again = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
            if not again.size:
                return drawn
            drawn[again] = self._draw(rng, again.size, NAMED)

    def _draw(self, rng: np.random.Generator, rows: int, columns: int) -> NDArray[np.int64]:
        return choose(rng, self.shares, rows * columns).reshape(rows, columns)

    def _filter_texts(self, rng: np.random.Generator) -> pa.StringArray:
        kinds = rng.integers(0, 3, CHUNK_ROWS)
        has_third = pa.array(rng.integers(0, 2, CHUNK_ROWS) == 1)
        quoted = join("'", self.names, "'")
        first, second, third = (quoted.take(pa.array(one)) for one in self._draw_distinct(rng).T)
        contains = [join("array_contains(tags, ", tag, ")") for tag in (first, second, third)]
        overlap = join("arrays_overlap(tags, array(", first, ", ", second)
        overlap = join(overlap, pc.if_else(has_third, join(", ", third), ""), "))")
        both = join(contains[0], " AND ", contains[1])
        both = join(both, pc.if_else(has_third, join(" AND ", contains[2]), ""))
        return pc.choose(pa.array(kinds), contains[0], overlap, both)

    def _publication_columns(self, rng: np.random.Generator, sent: int) -> list[pa.Array]:
        drawn = self._draw(rng, CHUNK_ROWS, CARRIED)
        ends = pa.array(np.arange(0, drawn.size + 1, CARRIED), pa.int32())
        return [pa.ListArray.from_arrays(ends, self.names.take(pa.array(drawn.ravel())))]


def tags(seed: int = 1, tags: int = 10_000, zipf: float = 0.0) -> TagSets:
    """The tags workload: arrays of five tags, and a third of the filters of each of three kinds.

    A filter asks for one tag (`array_contains`), for one of two or three tags (`arrays_overlap`),
    or for all of two or three tags (`array_contains` joined by AND). The probability of the tag of
    rank r = 0, 1, … is proportional to 1 / (r + 10)^zipf, in filters and in publications.

    Args:
        seed: the seed of all random numbers.
        tags: the number of tags.
        zipf: the exponent of the popularity of tags; 0 makes tags equally likely.

    Raises:
        ConfigError: an option is out of its range.
    """
    rng = table_generator(seed)
    require(tags >= NAMED, f"tags must be {NAMED} or more, not {tags}")
    require(0 <= zipf <= 3, f"zipf must be from 0 to 3, not {zipf}")
    weights = 1 / (np.arange(tags) + _FLAT_RANKS) ** zipf
    shares = weights / weights.sum()
    return TagSets(
        name="tags",
        schema=Schema.from_arrow(_COLUMNS),
        seed=seed,
        rate=_rate(shares),
        names=pa.array([f"tag{number}" for number in range(tags)]),
        shares=shares[rng.permutation(tags)],
    )


def _rate(shares: Floats) -> MatchRate:
    """The rate by the chance that a publication has none of some tags of a filter.

    The mean is exact. The spread over filters leaves out the filters that ask for all of several
    tags, and the spread over publications counts a filter once per tag that the publication has.
    """
    means = _Means(shares)
    missed = [means.none_of(count, CARRIED) for count in range(NAMED + 1)]
    squares = [means.none_of(count, 2 * CARRIED) for count in range(NAMED + 1)]

    def all_of(count: int) -> float:
        signed = [-each if some % 2 else each for some, each in enumerate(missed)]
        return sum(math.comb(count, some) * each for some, each in enumerate(signed))

    def square(count: int) -> float:  # the mean square of the chance of one of `count` tags
        return 1 - 2 * missed[count] + squares[count]

    contains = 1 - missed[1]
    overlaps = 1 - (missed[2] + missed[3]) / 2
    probability = (contains + overlaps + (all_of(2) + all_of(3)) / 2) / 3
    by_filter = (square(1) + (square(2) + square(3)) / 2) / 3
    by_tag = float((shares**3).sum()) / float((shares**2).sum()) ** 2
    return MatchRate(
        probability,
        math.sqrt(by_filter / probability**2 - 1),
        math.sqrt(max(by_tag - 1, 0) / CARRIED),
    )


class _Means:
    """Means over the three different tags of a filter."""

    def __init__(self, shares: Floats) -> None:
        powers = range(2 * CARRIED + NAMED + 1)
        self._sums = [float((shares**power).sum()) for power in powers]
        self._all = self._distinct(1, 1, 1)

    def none_of(self, count: int, draws: int) -> float:
        """The mean chance that `draws` tags are none of the first `count` tags of a filter."""
        total = 0.0
        for powers in _powers(count, draws):
            ways = math.factorial(draws) // math.factorial(draws - sum(powers))
            ways //= math.prod(math.factorial(power) for power in powers)
            total += (-1) ** sum(powers) * ways * self._distinct(*(1 + power for power in powers))
        return total / self._all

    def _distinct(self, a: int, b: int, c: int) -> float:
        """The sum of x^a · y^b · z^c over the shares of all triples of different tags."""
        s = self._sums
        pairs = s[a + b] * s[c] + s[a + c] * s[b] + s[b + c] * s[a]
        return s[a] * s[b] * s[c] - pairs + 2 * s[a + b + c]


def _powers(count: int, most: int) -> Iterator[tuple[int, int, int]]:
    """The powers of three shares in (1 - x - y - …)^most; only the first `count` shares occur."""
    choices = [range(most + 1) if place < count else range(1) for place in range(NAMED)]
    for a, b, c in product(*choices):
        if a + b + c <= most:
            yield a, b, c
