"""Arrow list columns as flat elements with offsets, the form in which elements are matched."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.types as kinds

from wherecast.arrays.ranges import spans
from wherecast.arrays.vectors import array_of, values_of

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class FlatElements:
    """The elements of a list column, row after row, null elements included.

    Attributes:
        starts: int64 [rows + 1], row r has the elements starts[r] to starts[r + 1] - 1.
        values: the elements; a missing array has none.
        present: bool [rows], whether a row has an array.
    """

    starts: Ints
    values: pa.Array
    present: Bools


@dataclass(frozen=True, slots=True, eq=False)
class ListElements:
    """The elements of a list column, row after row, without the null elements.

    Attributes:
        offsets: int64 [rows + 1], row r has the values offsets[r] to offsets[r + 1] - 1.
        values: the elements that are not null.
        starts: int64 [rows + 1], the same as `offsets` with null elements counted: row r has the
            places starts[r] to starts[r + 1] - 1 of `valid`.
        valid: bool [elements], whether each element is not null.
        present: bool [rows], whether a row has an array.
    """

    offsets: Ints
    values: pa.Array
    starts: Ints
    valid: Bools
    present: Bools

    @property
    def sizes(self) -> Ints:
        """The number of elements of each row, null elements included; int64 [rows]."""
        return np.diff(self.starts)

    @property
    def has_null(self) -> Bools:
        """Whether each row has a null element; bool [rows]."""
        return np.diff(self.offsets) < self.sizes


def is_list(kind: pa.DataType) -> bool:
    """Whether `flat_elements` takes columns of a type."""
    return bool(kinds.is_list(kind) or kinds.is_large_list(kind) or kinds.is_fixed_size_list(kind))


def flat_elements(array: pa.Array) -> FlatElements:
    """The elements of a list, large_list or fixed_size_list column, which may be a slice.

    What a column stores for a missing array, such as the places of a fixed_size_list, is left out.

    Cost: the elements are copied only if some that are stored are left out.
    """
    begins, sizes = _extents(array)
    present = values_of(array.is_valid())
    if array.null_count:
        sizes = np.where(present, sizes, 0)
    starts = np.zeros(len(array) + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    count = int(starts[-1])
    first = int(begins[0]) if len(array) else 0
    if (begins - first == starts[:-1])[sizes > 0].all():
        values = array.values.slice(first, count)
    else:
        used = np.flatnonzero(sizes)
        values = array.values.take(array_of(spans(begins[used], sizes[used])))
    return FlatElements(starts, values, present)


def _extents(array: pa.Array) -> tuple[Ints, Ints]:
    """Where the elements of each row begin in `array.values`, and their number."""
    if kinds.is_fixed_size_list(array.type):
        size = array.type.list_size
        begins = (np.arange(len(array), dtype=np.int64) + array.offset) * size
        return begins, np.full(len(array), size, np.int64)
    bounds = values_of(array.offsets).astype(np.int64)
    return bounds[:-1], np.diff(bounds)


def list_elements(array: pa.Array) -> ListElements:
    """The elements of a list column without null elements, and where null elements were."""
    flat = flat_elements(array)
    valid = values_of(flat.values.is_valid())
    if not flat.values.null_count:
        return ListElements(flat.starts, flat.values, flat.starts, valid, flat.present)
    before = np.zeros(len(valid) + 1, np.int64)
    np.cumsum(valid, out=before[1:])
    values = flat.values.drop_null()
    return ListElements(before[flat.starts], values, flat.starts, valid, flat.present)


def list_array(starts: Ints, values: pa.Array, present: Bools) -> pa.Array:
    """The column of type list whose elements are `values`; the inverse of `flat_elements`.

    Raises:
        OverflowError: there are more elements than one array of type list can hold.
    """
    if starts[-1] > np.iinfo(np.int32).max:
        raise OverflowError
    bounds = array_of(starts.astype(np.int32))
    mask = None if present.all() else array_of(~present)
    return pa.ListArray.from_arrays(bounds, values, mask=mask)
