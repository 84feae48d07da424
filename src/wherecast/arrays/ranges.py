"""Many ranges of successive numbers, concatenated without a Python loop."""

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


def counting(sizes: Ints) -> Ints:
    """The ranges 0 to size - 1 of all sizes, concatenated: sizes 2 and 3 give 0 1 0 1 2."""
    ends = np.cumsum(sizes)
    return np.arange(int(sizes.sum())) - np.repeat(ends - sizes, sizes)


def spans(starts: Ints, sizes: Ints) -> Ints:
    """The ranges start to start + size - 1, concatenated: starts 5, 8 and sizes 2, 1 give 5 6 8."""
    ends = np.cumsum(sizes)
    return np.repeat(starts - (ends - sizes), sizes) + np.arange(int(sizes.sum()))
