"""BlueDove: ranges around hot spots, and the matches they must give."""

from dataclasses import replace

import numpy as np
import pytest

from tests.unit.workloads.oracle import check, count_ranges, publications, ranges, texts
from wherecast.model import ConfigError
from wherecast.workloads import bluedove

EDGES = (0, 1000 / 3, 2000 / 3, 1000)  # hot spots with the published density


def test_matches_per_publication():
    check(bluedove(), count_ranges(bluedove(), 5_000, 20_000))


def test_matches_per_publication_of_narrow_ranges():
    check(bluedove(length=40), count_ranges(bluedove(length=40), 30_000, 20_000))


@pytest.mark.parametrize(
    "options",
    [
        {"skewed": 1},
        {"skewed": 4},
        {"sd": 1000},
        {"dimensions": 1},
        {"dimensions": 6, "length": 600},
        {"hot_spots": EDGES},
        {"dimensions": 2, "length": 3000},  # every filter matches everything
    ],
    ids=str,
)
def test_matches_per_publication_of_variants(options):
    workload = bluedove(**options)
    counted = count_ranges(workload, 1_000, 20_000)
    expected = workload.matches_per_publication(1_000)
    tolerance = workload.rate.tolerance(1_000, 20_000)
    assert abs(counted.per_publication / expected - 1) <= tolerance


@pytest.mark.parametrize(
    ("length", "filters", "studied", "digit"), [(250, 40_000, 131, 1), (40, 1_000_000, 2.4, 0.1)]
)
def test_the_stated_number_is_the_studied_one(length, filters, studied, digit):
    """The study counted 20,000 publications of one seed: that is its error."""
    workload = bluedove(length=length)
    error = studied * workload.rate.tolerance(filters, 20_000) + digit / 2
    assert workload.matches_per_publication(filters) == pytest.approx(studied, abs=error)


def test_stated_numbers():
    assert bluedove().matches_per_publication(40_000) == pytest.approx(128.757, abs=0.001)
    assert bluedove(length=40).matches_per_publication(1_000_000) == pytest.approx(2.4907, abs=1e-4)


@pytest.mark.release  # the count itself is in make test
def test_a_drift_of_the_length_fails_the_count():
    drifted = replace(bluedove(), length=260.0)
    with pytest.raises(AssertionError, match="matches per publication, not"):
        check(drifted, count_ranges(drifted, 5_000, 20_000))


def test_ranges_are_half_open_within_the_domain_and_of_full_precision():
    workload = bluedove()
    lows, highs = ranges(texts(workload, 10_000), "abcd")
    assert (lows >= 0).all()
    assert (highs <= 1000).all()
    assert (lows < highs).all()
    whole = (lows > 0) & (highs < 1000)
    assert np.allclose((highs - lows)[whole], 250)
    assert (highs - lows).max() <= 250 + 1e-9
    assert len(np.unique(lows[lows > 0])) > 0.99 * (lows > 0).sum()
    cut = (lows == 0).mean(axis=0)
    assert cut == pytest.approx([0.277, 0.099, 0.018, 0.0016], abs=0.015)


def test_centres_are_normal_around_the_hot_spots():
    lows, highs = ranges(texts(bluedove(sd=50, length=2), 20_000), "abcd")
    centres = (lows + highs) / 2
    assert centres.mean(axis=0) == pytest.approx([125.8, 375, 625, 874.2], abs=1.5)
    assert centres.std(axis=0) == pytest.approx([49, 50, 50, 49], abs=1.5)


def test_publications_are_uniform_unless_skewed():
    table = publications(bluedove(skewed=2, sd=50), 20_000)
    for name, mean, sd in (("a", 125.8, 49), ("b", 375, 50), ("c", 500, 288.7), ("d", 500, 288.7)):
        values = table[name].to_numpy()
        assert values.min() >= 0
        assert values.max() < 1000
        assert values.mean() == pytest.approx(mean, abs=8)
        assert values.std() == pytest.approx(sd, rel=0.02)


def fullest_to_average(workload):
    """Per dimension: ranges that overlap the fullest of 20 equal segments, over the average."""
    lows, highs = ranges(texts(workload, 40_000), workload.schema.names)
    starts = np.arange(20)[:, None, None] * 50
    overlapping = ((lows < starts + 50) & (highs > starts)).sum(axis=1)
    return overlapping.max(axis=0) / overlapping.mean(axis=0)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"hot_spots": EDGES}, [2.75, 1.73, 1.73, 2.75]),  # published: 2.7
        ({"hot_spots": EDGES, "sd": 1000}, [1.24, 1.13, 1.13, 1.24]),  # published: 1.17
        ({}, [2.33, 1.68, 1.68, 2.33]),
        ({"sd": 1000}, [1.19, 1.125, 1.125, 1.19]),
    ],
    ids=str,
)
def test_density_of_the_hot_spots(options, expected):
    assert fullest_to_average(bluedove(**options)) == pytest.approx(expected, rel=0.02)


def test_dimensions_have_names_and_a_domain():
    schema = bluedove(dimensions=6).schema
    assert schema.names == tuple("abcdef")
    assert {(a.type, a.min, a.max, a.step) for a in schema} == {("float", 0, 1000, None)}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dimensions": 0}, "dimensions must be 1 to 26, not 0"),
        ({"dimensions": 27}, "dimensions must be 1 to 26, not 27"),
        ({"length": 0}, "length and sd must be above 0, not 0 and 250.0"),
        ({"sd": -1}, "length and sd must be above 0"),
        ({"skewed": 5}, "skewed must be 0 to 4, not 5"),
        ({"hot_spots": (1, 2)}, "hot_spots must be 4 numbers from 0 to 1000"),
        ({"hot_spots": (1, 2, 3, 1001)}, "hot_spots must be 4 numbers from 0 to 1000"),
    ],
)
def test_options_that_cannot_work_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        bluedove(**options)
