"""Distributions: what is drawn is what the distribution functions and averages say."""

import numpy as np
import pytest

from wherecast.workloads.draws import (
    CroppedNormal,
    Uniform,
    choose,
    normal_average,
    normal_cdf,
    zipf_shares,
)

POINTS = np.array([-5.0, 0.0, 100.0, 400.0, 999.0, 1000.0, 2000.0])


@pytest.mark.parametrize(
    "variable",
    [
        CroppedNormal(125, 250, 1000),
        CroppedNormal(1000, 50, 1000),
        CroppedNormal(500, 5000, 1000),
        Uniform(1000),
    ],
    ids=str,
)
def test_values_follow_their_distribution(variable):
    values = variable.draw(np.random.default_rng(1), 40_000)
    assert values.min() >= 0
    assert values.max() < 1000
    shares = (values[:, None] < POINTS).mean(axis=0)
    assert variable.cdf(POINTS) == pytest.approx(shares, abs=0.01)
    assert variable.average(lambda x: x) == pytest.approx(values.mean(), abs=5)
    assert variable.average(lambda x: x**2) == pytest.approx((values**2).mean(), rel=0.03)


def test_the_normal_distribution_function_and_averages():
    known = [0.5, 0.841345, 0.022750]
    assert normal_cdf(np.array([0.0, 1.0, -2.0])) == pytest.approx(known, abs=1e-6)
    assert normal_average(lambda x: x, 3, 2) == pytest.approx(3)
    assert normal_average(lambda x: (x - 3) ** 2, 3, 2) == pytest.approx(4)


def test_zipf_shares_fall_with_the_rank():
    assert zipf_shares(4) == pytest.approx([12 / 25, 6 / 25, 4 / 25, 3 / 25])


def test_choices_follow_the_shares_and_stay_within_them():
    chosen = choose(np.random.default_rng(1), np.array([0.5, 0.0, 0.3, 0.2]), 20_000)
    assert np.bincount(chosen) / 20_000 == pytest.approx([0.5, 0, 0.3, 0.2], abs=0.015)


class AlmostOne:
    """Draws the largest number below 1."""

    def random(self, count):
        return np.full(count, np.nextafter(1, 0))


def test_the_last_choice_is_never_passed():
    assert choose(AlmostOne(), zipf_shares(10_000), 2).tolist() == [9_999, 9_999]
