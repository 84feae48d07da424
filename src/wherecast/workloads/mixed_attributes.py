"""The attributes of the mixed workload: numbers and times on a grid, words, flags."""

import re
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from wherecast.workloads.draws import choose, zipf_shares
from wherecast.workloads.text import float_texts, time_texts

_START = np.datetime64("2025-01-01T00:00:00", "us")
_SYLLABLES = re.findall("..", "bacodaelfigohairjokalumaneorpaqurisatounvewixazo")

Strings = NDArray[np.object_]


@dataclass(frozen=True, slots=True)
class GridAttribute:
    """A number or time with `size` equally likely values: whole numbers, hundredths or minutes."""

    name: str
    type: Literal["int", "float", "timestamp"]
    size: int
    missing: float

    def column(self, rng: np.random.Generator, count: int) -> pa.Array:
        """The values of the attribute in `count` publications."""
        indices = rng.integers(0, self.size, count)
        absent = rng.random(count) < self.missing
        if self.type == "int":
            return pa.array(indices, mask=absent)
        if self.type == "float":
            return pa.array(indices / 100, mask=absent)
        return pa.array(self._times(indices), pa.timestamp("us", "UTC"), mask=absent)

    def literals(self, indices: NDArray[np.int64]) -> Strings:
        """The values at these positions of the grid, as filters write them."""
        flat = indices.ravel()
        if self.type == "int":
            texts = pa.array(flat).cast(pa.string())
        elif self.type == "float":
            texts = float_texts(flat / 100)
        else:
            texts = time_texts(self._times(flat))
        return np.array(texts.to_pylist(), object).reshape(indices.shape)

    def _times(self, indices: NDArray[np.int64]) -> NDArray[np.datetime64]:
        return _START + indices * np.timedelta64(1, "m")


@dataclass(frozen=True, slots=True)
class Words:
    """A string of a closed set of words, Zipf-distributed in publications."""

    name: str
    words: tuple[str, ...]
    missing: float

    def column(self, rng: np.random.Generator, count: int) -> pa.Array:
        """The values of the attribute in `count` publications."""
        chosen = choose(rng, zipf_shares(len(self.words)), count)
        texts = pa.array(self.words).take(pa.array(chosen))
        return pc.if_else(pa.array(rng.random(count) < self.missing), None, texts)


@dataclass(frozen=True, slots=True)
class TruthAttribute:
    """A truth value, true half of the time."""

    name: str
    missing: float

    def column(self, rng: np.random.Generator, count: int) -> pa.Array:
        """The values of the attribute in `count` publications."""
        return pa.array(rng.random(count) < 0.5, mask=rng.random(count) < self.missing)


MixedAttribute = GridAttribute | Words | TruthAttribute

_INTS = {"quantity": 1_000, "age": 120, "storey": 60, "port": 65_536, "retries": 12}
_INTS |= {"points": 10_000, "seats": 500, "severity": 100}
_FLOATS = {"price": 100_000, "weight": 50_000, "speed": 20_000, "humidity": 10_000}
_FLOATS |= {"pressure": 110_000, "distance": 1_000_000, "rating": 500, "voltage": 40_000}
_TIMES = {"created": 525_600, "changed": 525_600, "due": 262_800}
_WORDS = {"city": 300, "country": 120, "device": 800, "category": 60, "brand": 250}
_WORDS |= {"colour": 40, "channel": 80, "customer": 1_000}
_FLAGS = ("active", "indoor", "verified")


def mixed_attributes(rng: np.random.Generator) -> tuple[MixedAttribute, ...]:
    """The 30 attributes, with random words and random shares of missing values."""
    shares = iter(rng.choice([0.0, 0.05, 0.1, 0.2], 30).tolist())
    attributes: list[MixedAttribute] = []
    attributes += [GridAttribute(name, "int", size, next(shares)) for name, size in _INTS.items()]
    attributes += [
        GridAttribute(name, "float", size, next(shares)) for name, size in _FLOATS.items()
    ]
    attributes += [Words(name, _words(rng, size), next(shares)) for name, size in _WORDS.items()]
    attributes += [TruthAttribute(name, next(shares)) for name in _FLAGS]
    attributes += [
        GridAttribute(name, "timestamp", size, next(shares)) for name, size in _TIMES.items()
    ]
    return tuple(attributes)


def type_name(attribute: MixedAttribute) -> str:
    """The attribute's type in a schema."""
    if isinstance(attribute, GridAttribute):
        return attribute.type
    return "string" if isinstance(attribute, Words) else "bool"


def _words(rng: np.random.Generator, count: int) -> tuple[str, ...]:
    """`count` different words of two or three syllables."""
    found: dict[str, None] = {}
    while len(found) < count:
        parts = rng.integers(0, len(_SYLLABLES), 3)[: rng.integers(2, 4)]
        found["".join(_SYLLABLES[part] for part in parts)] = None
    return tuple(found)
