"""Geofences: rectangles and points around cities, and the matches they must give."""

import re

import numpy as np
import pytest

from tests.unit.workloads.oracle import check, conjunction, count_conjunctions, publications, texts
from wherecast.workloads import city_geofences, geofence
from wherecast.workloads.city_geofences import cities_at

SAMPLE = (20_000, 10_000)
NUMBER = r"-?\d+\.\d+(e-\d+)?"


@pytest.fixture(scope="module")
def drawn():
    return texts(geofence(), 20_000)


@pytest.fixture(scope="module")
def rectangles(drawn):
    """The bounds lat, lat, lon, lon of each filter; shape (filters, 4)."""
    return np.array([[float(p[2][0]) for p in conjunction(text)[:4]] for text in drawn])


def test_matches_per_publication():
    check(geofence(), count_conjunctions(geofence(), *SAMPLE))


def test_the_cities_of_the_study_give_its_number():
    """The study counted 51 with 1,000,000 filters and 20,000 publications of one seed."""
    rate = city_geofences._rate(cities_at(np.random.default_rng(4).random((50, 2)) * 500))
    error = 51 * rate.tolerance(1_000_000, 20_000) + 0.5
    assert rate.probability * 1_000_000 == pytest.approx(51, abs=error)


def test_stated_numbers():
    stated = [geofence(seed).matches_per_publication(1_000_000) for seed in (1, 2, 4)]
    assert stated == pytest.approx([47.7, 45.6, 53.8], abs=0.1)


@pytest.mark.release  # the count itself is in make test
def test_a_drift_of_the_sizes_fails_the_count(monkeypatch):
    drifted = geofence()
    monkeypatch.setattr(city_geofences, "_SIZE_KM", 2.0)
    with pytest.raises(AssertionError, match="matches per publication, not"):
        check(drifted, count_conjunctions(drifted, *SAMPLE))


@pytest.mark.release  # the count itself is in make test
def test_a_drift_of_the_crowding_fails_the_count(monkeypatch):
    drifted = geofence()
    monkeypatch.setattr(city_geofences, "_FAR", 0.3)
    with pytest.raises(AssertionError, match="matches per publication, not"):
        check(drifted, count_conjunctions(drifted, *SAMPLE))


def test_filters_are_a_rectangle_and_one_to_four_kinds(drawn):
    kind = r"'k(\d|1\d)'"
    form = re.compile(
        rf"lat >= {NUMBER} AND lat <= {NUMBER} AND lon >= {NUMBER} AND lon <= {NUMBER}"
        rf" AND kind IN \({kind}(, {kind}){{0,3}}\)"
    )
    for text in drawn:
        assert form.fullmatch(text)


def test_kinds_are_equally_likely_and_never_twice(drawn):
    lists = [conjunction(text)[-1][2] for text in drawn]
    assert all(len(set(kinds)) == len(kinds) for kinds in lists)
    lengths = np.bincount([len(kinds) for kinds in lists])
    assert lengths.tolist() == pytest.approx([0, 5_000, 5_000, 5_000, 5_000], abs=200)
    names, counts = np.unique(np.concatenate(lists), return_counts=True)
    assert len(names) == 20
    assert counts == pytest.approx(np.full(20, 2_500), abs=200)


def test_sizes_are_lognormal_and_cut(rectangles):
    sides = rectangles[:, 1::2] - rectangles[:, 0::2]
    sizes = np.log(sides)
    assert np.median(sizes) == pytest.approx(np.log(1.5), abs=0.04)
    assert sizes.std() == pytest.approx(0.97, abs=0.03)  # less than 1.02: the ends are cut
    assert np.diff(sizes).std() == pytest.approx(0.2 * np.sqrt(2), rel=0.03)
    assert sides.min() > 0.2 / 2.5
    assert sides.max() < 20 * 2.5


@pytest.mark.parametrize("seed", [1, 2])
def test_centres_and_publications_crowd_around_the_same_cities(seed):
    workload = geofence(seed)
    drawn = [conjunction(text)[:4] for text in texts(workload, 20_000)]
    bounds = np.array([[float(p[2][0]) for p in each] for each in drawn])
    table = publications(workload, 20_000)
    points = np.stack([table["lat"].to_numpy(), table["lon"].to_numpy()], axis=1)
    assert points.min() == 0
    assert points.max() == 500
    for places in ((bounds[:, 0::2] + bounds[:, 1::2]) / 2, points):
        distances = (
            np.abs(places[:, None] - workload.cities.centres) / workload.cities.spreads[:, None]
        )
        near = (distances < 3).all(axis=2)
        assert near.any(axis=1).mean() > 0.9
        assert near[:, :10].any(axis=1).mean() > 0.4  # the ten largest of fifty


def test_cities_are_weighted_by_rank():
    cities = geofence().cities
    assert cities.shares[0] / cities.shares[9] == pytest.approx(10**0.7)
    assert cities.shares.sum() == pytest.approx(1)
    assert cities.spreads[[0, 49]] == pytest.approx([15, 3 + 12 * 50**-0.35])
