"""Stocks: six templates over the quotes of a random walk, and the matches they must give."""

import re
from datetime import datetime

import numpy as np
import pytest

from tests.unit.workloads.oracle import check, count_conjunctions, publications, texts
from wherecast.model import ConfigError
from wherecast.workloads import stock_quotes, stocks
from wherecast.workloads.stock_quotes import TEMPLATES, Template

SAMPLE = (20_000, 5_000)
SYMBOL = r"class = 'STOCK' AND symbol = 'S0[0-4]\d\d'"
PRICE = r"\d+\.\d\d?"
# The form, its share of the filters, and the share of the publications that it matches.
FORMS = {
    "high": (rf"{SYMBOL} AND high > {PRICE}", 0.20, 1 / 1000),
    "low": (rf"{SYMBOL} AND low < {PRICE}", 0.20, 1 / 1000),
    "volume": (rf"{SYMBOL} AND volume > \d+00", 0.20, 1 / 1000),
    "symbol": (SYMBOL, 0.34, 1 / 500),
    "any volume": (r"class = 'STOCK' AND volume > \d+00", 0.05, 1 / 2),
    "everything": (r"class = 'STOCK'", 0.01, 1),
}


@pytest.fixture(scope="module")
def workload():
    return stocks()


@pytest.fixture(scope="module")
def counted(workload):
    return count_conjunctions(workload, *SAMPLE)


@pytest.fixture(scope="module")
def quotes(workload):
    """The quotes by name, each attribute as an array (symbols, days)."""
    named = zip(workload.schema.names, workload.quotes.columns, strict=True)
    return {name: column.to_numpy(zero_copy_only=False).reshape(500, 250) for name, column in named}


def test_matches_per_publication(workload, counted):
    check(workload, counted)


def test_every_form_has_its_share_of_filters_and_of_matches(workload, counted):
    drawn = texts(workload, SAMPLE[0])
    seen = 0
    for pattern, share, matched in FORMS.values():
        mine = np.array([bool(re.fullmatch(pattern, text)) for text in drawn])
        assert mine.mean() == pytest.approx(share, rel=0.1, abs=0.002)
        found = counted.by_filter[mine] / SAMPLE[1]
        assert found.mean() == pytest.approx(matched, rel=0.1)
        seen += mine.sum()
    assert seen == len(drawn)


def test_the_stated_number_is_near_the_studied_one(workload):
    """The study counted 3,692 with 100,000 filters and 5,000 publications of one seed."""
    expected = workload.matches_per_publication(100_000)
    assert expected == pytest.approx(3_627.5, abs=0.1)
    assert expected == pytest.approx(3_692, rel=workload.rate.tolerance(100_000, 5_000))
    assert expected == pytest.approx(3_692, rel=0.02)


@pytest.mark.release  # the count itself is in make test
def test_a_drift_of_the_percentages_fails_the_count(monkeypatch, workload):
    drifted = (*TEMPLATES[:3], Template(33, True), TEMPLATES[4], Template(2, False))
    monkeypatch.setattr(stock_quotes, "TEMPLATES", drifted)
    with pytest.raises(AssertionError, match="matches per publication, not"):
        check(workload, count_conjunctions(workload, *SAMPLE))


def test_quotes_have_the_twelve_attributes_of_the_source(workload):
    source = (
        "class symbol open high low close volume date "
        "openClose%Diff highLow%Diff closeEqualsLow closeEqualsHigh"
    )
    assert workload.schema.names == tuple(source.split())


def test_quotes_follow_their_formulas(quotes):
    opens, highs, lows, closes = (quotes[name] for name in ("open", "high", "low", "close"))
    assert (highs >= np.maximum(opens, closes)).all()
    assert (lows <= np.minimum(opens, closes)).all()
    assert lows.min() > 0
    assert np.allclose(quotes["openClose%Diff"], (closes - opens) / opens, atol=0.00051)
    assert np.allclose(quotes["highLow%Diff"], (highs - lows) / lows, atol=0.00051)
    for name, ends in (("closeEqualsLow", lows), ("closeEqualsHigh", highs)):
        assert set(np.unique(quotes[name].astype(str))) == {"true", "false"}
        assert ((quotes[name] == "true") == (closes == ends)).all()
    for prices in (opens, highs, lows, closes):
        assert np.array_equal(prices, np.round(prices, 2))
    assert (quotes["volume"] % 100 == 0).all()
    assert quotes["volume"].min() >= 100


def test_closes_walk_and_volumes_stay_around_their_base(quotes):
    closes = np.log(quotes["close"])
    assert np.diff(closes, axis=1).std() == pytest.approx(0.02, rel=0.02)
    assert (closes[:, -1] - closes[:, 0]).std() == pytest.approx(0.02 * np.sqrt(249), rel=0.1)
    assert closes[:, 0].mean() == pytest.approx(4, abs=0.12)
    assert closes[:, 0].std() == pytest.approx(0.8, rel=0.1)
    volumes = np.log(quotes["volume"])
    assert volumes.std(axis=1).mean() == pytest.approx(0.5, rel=0.02)
    assert volumes.mean(axis=1).mean() == pytest.approx(13, abs=0.15)
    overnight = np.log(quotes["open"][:, 1:]) - closes[:, :-1]
    assert overnight.std() == pytest.approx(0.005, rel=0.05)


def test_dates_are_weekdays_as_the_source_writes_them(quotes):
    dates = quotes["date"][0].tolist()
    assert dates[:3] == ["5-Sep-96", "6-Sep-96", "9-Sep-96"]
    days = [datetime.strptime(date, "%d-%b-%y") for date in dates]
    assert days == sorted(set(days))
    assert {day.weekday() for day in days} == set(range(5))
    assert (quotes["date"] == quotes["date"][0]).all()


def test_publications_are_quotes_of_every_symbol(workload):
    table = publications(workload, 20_000)
    names, counts = np.unique(table["symbol"].to_numpy().astype(str), return_counts=True)
    assert len(names) == 500
    assert counts.max() < 80
    known = {tuple(row.values()) for row in workload.quotes.to_pylist()}
    assert all(tuple(row.values()) in known for row in table.slice(0, 500).to_pylist())


@pytest.mark.parametrize("symbols", [1, 40])
def test_the_number_of_symbols_is_an_option(symbols):
    few = stocks(symbols=symbols)
    assert len(set(few.quotes["symbol"].to_pylist())) == symbols
    check(few, count_conjunctions(few, 10_000, 2_000))


def test_no_symbols_are_refused():
    with pytest.raises(ConfigError, match="symbols must be 1 or more, not 0"):
        stocks(symbols=0)
