"""Arrays that grow by half of their size, so that adding elements one by one stays cheap."""

from typing import Any

import numpy as np
import numpy.typing as npt


def grow(array: npt.NDArray[Any], size: int, used: int) -> npt.NDArray[Any]:
    """The array, or a longer copy if the array has fewer than `size` elements.

    The copy holds the first `used` elements; all others are 0.
    """
    if len(array) >= size:
        return array
    longer = np.zeros((size + size // 2 + 16, *array.shape[1:]), array.dtype)
    longer[:used] = array[:used]
    return longer
