"""The column of times, which `now()` reads."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.arrays.vectors import array_of
from wherecast.language.meaning.formula import NOW


def with_now(
    batch: pa.RecordBatch, times: npt.NDArray[np.int64] | pa.Array | int
) -> pa.RecordBatch:
    """A batch whose rows know the time that `now()` gives.

    Args:
        batch: valid publications.
        times: microseconds since 1970, int64 [rows], or one time for all rows; an Arrow array
            may have nulls, where `now()` is NULL.
    """
    if isinstance(times, pa.Array):
        return batch.append_column(NOW.name, times)
    column = np.broadcast_to(np.asarray(times, np.int64), batch.num_rows)
    return batch.append_column(NOW.name, array_of(np.ascontiguousarray(column)))
