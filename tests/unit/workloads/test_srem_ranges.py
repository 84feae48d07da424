"""SREM: ranges around the middle of every dimension, and the matches they must give."""

import numpy as np
import pytest

from tests.unit.workloads.oracle import (
    Counted,
    check,
    conjunction,
    publications,
    texts,
)
from wherecast.model import ConfigError
from wherecast.workloads import srem


def bounds(workload, filters: int) -> tuple[np.ndarray, np.ndarray]:
    """The closed bounds of every filter; shape (filters, dimensions)."""
    found = [
        [float(constants[0]) for _, _, constants in conjunction(text)]
        for text in texts(workload, filters)
    ]
    ends = np.array(found)
    return ends[:, 0::2], ends[:, 1::2]


def count(workload, filters: int, sent: int) -> Counted:
    lows, highs = bounds(workload, filters)
    points = np.stack([column.to_numpy() for column in publications(workload, sent).columns], 1)
    by_filter, by_publication = np.zeros(filters, int), np.zeros(sent, int)
    for number in range(filters):
        inside = ((lows[number] <= points) & (points <= highs[number])).all(axis=1)
        by_filter[number] = inside.sum()
        by_publication += inside
    return Counted(by_filter, by_publication)


@pytest.mark.parametrize(
    "options",
    [
        {"dimensions": 2},
        {"dimensions": 2, "sd": 120},
        {"dimensions": 3, "hot_sd": 50},
        {"dimensions": 2, "hot_sd": 200, "sd": 100},
    ],
    ids=str,
)
def test_matches_per_publication(options) -> None:
    check(srem(**options), count(srem(**options), 4_000, 4_000))


def test_stated_numbers() -> None:
    expected = 40_000 * (0.2 / np.pi**0.5) ** 8  # the mean width of a range, 2 sd / √π, of 500
    assert srem().matches_per_publication(40_000) == pytest.approx(expected, rel=0.001)
    hot = srem(hot_sd=50)
    assert hot.matches_per_publication(40_000) == pytest.approx(40_000 / 3**8, rel=0.001)


def test_ranges_are_around_the_middle_and_of_the_stated_width() -> None:
    lows, highs = bounds(srem(), 10_000)
    assert (lows <= highs).all()
    assert lows.min() >= 0
    assert highs.max() <= 500
    assert (highs - lows).mean() == pytest.approx(2 * 50 / np.sqrt(np.pi), rel=0.01)
    assert ((lows + highs) / 2).mean() == pytest.approx(250, abs=1)


def test_publications_are_uniform_or_around_a_hot_spot() -> None:
    for workload, spread in ((srem(), 144.3), (srem(hot_sd=50), 50)):
        for column in publications(workload, 20_000).columns:
            values = column.to_numpy()
            assert values.min() >= 0
            assert values.max() < 500
            assert values.mean() == pytest.approx(250, abs=4)
            assert values.std() == pytest.approx(spread, rel=0.02)


def test_dimensions_have_names_and_a_domain() -> None:
    schema = srem().schema
    assert schema.names == tuple("abcdefgh")
    assert {(a.type, a.min, a.max, a.step) for a in schema} == {("float", 0, 500, None)}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dimensions": 0}, "dimensions must be 1 to 26, not 0"),
        ({"sd": 0}, "sd must be above 0, not 0"),
        ({"hot_sd": -1}, "hot_sd must be above 0, not -1"),
    ],
)
def test_options_that_cannot_work_are_refused(options, message) -> None:
    with pytest.raises(ConfigError, match=message):
        srem(**options)
