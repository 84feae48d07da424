"""Arrow columns of timestamps and dates as microseconds since 1970."""

import numpy as np
import pyarrow as pa
import pyarrow.types as kinds

from wherecast.arrays.vectors import filled, values_of
from wherecast.columns.decoded import DecodedColumn
from wherecast.columns.domains import masked_array
from wherecast.model.errors import Problem
from wherecast.model.schema import Attribute
from wherecast.model.times import DAY_MICROS, format_time
from wherecast.model.values import INT_MAX

_DAY_MILLIS = 86_400_000
_MICROS = {"s": 1_000_000, "ms": 1_000, "us": 1}


def times(attribute: Attribute, array: pa.Array) -> DecodedColumn:
    """Timestamps of any unit as microseconds."""
    values = array.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    unit = array.type.unit
    missing = array.is_null().to_numpy(zero_copy_only=False)
    problems = []
    if unit == "ns":
        values = values // 1_000  # rounds down; a cast would round towards 1970
    else:
        most = INT_MAX // _MICROS[unit]
        wrong = (values > most) | (values < -most)
        for row in np.flatnonzero(wrong).tolist():
            text = f"attribute {attribute.name}: {values[row]} {unit} since 1970 exceeds 64 bits"
            problems.append((row, Problem("out_of_range", f"{text} of µs", attribute.name)))
        values = np.where(wrong, 0, values) * _MICROS[unit]
        missing = missing | wrong
    return DecodedColumn(masked_array(attribute, values, missing), tuple(problems))


def dates(attribute: Attribute, array: pa.Array) -> DecodedColumn:
    """Dates as the microseconds of their first moments."""
    is_short = kinds.is_date32(array.type)
    days = filled(array.cast(pa.int32() if is_short else pa.int64()), 0).astype(np.int64)
    days = days if is_short else days // _DAY_MILLIS
    missing = values_of(array.is_null())
    wrong = (np.abs(days) > INT_MAX // DAY_MICROS) & ~missing
    text = f"attribute {attribute.name}: the date is too far from 1970 for 64 bits of µs"
    problem = Problem("out_of_range", text, attribute.name)
    micros = np.where(wrong, 0, days) * DAY_MICROS
    problems = tuple((row, problem) for row in np.flatnonzero(wrong).tolist())
    return DecodedColumn(masked_array(attribute, micros, missing | wrong), problems)


def midnights(attribute: Attribute, array: pa.Array) -> DecodedColumn:
    """Timestamps for a date attribute; each must be the first moment of a day in UTC."""
    found = times(attribute, array)
    micros, missing = filled(found.array.cast(pa.int64()), 0), values_of(found.array.is_null())
    wrong = (micros % DAY_MICROS != 0) & ~missing
    problems = list(found.problems)
    for row in np.flatnonzero(wrong).tolist():
        text = f"needs a date without a time of day, not {format_time(int(micros[row]))}"
        text = f"attribute {attribute.name}: {text}"
        problems.append((row, Problem("bad_time", text, attribute.name)))
    return DecodedColumn(masked_array(attribute, micros, missing | wrong), tuple(problems))
