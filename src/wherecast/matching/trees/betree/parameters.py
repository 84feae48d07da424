"""The parameters of a BE-Tree, in one frozen record, and the `.betree` files that hold them.

Source: elastic BE-Tree, section 6.2 and appendix A, which give names but no values.
"""

from dataclasses import dataclass
from pathlib import Path

from wherecast.model import ConfigError
from wherecast.model.properties import PropertyFile

_LEAF_MAX, _DEPTH_MAX = 2**31 - 1, 62
_KEYS = ("lnode.max", "lnode.min", "alpha", "beta", "depth.max", "sample")


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
        if not 1 <= self.depth_max <= _DEPTH_MAX:
            raise ConfigError(f"depth_max is 1 to {_DEPTH_MAX}, not {self.depth_max}")
        for name, value in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 <= value <= 1:
                raise ConfigError(f"{name} is 0 to 1, not {value}")
        if self.sample < 1:
            raise ConfigError(f"sample is at least 1, not {self.sample}")

    @staticmethod
    def load(path: str | Path) -> "TreeParameters":
        """The parameters in a `.betree` file, a Java properties file.

        The keys are `lnode.max`, `lnode.min`, `alpha` and `beta`, and beyond the source `depth.max`
        and `sample`. A key that the file lacks has its default; `lnode.min` is then a quarter of
        `lnode.max`.

        Raises:
            ConfigError: the file cannot be read or is wrong; the error names file, line and key.
        """
        file, default = PropertyFile.load(path, _KEYS), TreeParameters()
        leaf_max = file.whole_number("lnode.max", default.leaf_max, 1, _LEAF_MAX)
        return TreeParameters(
            leaf_max=leaf_max,
            leaf_min=file.whole_number("lnode.min", max(1, leaf_max // 4), 1, leaf_max),
            depth_max=file.whole_number("depth.max", default.depth_max, 1, _DEPTH_MAX),
            alpha=file.number("alpha", default.alpha, 0, 1),
            beta=file.number("beta", default.beta, 0, 1),
            sample=file.whole_number("sample", default.sample, 1),
        )
