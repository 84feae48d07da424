"""The column of accepted times, which `now()` reads."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.arrays.vectors import array_of
from wherecast.language.meaning.formula import NOW


def with_now(batch: pa.RecordBatch, times: npt.NDArray[np.int64] | int) -> pa.RecordBatch:
    """A batch whose rows know when they were accepted.

    Args:
        batch: valid publications.
        times: microseconds since 1970, int64 [rows], or one time for all rows.
    """
    column = np.broadcast_to(np.asarray(times, np.int64), batch.num_rows)
    return batch.append_column(NOW.name, array_of(np.ascontiguousarray(column)))
