"""Races: exact probabilities of which of many unequal runners arrive first.

Runner a arrives after an exponential time with rate `weights[a]`. The first k runners are then
distributed like k different runners that are drawn one by one, in proportion to their weights.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wherecast.workloads.draws import Floats, choose

# Times of an integral on a logarithmic scale, in units of 1 / the sum of the weights. The step is
# short compared with the spread of an arrival, so the plain sum is more exact than needed.
_TIMES = np.exp(np.arange(-4.8, 7.2, 0.4))
_NEGLIGIBLE = 1e-7  # times at which the counts are reached with less than this chance are skipped


@dataclass(frozen=True, slots=True)
class FirstOfTwo:
    """The worth of each runner, by the races of two in which it is among the first.

    A runner that is among the first of neither race is worth 1.

    Attributes:
        first: float64 (runners,), the worth if only in the first race.
        second: float64 (runners,), the worth if only in the second race.
        both: float64 (runners,), the worth if in both races.
    """

    first: Floats
    second: Floats
    both: Floats


def draw_first(
    rng: np.random.Generator, weights: Floats, races: int, places: int
) -> NDArray[np.int64]:
    """The first runners of each race in their order, int64 (races, places).

    The places are drawn one by one; a runner that has arrived already is drawn again.
    """
    assert places <= len(weights)
    drawn = np.empty((races, places), np.int64)
    for place in range(places):
        again = np.arange(races)
        while again.size:
            drawn[again, place] = choose(rng, weights, again.size)
            repeated = (drawn[again, :place] == drawn[again, place, None]).any(axis=1)
            again = again[repeated]
    return drawn


def mean_product(
    weights: Floats, first: Sequence[int], second: Sequence[int], worth: FirstOfTwo
) -> float:
    """The mean of the product of all runners' worth, over two independent races.

    `first` and `second` are the possible numbers of first runners of each race, all equally likely;
    each must be below the number of runners. After the set A of runners has arrived, the next one
    arrives at the rate of the sum of the others' weights. So A is the set of the first |A| runners
    with probability ∫ P(exactly A has arrived by t) · (sum of the others' weights) dt. The product
    over the runners is expanded runner by runner. The table holds, for each race, the number of
    runners that have arrived and whether the next arrival has been chosen.

    Shapes: the table is float64 (next chosen, next chosen, in, in, times, times).
    Cost: runners × 4 × (max(first) + 1) × (max(second) + 1) × times².
    """
    assert max(*first, *second) < len(weights)
    times, steps = zip(*(_times(weights, counts) for counts in (first, second)), strict=True)
    # The odds of having arrived; the probabilities of not having arrived are multiplied at the end.
    odds = [np.expm1(weights[:, None] * each) for each in times]
    shape = (2, 2, max(first) + 1, max(second) + 1, len(times[0]), len(times[1]))
    table = np.zeros(shape)
    table[0, 0, 0, 0] = 1
    for runner, weight in enumerate(weights):
        ins, others = odds[0][runner][:, None], odds[1][runner]
        second_in = table.copy()  # the runner has not arrived in the first race, or is the next
        second_in[1] += weight * table[0]
        first_in = table.copy()  # the same for the second race
        first_in[:, 1] += weight * table[:, 0]
        new = second_in.copy()
        new[:, 1] += weight * second_in[:, 0]
        new[:, :, 1:] += worth.first[runner] * ins * first_in[:, :, :-1]
        new[:, :, :, 1:] += worth.second[runner] * others * second_in[:, :, :, :-1]
        new[:, :, 1:, 1:] += worth.both[runner] * ins * others * table[:, :, :-1, :-1]
        table = new
    late = [step * np.exp(-weights.sum() * each) for each, step in zip(times, steps, strict=True)]
    reached = table[1, 1][np.ix_(list(first), list(second))]
    return float(np.einsum("ijtu,t,u->", reached, *late)) / (len(first) * len(second))


def _times(weights: Floats, counts: Sequence[int]) -> tuple[Floats, Floats]:
    """The times at which one of the counts is reached with some chance, and their steps."""
    times = _TIMES / weights.sum()
    chances = np.zeros((max(counts) + 1, len(times)))
    chances[0] = 1
    for weight in weights:
        arrived = -np.expm1(-weight * times)
        chances[1:] = chances[1:] * (1 - arrived) + chances[:-1] * arrived
        chances[0] *= 1 - arrived
    likely = chances[min(counts) :].sum(axis=0) > _NEGLIGIBLE
    return times[likely], times[likely] * np.log(_TIMES[1] / _TIMES[0])
