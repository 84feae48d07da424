"""Races: the draws and the averages are those of drawing one runner after the other."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest

from wherecast.workloads.races import FirstOfTwo, draw_first, mean_product

WEIGHTS = np.array([1.0, 0.5, 1 / 3, 0.25, 0.2, 1 / 6])


def chances(places):
    """The chance of every order of the first runners."""
    found = {}
    for order in permutations(range(len(WEIGHTS)), places):
        left, chance = WEIGHTS.sum(), 1.0
        for runner in order:
            chance *= WEIGHTS[runner] / left
            left -= WEIGHTS[runner]
        found[order] = chance
    return found


def test_runners_are_drawn_by_their_weights_and_only_once():
    drawn = draw_first(np.random.default_rng(1), WEIGHTS, 200_000, 2)
    counts = Counter(map(tuple, drawn.tolist()))
    for order, chance in chances(2).items():
        assert counts[order] / 200_000 == pytest.approx(chance, abs=0.004)
    everyone = draw_first(np.random.default_rng(2), WEIGHTS, 50, len(WEIGHTS))
    assert (np.sort(everyone, axis=1) == np.arange(len(WEIGHTS))).all()


def worth_of_all(first, second, worth):
    product = 1.0
    for runner in range(len(WEIGHTS)):
        if runner in first:
            product *= (worth.both if runner in second else worth.first)[runner]
        elif runner in second:
            product *= worth.second[runner]
    return product


@pytest.mark.parametrize(("first", "second"), [([2], [3]), ([1, 2, 3], [4]), ([5], [2, 4])])
def test_the_mean_product_is_that_of_all_outcomes(first, second):
    worth = FirstOfTwo(*np.random.default_rng(3).uniform(0, 2, (3, len(WEIGHTS))))
    expected = np.mean(
        [
            sum(
                one * other * worth_of_all(a, b, worth)
                for a, one in chances(places).items()
                for b, other in chances(others).items()
            )
            for places in first
            for others in second
        ]
    )
    assert mean_product(WEIGHTS, first, second, worth) == pytest.approx(expected, rel=1e-4)


def test_some_runners_always_come_first():
    weights, ones = 1 / np.arange(1, 101), np.ones(100)
    together = FirstOfTwo(ones, ones, ones)
    assert mean_product(weights, range(3, 9), [15], together) == pytest.approx(1, abs=1e-4)
