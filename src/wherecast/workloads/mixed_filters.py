"""Mixed filters: thousands of shapes over 30 attributes of every type."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from wherecast.model import Schema
from wherecast.workloads.mixed_attributes import MixedAttribute, mixed_attributes, type_name
from wherecast.workloads.mixed_leaves import leaves_of
from wherecast.workloads.mixed_shapes import MixedShape, draw_shapes
from wherecast.workloads.shape_constants import ShapeConstants
from wherecast.workloads.workload import CHUNK_ROWS, MatchRate, Workload, table_generator

SHAPES = 5_000
_CYCLES = CHUNK_ROWS // SHAPES  # passes through all the shapes per chunk

# Measured over six seeds: 1.7 to 2.0 over the filters of one shape, 0.08 to 0.11 over publications.
_FILTER_SPREAD, _PUBLICATION_SPREAD = 1.9, 0.1


@dataclass(frozen=True, eq=False)
class Mixed(Workload):
    """Filters with `= <> < <= > >=`, BETWEEN, IN, LIKE, AND, OR, NOT and IS NULL.

    Attributes:
        attributes: the attributes of publications, independent of each other.
        shapes: the 5,000 shapes; filter i has shape i mod 5,000.
    """

    attributes: tuple[MixedAttribute, ...]
    shapes: tuple[MixedShape, ...]

    @cached_property
    def _constants(self) -> ShapeConstants:
        return ShapeConstants(self.shapes * _CYCLES, key=lambda leaf: leaf)

    def _filter_texts(self, rng: np.random.Generator) -> pa.StringArray:
        return self._constants.texts(rng)

    def _publication_columns(self, rng: np.random.Generator, sent: int) -> list[pa.Array]:
        return [attribute.column(rng, CHUNK_ROWS) for attribute in self.attributes]


def mixed(seed: int = 1) -> Mixed:
    """The mixed workload: 5,000 shapes over 30 ints, floats, strings, bools and timestamps.

    A shape is a filter without its constants, which are drawn for each filter. Filters take the
    shapes in turn, so 5,000 filters have 5,000 shapes, and more filters have no more. Every filter
    has a predicate that few publications satisfy, or one on each side of an OR.
    The stated matches are the mean over the shapes: use a multiple of 5,000 filters to compare.

    Args:
        seed: the seed of all random numbers and of the shapes.

    Raises:
        ConfigError: the seed is below 0.
    """
    rng = table_generator(seed)
    attributes = mixed_attributes(rng)
    schema = Schema.from_dict({each.name: type_name(each) for each in attributes})
    leaves = [leaf for attribute in attributes for leaf in leaves_of(attribute)]
    shapes = draw_shapes(rng, leaves, SHAPES)
    order = rng.permutation(SHAPES)
    probability = sum(shape.true for shape in shapes) / SHAPES
    rate = MatchRate(probability, _FILTER_SPREAD, _PUBLICATION_SPREAD)
    return Mixed("mixed", schema, seed, rate, attributes, tuple(shapes[place] for place in order))
