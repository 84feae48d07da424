"""The parameters of a BE-Tree, in one frozen record.

Source: elastic BE-Tree, section 6.2 and appendix A, which give names but no values.
"""

from dataclasses import dataclass

from wherecast.model import ConfigError


@dataclass(frozen=True, slots=True)
class TreeParameters:
    """How a BE-Tree grows and shrinks.

    The default of `leaf_max`, with a quarter of it as `leaf_min`, was chosen by measuring: see the
    page on the trees. The others were not measured.

    Attributes:
        leaf_max: filters of an l-node before it is clustered or partitioned.
        leaf_min: filters below which two leaf buckets are folded; also the least filters that a
            new p-node is made for.
        depth_max: how often a domain is halved.
        alpha: the weight of Loss in a score, 0 to 1.
        beta: the weight of covered against subsumed predicates in Gain, 0 to 1.
        sample: one publication in so many counts for Loss, where alpha is above 0.
    """

    leaf_max: int = 8
    leaf_min: int = 2
    depth_max: int = 16
    alpha: float = 0.0
    beta: float = 0.5
    sample: int = 64

    def __post_init__(self) -> None:
        if not 1 <= self.leaf_min <= self.leaf_max:
            raise ConfigError(f"leaf_min is 1 to leaf_max, not {self.leaf_min} of {self.leaf_max}")
        if not 1 <= self.depth_max <= 62:
            raise ConfigError(f"depth_max is 1 to 62, not {self.depth_max}")
        for name, value in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 <= value <= 1:
                raise ConfigError(f"{name} is 0 to 1, not {value}")
        if self.sample < 1:
            raise ConfigError(f"sample is at least 1, not {self.sample}")
