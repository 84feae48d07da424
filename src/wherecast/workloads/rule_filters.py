"""Rules: thousands of shapes of AND, OR, NOT, lists, patterns and arithmetic."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from random import Random

import numpy as np
import pyarrow as pa

from wherecast.model import Schema
from wherecast.workloads.mixed_shapes import MixedShape
from wherecast.workloads.rule_predicates import FLOATS, GRID, MISSING, TEXTS, VALUES
from wherecast.workloads.rule_trees import TreeDrawer
from wherecast.workloads.shape_constants import ShapeConstants
from wherecast.workloads.workload import CHUNK_ROWS, MatchRate, Workload, table_generator

SHAPES = 5_000
SCHEMA = Schema.from_dict(dict.fromkeys(FLOATS, "float") | dict.fromkeys(TEXTS, "string"))
_CYCLES = CHUNK_ROWS // SHAPES  # passes through all the shapes per chunk
_VALUES = pa.array(VALUES)

# Over filters and over publications, measured at several seeds.
_SPREADS, _DEEP_SPREADS = (1.45, 0.12), (1.0, 0.04)


@dataclass(frozen=True, eq=False)
class Rules(Workload):
    """Filters of random trees over 20 numbers and 10 strings.

    Attributes:
        shapes: the 5,000 shapes; filter i has shape i mod 5,000.
        missing: the share of missing values.
    """

    shapes: tuple[MixedShape, ...]
    missing: float = MISSING

    @cached_property
    def _constants(self) -> ShapeConstants:
        return ShapeConstants(self.shapes * _CYCLES, key=lambda leaf: leaf.draw)

    def _filter_texts(self, rng: np.random.Generator) -> pa.StringArray:
        return self._constants.texts(rng)

    def _publication_columns(self, rng: np.random.Generator, sent: int) -> list[pa.Array]:
        columns = []
        for _ in FLOATS:
            numbers = rng.integers(0, GRID, CHUNK_ROWS) / 100
            columns.append(pa.array(numbers, mask=rng.random(CHUNK_ROWS) < self.missing))
        for _ in TEXTS:
            chosen = rng.integers(0, len(VALUES), CHUNK_ROWS)
            missing = rng.random(CHUNK_ROWS) < self.missing
            columns.append(_VALUES.take(pa.array(chosen, mask=missing)))
        return columns


@lru_cache(maxsize=4)
def rules(seed: int = 1, deep: bool = False) -> Rules:
    """The rules workload: 5,000 random trees over 20 floats and 10 strings, 10 % missing.

    70 % of the shapes have a selective predicate (a string equal to one or three of its 100 values,
    or a fiftieth of a number's range) beside a tree of depth 3; 20 % are an OR of two or three such
    with trees of depth 2; 10 % have a wide range beside three trees of depth 2, and no selective
    predicate. An attribute occurs at most once in a filter.

    With `deep`, all shapes are trees of depth 8 or less with 60 predicates or fewer, without a
    selective predicate, and an attribute may occur several times.

    Filter i has shape i mod 5,000. Use a multiple of 5,000 filters to compare counts.

    Args:
        seed: the seed of all random numbers and of the shapes.
        deep: whether to draw deep trees.

    Raises:
        ConfigError: the seed is below 0.
    """
    rng = table_generator(seed)
    drawer = TreeDrawer(Random(int(rng.integers(2**62))), deep)
    shapes: dict[str, MixedShape] = {}
    while len(shapes) < SHAPES:
        shape = drawer.draw()
        shapes.setdefault(shape.text, shape)
    probability = sum(shape.true for shape in shapes.values()) / SHAPES
    rate = MatchRate(probability, *(_DEEP_SPREADS if deep else _SPREADS))
    return Rules("rules", SCHEMA, seed, rate, tuple(shapes.values()))
