"""Alerts with OR: a city and one of two thresholds, and the matches they must give."""

import re

import numpy as np
import pytest

from tests.unit.workloads.oracle import (
    check,
    count_either,
    count_with_duckdb,
    publications,
    texts,
)
from wherecast.model import ConfigError
from wherecast.workloads import air_alerts, alerts_or

SAMPLES = {"cities": ({}, 20_000, 20_000), "wide": ({"wide": True}, 5_000, 10_000)}


@pytest.mark.parametrize(("options", "filters", "sent"), SAMPLES.values(), ids=SAMPLES)
def test_matches_per_publication(options, filters, sent):
    workload = alerts_or(**options)
    check(workload, count_either(workload, filters, sent))


@pytest.mark.parametrize("wide", [False, True])
def test_duckdb_counts_the_same(wide):
    workload = alerts_or(cities=3, wide=wide)
    counted, other = count_either(workload, 500, 300), count_with_duckdb(workload, 500, 300)
    assert (counted.by_filter == other.by_filter).all()
    assert (counted.by_publication == other.by_publication).all()


def test_the_stated_numbers_are_about_the_studied_ones():
    """The study counted 148 and 7,212 at 20,000 filters, 144 at 1,000,000 with 2,500 cities."""
    assert alerts_or().matches_per_publication(20_000) == pytest.approx(144)
    assert alerts_or(wide=True).matches_per_publication(20_000) == pytest.approx(7_200)
    assert alerts_or(cities=2_500).matches_per_publication(1_000_000) == pytest.approx(144)


@pytest.mark.release  # the count itself is in make test
def test_a_drift_of_the_thresholds_fails_the_count(monkeypatch):
    drifted = alerts_or()
    monkeypatch.setattr(air_alerts, "_THRESHOLD_MIN", 65.0)
    with pytest.raises(AssertionError, match="matches per publication, not"):
        check(drifted, count_either(drifted, 20_000, 20_000))


def test_texts():
    number = r"\d+\.\d+"
    for text in texts(alerts_or(), 1_000):
        pattern = rf"city = 'city\d+' AND \(no2 > {number} OR pm10 > {number}\)"
        assert re.fullmatch(pattern, text)
    for text in texts(alerts_or(wide=True), 1_000):
        assert re.fullmatch(rf"no2 > {number} OR pm10 > {number}", text)


def test_the_wide_twin_has_the_same_thresholds_and_readings():
    narrow, wide = alerts_or(seed=4), alerts_or(seed=4, wide=True)
    inside = [text.split("(")[1].rstrip(")") for text in texts(narrow, 2_000)]
    assert inside == texts(wide, 2_000)
    assert publications(narrow, 2_000).equals(publications(wide, 2_000))


def test_cities_are_equally_likely():
    named = publications(alerts_or(), 50_000)["city"].to_pylist()
    counts = np.unique(named, return_counts=True)[1]
    assert counts == pytest.approx(np.full(50, 1_000), rel=0.15)


def test_one_in_nine_matches_is_by_both_thresholds():
    table = publications(alerts_or(), 10_000)
    found = [re.findall(r"> ([\d.]+)", text) for text in texts(alerts_or(), 2_000)]
    no2, pm10 = np.array(found, float).T
    first = table["no2"].to_numpy()[:, None] > no2
    second = table["pm10"].to_numpy()[:, None] > pm10
    assert first.mean() == pytest.approx(0.2, rel=0.05)
    assert (first & second).mean() / (first | second).mean() == pytest.approx(1 / 9, rel=0.1)


def test_options_out_of_range_are_refused():
    with pytest.raises(ConfigError, match="cities must be 1 or more, not 0"):
        alerts_or(cities=0)
