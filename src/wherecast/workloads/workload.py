"""The base class of workloads: a schema, filters, publications and the expected matches.

Rows are drawn in chunks. The random numbers of a chunk depend only on the seed and the number of
the chunk. So the first n rows are the same for every size, and memory holds one chunk at a time.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np
import pyarrow as pa

from wherecast.columns import arrow_schema
from wherecast.model import ConfigError, Schema

CHUNK_ROWS = 10_000
FILTER_COLUMNS = pa.schema([("id", pa.int64()), ("filter", pa.string())])
_TABLES, _FILTERS, _PUBLICATIONS = range(3)


@dataclass(frozen=True, slots=True)
class MatchRate:
    """The probability of a match, and its spread over filters and over publications.

    Attributes:
        probability: the probability that a random filter matches a random publication.
        filter_spread: the standard deviation, divided by the mean, of the share of all publications
            that a filter matches.
        publication_spread: the standard deviation, divided by the mean, of the share of all filters
            that match a publication.
    """

    probability: float
    filter_spread: float
    publication_spread: float

    def tolerance(self, filters: int, publications: int) -> float:
        """Three standard errors of the rate measured on a sample, divided by the rate."""
        by_filter = self.filter_spread**2 / filters
        by_publication = self.publication_spread**2 / publications
        by_pair = 1 / (self.probability * filters * publications)
        return 3 * math.sqrt(by_filter + by_publication + by_pair)


@dataclass(frozen=True, eq=False)
class Workload(ABC):
    """A reproducible set of filters and publications, of any size.

    Attributes:
        name: the key of the workload in `WORKLOADS`.
        schema: the attributes of filters and publications.
        seed: the seed of all random numbers.
        rate: the probability of a match and its spread.
    """

    name: str
    schema: Schema
    seed: int
    rate: MatchRate

    @property
    def columns(self) -> pa.Schema:
        """The columns of publications."""
        return arrow_schema(self.schema)

    def matches_per_publication(self, filters: int = 40_000) -> float:
        """The expected number of filters that match a publication, of `filters` filters."""
        return self.rate.probability * filters

    @property
    def tolerance(self) -> float:
        """The allowed relative error of a count over 40,000 filters and 10,000 publications.

        `rate.tolerance` gives the allowed error for other sizes.
        """
        return self.rate.tolerance(40_000, 10_000)

    def filters(self, n: int) -> Iterator[pa.RecordBatch]:
        """The first n filters: batches of `id` (0, 1, …) and `filter` (the WHERE text)."""
        for number, start in enumerate(range(0, n, CHUNK_ROWS)):
            rows = min(CHUNK_ROWS, n - start)
            texts = self._filter_texts(generator(self.seed, _FILTERS, number))
            ids = pa.array(np.arange(start, start + rows))
            yield pa.RecordBatch.from_arrays([ids, texts.slice(0, rows)], schema=FILTER_COLUMNS)

    def publications(self, n: int) -> Iterator[pa.RecordBatch]:
        """The first n publications: batches with a column per attribute, null where missing."""
        sent = 0
        for number in count():
            if sent >= n:
                return
            arrays = self._publication_columns(generator(self.seed, _PUBLICATIONS, number), sent)
            batch = pa.RecordBatch.from_arrays(arrays, schema=self.columns).slice(0, n - sent)
            yield batch
            sent += batch.num_rows

    @abstractmethod
    def _filter_texts(self, rng: np.random.Generator) -> pa.StringArray:
        """The texts of one chunk: exactly CHUNK_ROWS filters."""

    @abstractmethod
    def _publication_columns(self, rng: np.random.Generator, sent: int) -> list[pa.Array]:
        """The columns of the chunk of publications that follows the first `sent` rows."""


def generator(seed: int, *key: int) -> np.random.Generator:
    """A generator of random numbers that depends on the seed and the key only."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


def table_generator(seed: int) -> np.random.Generator:
    """The generator from which a workload draws the tables that all its chunks share.

    Raises:
        ConfigError: the seed is below 0.
    """
    require(seed >= 0, f"seed must be 0 or more, not {seed}")
    return generator(seed, _TABLES)


def require(condition: bool, message: str) -> None:
    """Raises ConfigError unless the condition holds."""
    if not condition:
        raise ConfigError(message)
