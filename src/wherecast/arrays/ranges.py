"""Spans: stretches of numbers, one after the other, without a loop."""

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


def counting(sizes: Ints) -> Ints:
    """0, 1, … up to each size, one after the other."""
    ends = np.cumsum(sizes)
    return np.arange(int(sizes.sum())) - np.repeat(ends - sizes, sizes)


def spans(starts: Ints, sizes: Ints) -> Ints:
    """The numbers from each start on, as many as its size, one after the other."""
    ends = np.cumsum(sizes)
    return np.repeat(starts - (ends - sizes), sizes) + np.arange(int(sizes.sum()))
