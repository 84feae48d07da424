"""Arrow arrays as numpy arrays and back, as pyarrow itself would."""

import numpy as np
import pyarrow as pa
import pytest

from wherecast.arrays.vectors import array_of, filled, has_one_value, texts_of, values_of

ARRAYS = [
    pa.array([1, -2, 3], pa.int64()),
    pa.array([1, 2], pa.int32()),
    pa.array([0.5, float("nan"), -0.0]),
    pa.array([], pa.int64()),
    pa.array([True, False, True] * 7),
    pa.array([], pa.bool_()),
    pa.array(["a", "b"]),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.type}-{len(array)}")
def test_values(array: pa.Array) -> None:
    for part in (array, array[1:], array[:-1], array[9:], array[9:12]):
        expected = part.to_numpy(zero_copy_only=False)
        found = values_of(part)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("kind", [pa.int32(), pa.int64(), pa.float64()], ids=str)
def test_filled(kind: pa.DataType) -> None:
    array = pa.array([1, None, 3, None, 5], kind)
    for part in (array, array[1:], array[2:3], array[9:]):
        found = filled(part, -1)
        assert found.dtype == kind.to_pandas_dtype()
        assert found.tolist() == part.fill_null(-1).to_pylist()
    assert filled(pa.nulls(2, kind), 0).tolist() == [0, 0]


@pytest.mark.parametrize(
    "values",
    [np.arange(5), np.array([0.5, np.nan]), np.arange(9)[::2], np.arange(19) % 3 == 1, np.zeros(0)],
)
def test_arrays(values: np.ndarray) -> None:
    made = array_of(values)
    made.validate(full=True)
    assert made.type == pa.from_numpy_dtype(values.dtype)
    np.testing.assert_array_equal(made.to_numpy(zero_copy_only=False), values)


@pytest.mark.parametrize("texts", [[], ["", "a", "bc"], ["ä", "", "𝄞x", "y"]])
def test_texts(texts: list[str]) -> None:
    made = texts_of(texts)
    made.validate(full=True)
    assert made.equals(pa.array(texts, pa.large_string()))


def test_what_is_no_text() -> None:
    with pytest.raises(TypeError):
        texts_of(["a", None])  # type: ignore[list-item]
    with pytest.raises(UnicodeEncodeError):
        texts_of(["\ud800"])


def test_one_value() -> None:
    assert [has_one_value(pa.array(one)) for one in (["a"], ["a", "a"], [1, 1, 1])] == [True] * 3
    others: list[list[str | None]] = [["a", "b"], ["a", None], [None, None], []]
    assert [has_one_value(pa.array(one, pa.string())) for one in others] == [False] * 4
