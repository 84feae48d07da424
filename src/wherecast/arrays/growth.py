"""Arrays that grow: by half, so that adding one by one costs little in the long run."""

from typing import Any

import numpy as np
import numpy.typing as npt


def grown(array: npt.NDArray[Any], size: int, used: int) -> npt.NDArray[Any]:
    """The array, or a longer copy where it has fewer than `size` elements; new ones are 0."""
    if len(array) >= size:
        return array
    longer = np.zeros((size + size // 2 + 16, *array.shape[1:]), array.dtype)
    longer[:used] = array[:used]
    return longer
