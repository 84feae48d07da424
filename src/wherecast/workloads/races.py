"""Races: which of many unequal runners come in first, exactly.

Runner a arrives after an exponential time with rate `weights[a]`; the first k are k different
runners, drawn one after the other with chances in proportion to their weights.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wherecast.workloads.draws import Floats, choose

# Times of an integral on a logarithmic scale, in units of 1 / the weights' sum. The step is short
# against the spread of an arrival, so the plain sum is exact to more digits than are asked for.
_TIMES = np.exp(np.arange(-4.8, 7.2, 0.4))
_NEGLIGIBLE = 1e-7  # the chance that none of the counts is reached around a time


@dataclass(frozen=True, slots=True)
class FirstOfTwo:
    """What a runner is worth that is among the first of two independent races.

    Attributes:
        first: float64 (runners,), among the first of the first race only.
        second: float64 (runners,), among the first of the second race only.
        both: float64 (runners,), among the first of both; outside both it is worth 1.
    """

    first: Floats
    second: Floats
    both: Floats


def draw_first(
    rng: np.random.Generator, weights: Floats, races: int, places: int
) -> NDArray[np.int64]:
    """The first runners of each race in their order, int64 (races, places).

    One place after the other; who has arrived is drawn again.
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
    """The mean of the product of the runners' worth, over two races and the counts given.

    Counts are how many runners are the first of a race, each equally likely. While the set A of
    runners has arrived, the next one comes at the rate of the others' weights. So A is the first
    |A| with the chance ∫ P(exactly A has arrived by t) · (the others' weights) dt. The product over
    the runners of what each contributes is expanded one runner after the other, by the number of
    runners in and by whether the next arrival has been chosen, in each race.

    Every count must be below the number of runners.

    Shapes: the table is float64 (next chosen, next chosen, in, in, times, times).
    Cost: runners × 4 × (max(first) + 1) × (max(second) + 1) × times².
    """
    assert max(*first, *second) < len(weights)
    times, steps = zip(*(_times(weights, counts) for counts in (first, second)), strict=True)
    # Odds of having arrived: the chances of not having arrived are multiplied in at the end.
    odds = [np.expm1(weights[:, None] * each) for each in times]
    shape = (2, 2, max(first) + 1, max(second) + 1, len(times[0]), len(times[1]))
    table = np.zeros(shape)
    table[0, 0, 0, 0] = 1
    for runner, weight in enumerate(weights):
        ins, others = odds[0][runner][:, None], odds[1][runner]
        second_in = table.copy()  # the runner is out of the first race: late, or the next
        second_in[1] += weight * table[0]
        first_in = table.copy()  # and here out of the second
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
    """The times at which that many runners may have arrived, and the steps between them."""
    times = _TIMES / weights.sum()
    chances = np.zeros((max(counts) + 1, len(times)))
    chances[0] = 1
    for weight in weights:
        arrived = -np.expm1(-weight * times)
        chances[1:] = chances[1:] * (1 - arrived) + chances[:-1] * arrived
        chances[0] *= 1 - arrived
    likely = chances[min(counts) :].sum(axis=0) > _NEGLIGIBLE
    return times[likely], times[likely] * np.log(_TIMES[1] / _TIMES[0])
