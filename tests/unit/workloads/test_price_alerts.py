"""Alerts: popular symbols, thresholds around their prices, and the matches they must give."""

import re
from collections import Counter

import numpy as np
import pytest

from tests.unit.workloads.oracle import check, count_alerts, publications, texts
from wherecast.model import ConfigError
from wherecast.workloads import alerts, price_alerts

SAMPLE = (100_000, 100_000)


def test_matches_per_publication():
    check(alerts(), count_alerts(alerts(), *SAMPLE))


def test_the_stated_number_is_the_studied_one():
    """The study counted 543 with 1,000,000 filters and 10,000 publications of one seed."""
    expected = alerts().matches_per_publication(1_000_000)
    assert expected == pytest.approx(555.97, abs=0.01)
    assert expected == pytest.approx(543, rel=alerts().rate.tolerance(1_000_000, 10_000))
    assert expected == pytest.approx(543, rel=0.03)


@pytest.mark.release  # the count itself is in make test
def test_a_drift_of_the_thresholds_fails_the_count(monkeypatch):
    drifted = alerts()
    monkeypatch.setattr(price_alerts, "_THRESHOLD_MEAN", 0.095)
    with pytest.raises(AssertionError, match="matches per publication, not"):
        check(drifted, count_alerts(drifted, *SAMPLE))


def test_half_look_up_and_half_ask_for_a_volume():
    drawn = texts(alerts(), 20_000)
    assert sum(" > " in text.split(" AND ")[1] for text in drawn) == pytest.approx(10_000, abs=300)
    assert sum("volume > " in text for text in drawn) == pytest.approx(10_000, abs=300)


def test_symbols_are_zipf_in_filters_and_quotes_and_popularity_is_shuffled():
    workload = alerts(seed=5)
    asked = Counter(re.search(r"S\d{4}", text)[0] for text in texts(workload, 100_000))
    quoted = Counter(publications(workload, 100_000)["symbol"].to_pylist())
    share = 100_000 / sum(1 / rank for rank in range(1, 10_001))
    favourites = [name for name, _ in asked.most_common(3)]
    assert favourites == [name for name, _ in quoted.most_common(3)]
    assert favourites != sorted(favourites)
    for counts in (asked, quoted):
        for rank, (_, count) in enumerate(counts.most_common(5), start=1):
            assert count == pytest.approx(share / rank, rel=0.1)


def test_prices_and_volumes_stray_around_their_symbols_base():
    table = publications(alerts(), 50_000)
    names = np.array(table["symbol"].to_pylist())
    favourite = Counter(names.tolist()).most_common(1)[0][0]
    mine = names == favourite
    assert np.log(table["price"].to_numpy()[mine]).std() == pytest.approx(0.05, rel=0.05)
    assert np.log(table["volume"].to_numpy()[mine]).std() == pytest.approx(0.5, rel=0.05)


def test_the_number_of_symbols_is_an_option():
    few = alerts(symbols=3)
    assert set(publications(few, 1_000)["symbol"].to_pylist()) == {"S0000", "S0001", "S0002"}
    check(few, count_alerts(few, 5_000, 5_000))
    with pytest.raises(ConfigError, match="symbols must be 1 or more, not 0"):
        alerts(symbols=0)
