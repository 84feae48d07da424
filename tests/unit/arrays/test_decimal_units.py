from fractions import Fraction
from random import Random

import numpy as np
import pytest

from wherecast.arrays.decimal_units import compare_units, doubles_of, units_of
from wherecast.model.values import INT_MAX, INT_MIN


def test_units_of_doubles() -> None:
    values = np.array([0.1, 12.345, -0.29, 0.0, -0.0, np.nan, np.inf, 1e300, 1e13, 5e-324])
    units, sure = units_of(values, 2)
    assert units[sure].tolist() == [10, -29, 0, 0]
    assert np.flatnonzero(sure).tolist() == [0, 2, 3, 4]


@pytest.mark.parametrize("scale", [1, 2, 6, 18])
def test_units_are_those_of_the_shortest_form(scale: int) -> None:
    rng = Random(scale)
    wanted = [rng.randrange(-(10**15) + 1, 10**15) for _ in range(2_000)]
    values = np.array([float(Fraction(units, 10**scale)) for units in wanted])
    units, sure = units_of(values, scale)
    assert units[sure].tolist() == [u for u, good in zip(wanted, sure, strict=True) if good]
    assert sure.mean() > 0.99


def test_doubles_of_units_are_rounded_once() -> None:
    rng = Random(1)
    units = [rng.randrange(-(10**18), 10**18) for _ in range(1_000)] + [0, 1, -1, 2**53, 2**53 + 1]
    for scale in (1, 2, 6, 18):
        doubles = doubles_of(np.array(units), scale).tolist()
        assert doubles == [float(Fraction(unit, 10**scale)) for unit in units]


@pytest.mark.parametrize("places", [1, 4, 18])
def test_units_of_two_scales_compare_without_overflow(places: int) -> None:
    rng = Random(places)
    rights = [INT_MAX, INT_MIN, 0, 1, -1, *(rng.randrange(INT_MIN, INT_MAX) for _ in range(500))]
    lefts = [INT_MIN, INT_MAX, 0, *(right // 10**places + rng.randrange(-1, 2) for right in rights)]
    rights = [rights[n % len(rights)] for n in range(-3, len(lefts) - 3)]
    signs = compare_units(np.array(lefts), np.array(rights), places).tolist()
    wide = [left * 10**places for left in lefts]
    assert signs == [(a > b) - (a < b) for a, b in zip(wide, rights, strict=True)]
