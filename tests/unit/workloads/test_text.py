"""Constants in filter texts: nothing is lost, and a float never looks like an integer."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wherecast.workloads.text import float_texts, join, time_texts


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_every_float_is_written_as_its_repr(values):
    assert float_texts(np.array(values)).to_pylist() == [repr(value) for value in values]


PLAIN = (0.0, -0.0, 1.0, 250.0, 0.1, 1e-4, 999999999.0, math.nextafter(1e9, 0), 123456789.125)
TINY = (math.nextafter(1e-4, 0), 1e-5, -1.5e-7, 5e-324)
LARGE = (1e9, 12345678901.5, 1e15, -1e16, 2**53 + 2.0, 1.7e308)


@pytest.mark.parametrize("value", PLAIN + TINY + LARGE)
def test_floats_at_the_edges_are_written_as_their_repr(value):
    assert float_texts(np.array([value, 7.5])).to_pylist() == [repr(value), "7.5"]


def test_times_are_timestamp_literals():
    times = np.array(["2012-06-01T00:00:00", "1969-12-31T23:59:59"], "datetime64[us]")
    expected = ["TIMESTAMP '2012-06-01 00:00:00'", "TIMESTAMP '1969-12-31 23:59:59'"]
    assert time_texts(times).to_pylist() == expected


def test_joined_pieces_stand_side_by_side():
    assert join("a < ", float_texts(np.array([1.5, 2.0])), "!").to_pylist() == [
        "a < 1.5!",
        "a < 2.0!",
    ]
