"""The nodes of the BE-Tree's obvious twin, and where a bucket is halved."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import floor, inf, isfinite, nan

from wherecast.language.meaning.keys import float_key, value_of

Box = Mapping[int, tuple[int, int]]  # by slot, the least and the greatest key
_INFINITY_KEY = float_key(inf)
_SAFE = 9.2e18  # numbers beyond have no int64 of their own


@dataclass(frozen=True, slots=True)
class Domain:
    """The keys of an attribute, and how they are halved.

    Attributes:
        least, most: the ends of the keys.
        first, last: the declared ends as numbers; NaN where there is none.
        real: whether keys are those of doubles.
        step: 0 where there is none.
    """

    least: int
    most: int
    first: float = nan
    last: float = nan
    real: bool = False
    step: float = 0.0

    def number(self, key: int) -> float | None:
        """The number of a key, or None where it is an open end."""
        if key in (self.least, self.most) or (self.real and abs(key) >= _INFINITY_KEY):
            return None
        return float(value_of("float", key)) if self.real else float(key)


@dataclass(eq=False)
class LeafNode:
    """The filters that no part below encloses, and how many it may hold."""

    filters: dict[int, Box] = field(default_factory=dict)
    room: int = 0


@dataclass(eq=False)
class ClusterNode:
    """A c-node: an l-node and a p-directory. All but the root are in a bucket."""

    bucket: "Bucket | None"
    leaf: LeafNode
    parts: dict[int, "PartitionNode"] = field(default_factory=dict)


@dataclass(eq=False)
class PartitionNode:
    """A p-node: an attribute, and a c-directory that begins with its whole domain."""

    slot: int
    owner: ClusterNode
    root: "Bucket" = field(init=False)


@dataclass(eq=False)
class Bucket:
    """An interval of keys with a c-node, and none or two halves."""

    part: PartitionNode
    over: "Bucket | None"
    low: int
    high: int
    first: float
    last: float
    node: ClusterNode = field(init=False)
    halves: "tuple[Bucket, Bucket] | None" = None

    @property
    def depth(self) -> int:
        """How often the domain was halved for it."""
        return 0 if self.over is None else self.over.depth + 1

    def encloses(self, side: tuple[int, int]) -> bool:
        """Whether an interval is inside."""
        return self.low <= side[0] and side[1] <= self.high

    def is_plain(self) -> bool:
        """Whether it has neither halves nor p-nodes."""
        return self.halves is None and not self.node.parts


@dataclass(frozen=True, slots=True)
class Middle:
    """Where an interval is halved: the ends inside as numbers, and the left half's last key."""

    left: float
    right: float
    split: int


def halve(domain: Domain, first: float, last: float) -> Middle | None:
    """The middle of an interval of numbers, or None where it cannot be halved.

    Doubles are halved at the real middle; whole numbers and steps between two of them.
    """
    if not first < last or not isfinite(first) or not isfinite(last):
        return None
    if domain.real and not domain.step:
        middle = first * 0.5 + last * 0.5
        return Middle(middle, middle, float_key(middle)) if first < middle < last else None
    step = domain.step or 1.0
    ratio = (last - first) / step + 0.5
    if not isfinite(ratio) or floor(ratio) < 1:
        return None
    left = first + float(floor(floor(ratio) / 2.0)) * step
    right = left + step
    if domain.real:
        return Middle(left, right, float_key(right) - 1)
    return Middle(left, right, int(right) - 1) if abs(right) < _SAFE else None
