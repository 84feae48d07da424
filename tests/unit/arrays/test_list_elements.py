"""List columns as flat elements, against rows read one by one."""

import numpy as np
import pyarrow as pa
import pytest

from wherecast.arrays.list_elements import flat_elements, is_list, list_array, list_elements

ROWS = [["a", None, "b"], None, [], ["c"], [None], None, ["d", "a"]]
PAIRS = [["a", None], None, ["b", "c"], [None, None], None, ["d", "a"]]
LISTS = {
    "list": pa.array(ROWS, pa.list_(pa.string())),
    "large_list": pa.array(ROWS, pa.large_list(pa.large_string())),
    "fixed_size_list": pa.array(PAIRS, pa.list_(pa.string(), 2)),
    "numbers": pa.array([[1, None], None, [], [3, 4]], pa.list_(pa.int64())),
    "nothing": pa.array([None, None], pa.list_(pa.float64())),
    "size 0": pa.array([[], None, []], pa.list_(pa.int64(), 0)),
    "no rows": pa.array([], pa.list_(pa.string())),
}


def slices(array):
    for begin in range(len(array) + 1):
        for length in range(len(array) - begin + 1):
            yield array.slice(begin, length)


def rows_of(starts, values, present):
    """The rows, put together one element after the other."""
    values = values.to_pylist()
    return [
        [values[place] for place in range(starts[row], starts[row + 1])] if present[row] else None
        for row in range(len(present))
    ]


@pytest.mark.parametrize("array", LISTS.values(), ids=LISTS)
class TestElements:
    def test_every_slice_gives_the_rows_back(self, array):
        for part in slices(array):
            flat = flat_elements(part)
            assert rows_of(flat.starts, flat.values, flat.present) == part.to_pylist()
            assert len(flat.values) == flat.starts[-1]

    def test_null_elements_are_left_out_and_counted(self, array):
        for part in slices(array):
            rows, found = part.to_pylist(), list_elements(part)
            there = [None if row is None else [e for e in row if e is not None] for row in rows]
            assert rows_of(found.offsets, found.values, found.present) == there
            assert not found.values.null_count
            assert found.sizes.tolist() == [len(row or ()) for row in rows]
            assert found.has_null.tolist() == [None in (row or ()) for row in rows]
            assert found.valid.tolist() == [e is not None for row in rows for e in row or ()]
            assert found.offsets.dtype == found.starts.dtype == np.int64

    def test_a_column_is_made_of_its_elements(self, array):
        for part in slices(array):
            flat = flat_elements(part)
            made = list_array(flat.starts, flat.values, flat.present)
            made.validate(full=True)
            assert made.to_pylist() == part.to_pylist()


def test_what_lies_behind_a_missing_array_is_no_element():
    values = pa.array([1, 2, 3])
    hidden = pa.ListArray.from_arrays(pa.array([0, 1, 2, 3], pa.int32()), values)
    validity = pa.py_buffer(bytes([0b101]))
    array = pa.Array.from_buffers(
        hidden.type, 3, [validity, hidden.buffers()[1]], children=[values]
    )
    assert array.to_pylist() == [[1], None, [3]]
    found = list_elements(array)
    assert found.offsets.tolist() == [0, 1, 1, 2]
    assert found.values.to_pylist() == [1, 3]


def test_elements_in_place_are_not_copied():
    array = pa.array([[1, 2], [3], []] * 100, pa.list_(pa.int64()))
    part = array.slice(3, 200)
    assert flat_elements(part).values.buffers()[1].address == array.values.buffers()[1].address


def test_too_many_elements_for_one_column():
    starts = np.array([0, 2**31], np.int64)
    with pytest.raises(OverflowError):
        list_array(starts, pa.array([], pa.int64()), np.array([True]))


@pytest.mark.parametrize(
    ("kind", "taken"),
    [
        (pa.list_(pa.int8()), True), (pa.large_list(pa.int8()), True),
        (pa.list_(pa.int8(), 3), True), (pa.list_view(pa.int8()), False),
        (pa.map_(pa.string(), pa.int8()), False), (pa.string(), False),
    ],
)  # fmt: skip
def test_the_types_that_are_taken(kind, taken):
    assert is_list(kind) is taken
